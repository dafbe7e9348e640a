// Schemas of a Template's sections and of their settings, except its operations and its output.
import { Type } from '../bundled/type-box.ts';
import { baseParameters, columnName } from './base-parameters.ts';

// Keys of mappings that come from data: headers, cells, units, names of groups.

/** Matches any text. A `Type.Record` with `Type.String()` as key type would refuse keys with a line break. */
export const anyKey = Type.String({ pattern: '^[\\s\\S]*$' });

// Schemas of single settings, for the sections of a Template and of the output formats.

/** A setting that may be absent or null. */
export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { default: null, description });

/** One character: not a line break, and not half of a surrogate pair. */
export const character = (description: string) =>
  Type.String({ pattern: '^[^\\r\\n]$', title: 'one character', description });

/** One line of text, because names and descriptions are used in responses and headers. */
const line = (description: string) =>
  Type.String({ pattern: '^[^\\u0000-\\u001F\\u007F]*$', title: 'one line of text', description });

// Schemas of a Template's sections, except its operations and its output (sections.ts). A property with a
// default is optional in a file.

const columnMatch = Type.Union(
  [
    Type.String({ minLength: 1 }),
    Type.Object({ pattern: Type.String({ minLength: 1, description: 'RE2 pattern for the header.' }) }),
    Type.Object({
      position: Type.Integer({ minimum: 1, maximum: 16_384, description: 'Position in the file, from 1.' }),
    }),
  ],
  { title: 'a header text, {pattern} or {position}: "Amount", {pattern: "^Amount"}, {position: 3}' },
);

const declaredColumn = Type.Object({
  name: columnName,
  match: Type.Array(columnMatch, { default: [], description: 'Other headers of the column.' }),
  required: Type.Boolean({
    default: true,
    description: '`false`: if the file lacks the column, it is a column of nulls.',
  }),
});

/** Maximum number of header lines that a Template may declare: enough for the forms of public offices. */
const HEADER_ROWS_MAX = 10;

/** Maximum length of the delimiter, in characters. */
const DELIMITER_CHARACTERS_MAX = 8;

const csvInput = Type.Object({
  delimiter: nullable(
    Type.String({
      pattern: `^[^\\r\\n]{1,${DELIMITER_CHARACTERS_MAX}}$`,
      title: `one to ${DELIMITER_CHARACTERS_MAX} characters`,
      description: 'The separator of fields.',
    }),
    'Separator of fields: one character, or up to 8, such as `"||"`; null = detected.',
  ),
  header_row: nullable(
    Type.Union([Type.Integer({ minimum: 0 }), Type.Literal('none')], { title: 'a whole number from 0, or none' }),
    'Record that contains the header, from 0; `none` = no header, columns are called column_1 and so on; null = detected.',
  ),
  header_rows: nullable(
    Type.Integer({ minimum: 1, maximum: HEADER_ROWS_MAX }),
    'Number of header lines, whose texts are joined for each column; `header_row` is the last of them; null = detected, or one if `header_row` is declared.',
  ),
  columns: nullable(
    Type.Integer({ minimum: 1, maximum: 16_384 }),
    'Number of columns of a file without a header (`header_row: none`), also in lists of JSON and in workbooks; null = the number of columns of the widest of the first records.',
  ),
  comment: nullable(
    Type.String({ pattern: '^[^\\s"]{1,8}$', title: 'up to 8 characters without spaces and quotes, such as "#"' }),
    'Lines that start with this text are ignored and counted, except inside quotes; they are not records. Null = none.',
  ),
  encoding: nullable(
    Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })], {
      title: 'a name such as windows-1252, a list of names, or auto',
    }),
    'WHATWG name such as windows-1252, ibm437 or ibm850; a list of names: the first in which the whole file is valid; `auto`: the most likely encoding; null = byte order mark, otherwise UTF-8.',
  ),
  quote: nullable(
    Type.String({ pattern: '^[^\\r\\n]?$', title: 'one character, or "" for none' }),
    'Character around fields, "" = none; null = detected.',
  ),
  escape: nullable(
    Type.Enum(['\\', ''], { title: '"\\" (a backslash), or "" for none' }),
    'Character that makes the next character part of the cell: `"\\"`, or `""` = none; null = detected.',
  ),
  ragged: nullable(
    Type.Enum(['pad', 'reject', 'fail']),
    'Rows with too few or too many fields: `pad` adds or drops cells, `reject` moves such rows to the rejected rows, `fail` refuses the file; also for lists of JSON and rows of workbooks. null = `pad`, but with `defaults.on_error: reject` rows that would lose cells are rejected.',
  ),
  stray_quotes: Type.Enum(['keep', 'fail'], {
    default: 'keep',
    description: 'Text after a closing quote: `keep` keeps it, `fail` refuses the file.',
  }),
  record_separator: nullable(
    Type.String({ pattern: '^[^\\r\\n]{1,8}$', title: 'up to 8 characters, such as "\\x1e"' }),
    'Characters that end a record, such as `"\\x1e"`; line breaks are then part of cells. Null = line breaks, or the control character 0x1E if the first record ends with it.',
  ),
  nul_bytes: Type.Enum(['fail', 'drop'], {
    default: 'fail',
    description: 'NUL bytes: `fail` refuses the file, `drop` removes and counts them.',
  }),
});

