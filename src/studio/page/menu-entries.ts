// The entries of the menus on columns and cells. Each opens the form of an operation with values for this column or cell.
import type { Profile } from '../../../workers/watch/column-profile.ts';
import type { ValueRange, WatchedColumn } from '../../../workers/watch/watch-messages.ts';

/** An operation in its short form, as in a Template. */
export type Step = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface MenuEntry {
  readonly label: string;
  readonly step: Step;
}

export interface MenuGroup {
  readonly title: string;
  readonly entries: readonly MenuEntry[];
}

/** Values of a column that are offered for a mapping: as many as a person maps by hand. */
const MAPPED_VALUES_MAX = 20;

/** Texts that exports write for a missing value. */
const PLACEHOLDERS = /^(?:-+|–|—|\.|\?|n\/?a|#n\/?a|none|null|nil|nan|unknown|k\.? ?a\.?|keine angabe|tbd)$/i;

/** @param profile null: not known yet */
export function columnMenu({ name, type }: WatchedColumn, profile: Profile | null): readonly MenuGroup[] {
  return [...valueGroups(name, type, profile), rowGroup(name), columnGroup(name, type)];
}

function valueGroups(name: string, type: string, profile: Profile | null): readonly MenuGroup[] {
  if (type === 'text') return [{ title: 'Text', entries: textEntries(name, profile) }];
  if (['integer', 'decimal', 'number'].includes(type)) {
    return [
      {
        title: 'Number',
        entries: [
          { label: 'Round…', step: { round: { columns: name, scale: 2 } } },
          { label: 'Write as text…', step: { format_number: { columns: name } } },
        ],
      },
    ];
  }
  if (type === 'date' || type === 'datetime') {
    return [
      {
        title: 'Date',
        entries: [
          { label: 'Write as text…', step: { format_date: { columns: name, format: 'yyyy-MM-dd' } } },
          { label: 'Only month, quarter or year…', step: { generalize: { columns: name, to: 'month' } } },
        ],
      },
    ];
  }
  return [];
}

function textEntries(name: string, profile: Profile | null): readonly MenuEntry[] {
  const frequent = (profile?.frequent ?? []).map(({ text }) => text);
  const placeholders = frequent.filter((text) => PLACEHOLDERS.test(text.trim()));
  return [
    ...jsonEntries(name, frequent),
    { label: 'Read as number…', step: { parse_number: { columns: name, ...numberForm(frequent) } } },
    { label: 'Read as date…', step: { parse_date: { columns: name, formats: dateFormats(frequent) } } },
    { label: 'Tidy blanks and case…', step: { text: { columns: name, steps: ['trim', 'collapse_spaces'] } } },
    { label: 'Split…', step: { split_column: splitValues(name, frequent) } },
    { label: 'Extract a part…', step: { extract: { column: name, pattern: '([0-9]+)', into: { 1: `${name}_part` } } } },
    { label: 'Replace…', step: { replace: { columns: name } } },
    { label: 'Map values…', step: { map_values: { columns: name, map: sameValues(frequent) } } },
    {
      label: placeholders.length === 0 ? 'Blank some values…' : `Blank ${placeholders.slice(0, 3).join(', ')}…`,
      step: { blank_if: { columns: name, values: placeholders.length === 0 ? ['-'] : placeholders } },
    },
    { label: 'Mask…', step: { mask: { columns: name, keep_last: 4 } } },
  ];
}

/** Steps for cells with objects or lists, which JSON files contain. */
function jsonEntries(name: string, texts: readonly string[]): readonly MenuEntry[] {
  const values = texts.flatMap((text) => (/^\s*[[{]/.test(text) ? [parsedJson(text)] : []));
  const paths = [...new Set(values.flatMap((value) => pathsOf(value, '', 0)))].slice(0, MAPPED_VALUES_MAX);
  const fields = Object.fromEntries(paths.map((path) => [path, `${name}_${path.replaceAll('.', '_')}`]));
  return [
    ...(paths.length === 0
      ? []
      : [{ label: 'Columns from the parts…', step: { flatten_json: { column: name, fields } } }]),
    ...(values.some(Array.isArray) ? [{ label: 'A row for each item…', step: { explode: { column: name } } }] : []),
  ];
}

/** Maximum depth of nested objects whose values are offered as columns. */
const JSON_DEPTH_MAX = 3;

/** Paths of the values of an object, as `flatten_json` writes them. Keys that a path would have to quote are left out. */
function pathsOf(value: unknown, above: string, depth: number): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return above === '' ? [] : [above];
  return Object.entries(value).flatMap(([key, part]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return [];
    const path = above === '' ? key : `${above}.${key}`;
    return depth + 1 === JSON_DEPTH_MAX ? [path] : pathsOf(part, path, depth + 1);
  });
}

/** Returns null if the text is not JSON, perhaps because it is cut. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function rowGroup(name: string): MenuGroup {
  const reference = columnReference(name);
  return {
    title: 'Rows',
    entries: [
      { label: 'Keep some rows…', step: { filter: { where: `${reference} != null` } } },
      { label: 'Sort…', step: { sort: { by: name } } },
      { label: 'Drop duplicates…', step: { dedupe: { by: name } } },
      { label: 'Fill down…', step: { fill_down: { columns: name } } },
      { label: 'Fill blank cells…', step: { fill_empty: { columns: name } } },
      { label: 'Group and count…', step: { aggregate: { group_by: name, metrics: [{ fn: 'count', as: 'rows' }] } } },
      { label: 'Turn columns into rows…', step: { unpivot: { columns: name } } },
      { label: 'Turn values into columns…', step: { pivot: { names_from: name } } },
      { label: 'Check…', step: { validate: { rules: [{ column: name, check: 'required' }] } } },
    ],
  };
}

function columnGroup(name: string, type: string): MenuGroup {
  return {
    title: 'Column',
    entries: [
      { label: 'Rename…', step: { rename: { columns: { [name]: name } } } },
      { label: 'Drop…', step: { drop: { columns: name } } },
      { label: 'Move to the front…', step: { reorder: { first: name } } },
      { label: 'Copy…', step: { copy: { from: name, to: `${name}_copy` } } },
      { label: 'Change type…', step: { cast: { columns: { [name]: type === 'text' ? 'integer' : 'text' } } } },
      { label: 'Compute a new column…', step: { set: { columns: { [`${name}_new`]: columnReference(name) } } } },
      { label: 'Merge with others…', step: { merge_columns: { columns: [name], into: name } } },
    ],
  };
}

/** Steps for several columns at once. */
export function columnsMenu(columns: readonly WatchedColumn[]): readonly MenuGroup[] {
  const names = columns.map(({ name }) => name);
  const tidy = columns.every(({ type }) => type === 'text')
    ? [{ label: 'Tidy blanks and case…', step: { text: { columns: names, steps: ['trim', 'collapse_spaces'] } } }]
    : [];
  return [
    {
      title: 'Columns',
      entries: [
        { label: 'Merge into one…', step: { merge_columns: { columns: names, into: names.join('_') } } },
        ...groupEntries(names),
        { label: 'Turn columns into rows…', step: { unpivot: { columns: names } } },
        { label: 'Keep only these…', step: { select: { columns: names } } },
        { label: 'Drop…', step: { drop: { columns: names } } },
        { label: 'Move to the front…', step: { reorder: { first: names } } },
        ...tidy,
        { label: 'Fill down…', step: { fill_down: { columns: names } } },
      ],
    },
    {
      title: 'Rows',
      entries: [
        { label: 'Sort…', step: { sort: { by: names } } },
        { label: 'Drop duplicates…', step: { dedupe: { by: names } } },
        {
          label: 'Group and count…',
          step: { aggregate: { group_by: names, metrics: [{ fn: 'count', as: 'rows' }] } },
        },
      ],
    },
  ];
}

/** For columns such as jan_net, jan_tax, feb_net, feb_tax: one row for each month, with a column for net and one for tax. */
function groupEntries(names: readonly string[]): readonly MenuEntry[] {
  const parts = names.map((name) => /^(.+)[ _.-]([^ _.-]+)$/.exec(name));
  const firsts = new Set(parts.map((part) => part?.[1]));
  const lasts = new Set(parts.map((part) => part?.[2]));
  const isWhole = !parts.includes(null) && firsts.size * lasts.size === names.length;
  if (!isWhole || firsts.size < 2 || lasts.size < 2) return [];
  const pattern = `(.+)[ _.-](${[...lasts].map((last) => last!.replaceAll(/[\\^$*+?()[\]{}|]/g, '\\$&')).join('|')})`;
  const step = { unpivot: { columns: names, pattern, names_to: ['name', '.value'] } };
  return [{ label: 'Turn groups of columns into rows…', step }];
}

/** Maximum number of blank cells in the condition for similar rows. */
const SIMILARITY_CELLS_MAX = 3;

/** If more of a column is blank than this share, a blank cell in it is not unusual. */
const USUAL_BLANK_SHARE = 0.5;

/**
 * @param profiles of the columns; null: not known yet
 * @param above number of rows above the row; null: unknown
 */
export function rowMenu(
  columns: readonly WatchedColumn[],
  cells: readonly (string | null)[],
  profiles: readonly (Profile | null)[],
  above: number | null,
): readonly MenuGroup[] {
  const where = rowCondition(columns, cells, profiles);
  const start: MenuEntry[] =
    above === null || above === 0 ? [] : [{ label: 'Start the table here…', step: { slice: { skip: above } } }];
  const like: MenuEntry[] =
    where === null
      ? []
      : [
          { label: 'Stop the table at rows like this…', step: { stop_when: { where } } },
          { label: 'Drop rows like this…', step: { filter: { where, mode: 'drop' } } },
        ];
  const entries = [...start, ...like];
  return entries.length === 0 ? [] : [{ title: 'This row', entries }];
}

/**
 * Condition for rows that are similar to a row, such as headings and totals: blank in the same columns, if these columns
 * are rarely blank; otherwise, equal in the first cell. Null if no cell of the row can be written in an expression.
 */
function rowCondition(
  columns: readonly WatchedColumn[],
  cells: readonly (string | null)[],
  profiles: readonly (Profile | null)[],
): string | null {
  const isBlank = columns.map((_, index) => (cells[index] ?? '').trim() === '');
  const unusual = columns.filter((_, index) => {
    const profile = profiles[index];
    return isBlank[index] && profile != null && profile.blank < profile.rows * USUAL_BLANK_SHARE;
  });
  if (unusual.length > 0)
    return unusual
      .slice(0, SIMILARITY_CELLS_MAX)
      .map(({ name, type }) => blankCondition(name, type))
      .join(' && ');
  const first = columns.findIndex(({ type }, index) => !isBlank[index] && valueExpression('1', type) !== null);
  if (first < 0) return null;
  const { name, type } = columns[first]!;
  return `${columnReference(name)} == ${valueExpression(cells[first] ?? null, type)}`;
}

/** Only a text can be blank without being null: it consists of spaces. */
function blankCondition(name: string, type: string): string {
  const reference = columnReference(name);
  return type === 'text' ? `is_blank(${reference})` : `${reference} == null`;
}

/** @param text the cell; null: it is blank */
export function cellMenu({ name, type }: WatchedColumn, text: string | null): readonly MenuGroup[] {
  const value = valueExpression(text, type);
  const where = value === null ? null : `${columnReference(name)} == ${value}`;
  const rows: MenuEntry[] =
    where === null
      ? []
      : [
          { label: 'Keep rows with this value…', step: { filter: { where } } },
          { label: 'Drop rows with this value…', step: { filter: { where, mode: 'drop' } } },
          { label: 'End the table here…', step: { stop_when: { where } } },
        ];
  const cells: MenuEntry[] =
    text === null
      ? [
          { label: 'Fill blank cells…', step: { fill_empty: { columns: name } } },
          { label: 'Fill down…', step: { fill_down: { columns: name } } },
        ]
      : type !== 'text'
        ? []
        : [
            { label: 'Replace this value…', step: { map_values: { columns: name, map: { [text]: text } } } },
            { label: 'Replace a part…', step: { replace: { columns: name, find: text } } },
            { label: 'Blank this value…', step: { blank_if: { columns: name, values: [text] } } },
            { label: 'Split like this…', step: { split_column: splitValues(name, [text]) } },
          ];
  return [
    { title: 'Rows', entries: rows },
    { title: 'Cells', entries: cells },
  ].filter(({ entries }) => entries.length > 0);
}

/** A column in an expression. */
export function columnReference(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `row[${JSON.stringify(name)}]`;
}

/** Words that an expression does not read as a column name. */
const RESERVED = new Set(
  'value row run true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** A cell as a constant of an expression; null if this type has no constants. */
export function valueExpression(text: string | null, type: string): string | null {
  if (text === null) return 'null';
  switch (type) {
    case 'text':
      return JSON.stringify(text);
    case 'integer':
    case 'boolean':
      return text;
    case 'decimal':
      return `${text}d`;
    case 'number':
      return /[.e]/i.test(text) ? text : `${text}.0`;
    case 'date':
      return `date(${JSON.stringify(text)})`;
    default:
      return null;
  }
}

/** Condition for the rows with a value or a range of a column; null if it cannot be written as an expression. */
export function facetCondition({
  column,
  type,
  text,
  range,
}: {
  readonly column: string;
  readonly type: string;
  readonly text: string | null;
  readonly range: ValueRange | null;
}): string | null {
  if (range === null && text === null) return blankCondition(column, type);
  const limits = range === null ? [['==', text] as const] : rangeLimits(range);
  const parts = limits.map(([sign, limit]) => {
    const value = valueExpression(limit, type);
    return value === null ? null : `${columnReference(column)} ${sign} ${value}`;
  });
  return parts.includes(null) ? null : parts.join(' && ');
}

function rangeLimits({ from, to }: ValueRange): readonly (readonly [sign: string, limit: string])[] {
  return [...(from === null ? [] : [['>=', from] as const]), ...(to === null ? [] : [['<', to] as const])];
}

/** How numbers such as `1.234,50` or `(12,50 €)` are written: parameters of `parse_number`. Empty if the texts do not show it. */
export function numberForm(texts: readonly string[]): Readonly<Record<string, unknown>> {
  const trimmed = texts.map((text) => text.trim()).filter((text) => /\d/.test(text));
  const isPercent = trimmed.some((text) => /\d\s?%/.test(text));
  const strip = [...new Set(trimmed.flatMap((text) => CURRENCIES.exec(text)?.[0] ?? []))].slice(0, MAPPED_VALUES_MAX);
  const negative = [
    ...(trimmed.some((text) => /^\(.*\)$/.test(text)) ? ['(x)'] : []),
    ...(trimmed.some((text) => /\d\s?-$/.test(text)) ? ['x-'] : []),
  ];
  return {
    ...numberMarks(trimmed),
    ...(negative.length === 0 ? {} : { negative: ['-x', ...negative] }),
    ...(strip.length === 0 ? {} : { strip }),
    ...(isPercent ? { percent: true } : {}),
  };
}

/** A currency before or after a number. */
const CURRENCIES = /(?<=^[-+(]?\s?)(?:[$€£¥]|[A-Z]{3})(?=\s?[-+]?\d)|(?<=\d\s?)(?:[$€£¥]|[A-Z]{3}|kr|zł|Kč)(?=[-)]?$)/;

/** The decimal and grouping marks of numbers such as `1.234,50`; empty if the texts do not show them. */
function numberMarks(texts: readonly string[]): { readonly decimal?: string; readonly grouping?: string } {
  const all = texts.map((text) =>
    text
      .replaceAll(/[^\d.,'’\s]/g, '')
      .trim()
      .replaceAll(/\s/g, ' ')
      .replaceAll('’', "'"),
  );
  const grouped = /\d([.,' ])\d{3}(?!\d)(?:\1\d{3}(?!\d))*([.,])\d/;
  const both = all.map((text) => grouped.exec(text)).find((found) => found !== null && found[1] !== found[2]);
  if (both != null) return { decimal: both[2]!, grouping: both[1]! };
  const separator = /\d([' ])\d{3}(?!\d)/.exec(all.find((text) => /\d[' ]\d{3}(?!\d)/.test(text)) ?? '')?.[1];
  const decimal = all.some((text) => /^(?:\d|[' ])*,(?:\d{1,2}|\d{4,})$/.test(text)) ? ',' : '.';
  if (separator !== undefined) return { decimal, grouping: separator };
  return decimal === ',' ? { decimal } : {};
}

/** A first guess of the format of dates, which the form shows for correction: the format that most texts have. */
export function dateFormats(texts: readonly string[]): readonly string[] {
  const trimmed = texts.map((text) => text.trim());
  let best = { format: 'yyyy-MM-dd', count: 0 };
  for (const format of DATE_FORMATS) {
    const pattern = new RegExp(`^${format.replaceAll(DATE_PARTS, (part) => DATE_PATTERNS[part] ?? part)}$`, 'u');
    const count = trimmed.filter((text) => pattern.test(text)).length;
    if (count > best.count) best = { format, count };
  }
  return [best.format];
}

const DATE_PARTS = /yyyy|yy|MMMM|MMM|MM|M|dd|d|HH|mm|ss|'T'|[.,/-]/g;

const DATE_PATTERNS: Readonly<Record<string, string>> = {
  yyyy: '(?:1[89]|2[01])\\d\\d',
  yy: '\\d\\d',
  MMMM: '\\p{L}{3,}',
  MMM: '\\p{L}{3}',
  MM: '(?:0[1-9]|1[0-2])',
  M: '(?:0?[1-9]|1[0-2])',
  dd: '(?:0[1-9]|[12]\\d|3[01])',
  d: '(?:0?[1-9]|[12]\\d|3[01])',
  HH: '(?:[01]\\d|2[0-3])',
  mm: '[0-5]\\d',
  ss: '[0-5]\\d',
  "'T'": 'T',
  '.': '\\.',
};

/** If several formats match the same number of texts, the first one in this list is proposed. */
const DATE_FORMATS: readonly string[] = ['', ' HH:mm', ' HH:mm:ss', "'T'HH:mm", "'T'HH:mm:ss"].flatMap((time) =>
  [
    ...['-', '/', '.'].map((sign) => ['yyyy', 'MM', 'dd'].join(sign)),
    ...['.', '/', '-'].flatMap((sign) =>
      ['dd MM yyyy', 'MM dd yyyy', 'dd MM yy', 'MM dd yy', 'd M yyyy', 'M d yyyy', 'd M yy', 'M d yy'].map((parts) =>
        parts.replaceAll(' ', sign),
      ),
    ),
    ...[
      'd MMM yyyy',
      'd-MMM-yyyy',
      'd-MMM-yy',
      'd. MMMM yyyy',
      'd MMMM yyyy',
      'MMM d, yyyy',
      'MMMM d, yyyy',
      'yyyyMMdd',
    ],
  ].map((date) => date + time),
);

/** Splits at the separator that most texts have. */
function splitValues(name: string, texts: readonly string[]): Readonly<Record<string, unknown>> {
  const separators = [';', '|', ',', '/', ' - ', '-', ':', ' '];
  const counts = separators.map((separator) => texts.filter((text) => text.trim().includes(separator)).length);
  const most = Math.max(...counts);
  const separator = most === 0 ? ',' : separators[counts.indexOf(most)]!;
  const parts = Math.max(2, ...texts.map((text) => text.trim().split(separator).length));
  const into = Array.from({ length: Math.min(parts, MAPPED_VALUES_MAX) }, (_, index) => `${name}_${index + 1}`);
  return { column: name, by: { separator }, into };
}

function sameValues(texts: readonly string[]): Readonly<Record<string, string>> {
  const shown = texts.length === 0 ? [''] : texts.slice(0, MAPPED_VALUES_MAX);
  return Object.fromEntries(shown.map((text) => [text, text]));
}
