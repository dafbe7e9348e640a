// What the reference says in sentences: rules that no single parameter carries.

/** Between the sections and the operations. */
export const RULES: readonly string[] = [
  '## How columns are found',
  '',
  'Each column of `input.columns` is looked for by its name and by `match`, first as written, then as `header_match` ' +
    'allows, level by level; a header that one column has taken is out of the search of the others. `{pattern}` sees the ' +
    'header as written, then cleaned of invisible characters and repeated spaces; `{position}` counts from 1 and comes ' +
    'last. Two headers that fit on one level are an error (422 TEMPLATE_COLUMNS_MISSING, "ambiguous"), never a guess. ' +
    'A name that an operation reads and no earlier operation made is looked for in the same way, without being declared.',
  '',
  '- The columns keep the order of the file. Blank headers are called column_<n>; equal ones a, a_2, a_3.',
  '- A column with `required: false` that the file lacks is a column of nulls behind those of the file. It does not ' +
    'exist at all when every operation that names it says `if_missing: skip`.',
  '- `if_missing: null` makes a column of nulls of any name that the file lacks; `skip` leaves it out of this operation.',
  '- `other_columns: drop` keeps the columns that the Template declares or names.',
  '- Behind `select` and other operations that say which columns there are, an unknown name is a mistake of the Template.',
  '- A column of the file that has the name of a column that the Template makes is an error, not an overwrite.',
  '- The flag column stands where some operation has `on_error: flag`. It is the last one at every step; `select` keeps ' +
    'it, and only a list in `output.columns` that does not name it leaves it out.',
  '',
  '## Minus zero',
  '',
  'Decimals and integers have none: `-0,00` is 0.00. A double has one, which equals 0, and every output, `cast` to text ' +
    'and `to_json` write it as `0`, so that no amount changes its looks for a sign without meaning; only `string(x)` of ' +
    'an expression gives `-0`, as CEL has it.',
  '',
  '## Fragments',
  '',
  '`fragments: {tidy: [...]}` names a list of operations; `{op: use, fragment: tidy, with: {name: value}}` puts them in ' +
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders of fragments look like this
    'its place. In a fragment `${name}` stands for a value of `with`: a text that is nothing else becomes the value ' +
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    'itself (a list, a number), inside a longer text its text is put in. Every `${name}` needs its value. Fragments may ' +
    'use fragments, but not themselves; all together a Template has at most 1,000 operations.',
  '',
  '## Limits of a Template',
  '',
  'At most 1,048,576 characters, 200,000 values, 64 levels; in YAML no tags, one document, 100 aliases. A whole number ' +
    'beyond 15 digits is written in quotes.',
  '',
];