const jsonInput = Type.Object({
  records: nullable(
    Type.String({
      pattern: '^(?:/(?:[^~]|~[01])*)?$',
      title: 'a JSON pointer, such as /orders, or "" for the file itself',
    }),
    'JSON pointer to the list of records, such as `/orders`; `""` = the file itself; null = the list with columns of the Template, otherwise the only list of records.',
  ),
  flatten: nullable(
    Type.String({ minLength: 1, maxLength: 8 }),
    'Separator in the names of columns that are made of nested objects, at most 8 levels deep: `"."` gives `customer.name`; null = an object is one cell.',
  ),
  nan: Type.Enum(['fail', 'blank'], {
    default: 'fail',
    description:
      '`NaN`, `Infinity` and `-Infinity`, which are not JSON: `fail` refuses the file, `blank` reads them as null and counts them.',
  }),
});

const parquetInput = Type.Object({
  bytes: Type.Enum(['text', 'hex', 'base64'], {
    default: 'text',
    description:
      'Columns of bytes without a type: as `text` (bytes that are not UTF-8 refuse the file), as `hex` digits (`00ff`) or in `base64`.',
  }),
});

const sheetName = Type.Union([Type.String({ minLength: 1 }), Type.Integer({ minimum: 1 })], {
  title: 'a name, or a number from 1',
});

/** Maximum number of characters of a line that columns may refer to. */
export const FIXED_CHARACTERS_MAX = 65_536;

const fixedColumn = Type.Object({
  name: columnName,
  start: Type.Integer({
    minimum: 1,
    maximum: FIXED_CHARACTERS_MAX,
    description: 'Position of the first character in the line, from 1.',
  }),
  length: Type.Integer({ minimum: 1, maximum: FIXED_CHARACTERS_MAX, description: 'Characters.' }),
});

const fixedInput = Type.Object(
  {
    columns: Type.Array(fixedColumn, { minItems: 1, maxItems: 16_384, description: 'Columns with their positions.' }),
    record_length: nullable(
      Type.Integer({ minimum: 1, maximum: FIXED_CHARACTERS_MAX }),
      'Number of characters of a record, in a file without line ends; null = each line is a record.',
    ),
  },
  { title: 'columns by their places: {columns: [{name: id, start: 1, length: 8}]}' },
);

/** Maximum number of records above or below a table that are searched for values. */
export const META_RECORDS_MAX = 1000;

/** Maximum number of values of one section. Each is searched in every record. */
const META_VALUES_MAX = 100;

