// What the reference says of expressions, their functions, and the patterns of dates and texts.
import { FUNCTIONS_BY_THEME } from '../expression/functions/index.ts';
import { DATE_NAMES } from '../values/month-names.ts';
import { cell, code } from './markdown.ts';

/** Stands before the operations. */
export const EXPRESSIONS: readonly string[] = [
  '## Expressions',
  '',
  '`where`, `set`, `expr` and the like take expressions in CEL (Common Expression Language): `amount > 100 && status != "paid"`.',
  '',
  '- A column is written by its name; `` `Invoice No` `` or `row["Invoice No"]` when the name is no word of letters, digits and ' +
    '`_`. `value` is the cell that `set` fills or `validate` judges, `run.row` the row number in the file, `run.started_at` the start, `run.meta.<name>` a value above or below the table.',
  '- Texts stand in quotes: `"paid"` or `\'paid\'`. In YAML put the whole expression into the other quotes: `where: \'status == "paid"\'`.',
  '- Columns of a file are text. `amount > 100` on a text is a mistake that the check tells: parse the column first, or write ' +
    '`decimal(amount) > 100`.',
  '- Numbers: `5` is an integer, `5.0` a double, `5.0d` an exact decimal. Beside a decimal, integers and literals are taken as ' +
    'decimals. Integer division cuts off (`7 / 2` is 3); a quotient of decimals is rounded half even to 10 digits behind the point.',
  '- Operators: `+ - * / %`, `== != < <= > >=`, `&& || !`, `a ? b : c`, `x in ["a", "b"]`; `+` also joins texts (`"no. " + string(n)`).',
  '- null: arithmetic, functions and `< > <= >=` with null give null; `==` and `!=` compare it; `&&` and `||` know unknown. A ' +
    'condition that is null is not true. `a == null` asks for it.',
  '- An error in a row (`int("x")`, division by zero) is a row error: `on_error`, or `if_error(...)`.',
  '- A text has at most 4,096 bytes, 1,000 parts, 64 levels; one evaluation has bounded steps.',
  '',
  'Macros: `has(row.a)` asks whether there is such a column; `list.all(x, condition)`, `exists`, `exists_one`, `filter` and `map` go ' +
    'through a list; `cel.bind(x, value, expression)` names a value.',
  '',
  ...[...FUNCTIONS_BY_THEME].flatMap(([theme, functions]) => [
    `${theme}:`,
    '',
    '| Function | Meaning | Example |',
    '|---|---|---|',
    ...functions.map(({ documentation: { form, summary, example, result } }) => {
      return `| ${code(form)} | ${cell(summary)} | ${code(example)} gives ${code(result)} |`;
    }),
    '',
  ]),
  '## Patterns',
  '',
  'Dates: `yyyy` year, `yy` two digits of it, `MM` and `dd` two digits, `M` and `d` one or two, `MMM` and `MMMM` the name of the ' +
    'month, short and in full, `E` and `EEEE` the day of the week, `HH` hour 00 to 23, `hh` hour with `a` (AM, PM), `mm` minute, ' +
    "`ss` second, `SSS` fraction, `X` offset such as +0200 (three of them: +02:00) or Z; text in `'...'`, other signs stand for themselves. Case " +
    'counts: `MM` is the month, `mm` the minute. Languages of names: ' +
    `${[...DATE_NAMES.keys()].map((locale) => `\`${locale}\``).join(', ')}. They are read in any case, with accents or without; ` +
    'short ones with a dot or without, also in other usual forms (`Sept`, `Mrz`).',
  '',
  'Texts (`pattern`, `mode: regex`, `matches`): RE2 syntax, in linear time. It has no look-ahead, look-behind or back reference. ' +
    "In YAML write patterns in single quotes: `'\\d+'`.",
  '',
];