const metaValue = Type.Object(
  {
    record: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: META_RECORDS_MAX - 1,
        description:
          'Record, counted from 0 from the start of the file; in `footer` from its end, without blank records.',
      }),
    ),
    field: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 16_384,
        description: 'Field of the record, from 1; by default the whole record.',
      }),
    ),
    pattern: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'RE2 pattern that is searched; its first group is the value, or the whole match if it has no group.',
      }),
    ),
    required: Type.Boolean({ default: true, description: '`false`: the value is null if the file lacks it.' }),
  },
  { title: 'a place or a pattern: {record: 0, field: 13}, {pattern: "^Account: (.+)"}' },
);

const metaValues = (description: string) =>
  Type.Optional(Type.Record(anyKey, metaValue, { maxProperties: META_VALUES_MAX, description }));

export const inputSection = Type.Object({
  header_match: Type.Enum(['exact', 'normal', 'loose'], {
    default: 'normal',
    description:
      '`exact`: headers are identical; `normal`: they may also differ in case, outer and repeated spaces and invisible characters; `loose`: also in spaces, `_ - . / : # ( )` and accents.',
  }),
  duplicate_headers: Type.Enum(['suffix', 'first', 'last', 'fail'], {
    default: 'suffix',
    description:
      'Equal headers: `suffix` renames them to a, a_2, a_3; `first` and `last` keep one; `fail` refuses the file.',
  }),
  other_columns: Type.Enum(['keep', 'drop'], {
    default: 'keep',
    description: 'Columns of the file that the Template neither declares nor uses.',
  }),
  null_values: Type.Array(Type.String(), { default: [''], description: 'Texts that mean "missing".' }),
  format: Type.Enum(['auto', 'lines', 'fixed'], {
    default: 'auto',
    description:
      '`auto`: the detected format, or fixed columns if `fixed` is set; `lines`: a text file whose lines are cells of one column; `fixed`: requires `fixed`.',
  }),
  csv: Type.Optional(csvInput),
  fixed: nullable(fixedInput, 'Columns at fixed positions of each line; null = the file has no such columns.'),
  json: Type.Optional(jsonInput),
  parquet: Type.Optional(parquetInput),
  archive_file: nullable(
    Type.String({ minLength: 1, maxLength: 256 }),
    'The file to read in a ZIP archive of several files, such as `orders.csv` or `*.csv`: its name without folders, regardless of case; `*` is any text. Exactly one file must match; null = the only file.',
  ),
  archive_files: nullable(
    Type.String({ minLength: 1, maxLength: 256 }),
    'Like `archive_file`, but all files that match are read one after the other, in the order of their paths, as one table with the same columns; `run.file` is the name of the file of each row.',
  ),
  sheet: nullable(
    Type.Union([sheetName, Type.Array(sheetName, { minItems: 1, maxItems: 1000 })], {
      title: 'a name, a number from 1, a list of these, or "*"',
    }),
    'XLSX: name of the sheet, or number from 1; a list, or `*` for all visible sheets: several sheets with the same header are read one after the other; null = the first visible sheet with cells.',
  ),
  sheet_into: nullable(columnName, 'XLSX: a column for the name of the sheet, after the others.'),
  table: nullable(
    Type.String({ minLength: 1 }),
    'XLSX: name of an Excel table, a defined name, or a range of cells: `B5:H200`, `B5:H` without a last row, or `B5` with only a first cell; a sheet may precede it, as in `Orders!B5:H`; only these cells are read, and the first row of a range is the header.',
  ),
  merged: Type.Enum(['first', 'fill'], {
    default: 'first',
    description: 'XLSX: only the `first` cell of a merged range has its value, or all of its cells (`fill`).',
  }),
  hidden: Type.Enum(['keep', 'skip'], {
    default: 'keep',
    description: 'XLSX: hidden rows and columns are read like others (`keep`) or ignored (`skip`).',
  }),
  preamble: metaValues(
    'Values above the header, by their names in `run.meta.<name>`: CSV, fixed columns, XLSX; also in comments (`csv.comment`) at the start of the file. In CSV and fixed columns without a header, they are in the first records, which are also rows.',
  ),
  footer: metaValues(
    'Values in the last records, for CSV and fixed columns; a pattern uses the last record that matches. The Run waits for the end of the file. The records are also rows.',
  ),
  columns: Type.Array(Type.Union([columnName, declaredColumn]), {
    default: [],
    description: 'Columns with their names in the Template; a name alone is short for `{name}`.',
  }),
});

export const defaultsSection = Type.Object({
  on_error: Type.Unsafe<'fail' | 'drop_row' | 'reject' | 'blank' | 'keep' | 'flag'>({
    ...baseParameters.on_error,
    default: 'fail',
    description:
      'Rows with errors: `fail` ends the Run, `drop_row` drops the row, `reject` moves it to a second file, `blank` sets the cell to null, `keep` does not change it (but sets it to null if the operation changes the type in place), `flag` sets it to null and adds `column:CODE` to the flag column.',
  }),
  flag_column: Type.String({ minLength: 1, default: '_issues', description: 'Name of the flag column.' }),
  max_errors: nullable(Type.Integer({ minimum: 0 }), 'Maximum number of row errors; more end the Run.'),
  max_error_ratio: nullable(
    Type.Number({ minimum: 0, maximum: 1 }),
    'Maximum number of errors per row read; more end the Run.',
  ),
});

/** Types that columns of reference tables may have. */
export const TABLE_TYPES = ['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'datetime'] as const;

export const tablesSection = Type.Record(
  anyKey,
  Type.Object({
    ref: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Name of a table of the catalog.' }),
    columns: Type.Optional(
      Type.Record(anyKey, Type.Enum([...TABLE_TYPES]), {
        description:
          'Types of columns; the others are texts. The cells must have the plain form of the type (`12.50`, `true`, `2026-01-31`), or be empty.',
      }),
    ),
  }),
);

const testCells = Type.Array(Type.Record(anyKey, Type.Unknown()), {
  description: 'The rows of the output, as `{column: cell}`.',
});

export const testsSection = Type.Array(
  Type.Object({
    name: Type.Optional(Type.String({ description: 'Name of the test.' })),
    input: Type.Object(
      {
        text: Type.Optional(Type.String({ description: 'The file itself.' })),
        file: Type.Optional(Type.String({ description: 'A file next to the Template.' })),
        format: Type.Optional(Type.String({ description: "Extension of the file's name, such as csv." })),
        delimiter: Type.Optional(character('Like the parameter of a request.')),
        header_row: Type.Optional(Type.Integer({ minimum: 0, description: 'Like the parameter of a request.' })),
      },
      { oneOf: [{ required: ['text'] }, { required: ['file'] }] },
    ),
    tables: Type.Optional(Type.Record(anyKey, Type.String(), { description: 'Reference tables as CSV texts.' })),
    expect: Type.Object(
      {
        rows: Type.Optional(testCells),
        text: Type.Optional(Type.String({ description: 'The output itself.' })),
        file: Type.Optional(Type.String({ description: 'A file next to the Template.' })),
        rejects: Type.Optional(Type.String({ description: 'The CSV of rejected rows.' })),
        error: Type.Optional(Type.String({ description: 'Error code of the failed Run.' })),
        report: Type.Optional(Type.Record(anyKey, Type.Unknown(), { description: 'Fields of the report.' })),
        match: Type.Enum(['exact', 'subset', 'bytes'], {
          default: 'exact',
          description:
            '`subset`: the output contains these rows or lines in this order, possibly with others between them; `bytes`: line ends must match too.',
        }),
      },
      { minProperties: 1 },
    ),
  }),
  { default: [], description: 'Run by `template test`.' },
);

export const headSection = {
  format: Type.Literal(1, { default: 1, description: 'Version of the language.' }),
  name: nullable(line('Name.'), 'Name of the Template.'),
  description: nullable(line('Description.'), 'What the Template does, in one line.'),
};
