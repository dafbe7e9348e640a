// The shapes of a Template's sections beside its operations and its output (output-section.ts). A property with a default may be left out of a file.
import { Type } from '../bundled/type-box.ts';
import { baseParameters } from '../execution/parameters/base-parameters.ts';
import { columnName } from '../execution/parameters/column-set.ts';
import { character, line, nullable } from './setting-schemas.ts';

const columnMatch = Type.Union(
  [
    Type.String({ minLength: 1 }),
    Type.Object({ pattern: Type.String({ minLength: 1, description: 'RE2 pattern over the header.' }) }),
    Type.Object({ position: Type.Integer({ minimum: 1, maximum: 16_384, description: 'Place in the file, from 1.' }) }),
  ],
  { title: 'a header text, {pattern} or {position}: "Amount", {pattern: "^Amount"}, {position: 3}' },
);

const declaredColumn = Type.Object({
  name: columnName,
  match: Type.Array(columnMatch, { default: [], description: 'Other headers under which the column is found.' }),
  required: Type.Boolean({ default: true, description: '`false`: a file without it gets a column of nulls.' }),
});

/** Lines of a header that a Template may declare: as many as forms of offices have. */
const HEADER_ROWS_MAX = 10;

const csvInput = Type.Object({
  delimiter: nullable(character('The character between fields.'), 'Character between fields; null = detect.'),
  header_row: nullable(
    Type.Union([Type.Integer({ minimum: 0 }), Type.Literal('none')], { title: 'a whole number from 0, or none' }),
    'Record of the header, from 0; `none` = no header, columns are column_1...; null = detect.',
  ),
  header_rows: nullable(
    Type.Integer({ minimum: 1, maximum: HEADER_ROWS_MAX }),
    'Lines of the header, whose texts are joined for each column; `header_row` is the last of them; null = detect, one where `header_row` is given.',
  ),
  comment: nullable(
    Type.String({ pattern: '^[^\\s"]{1,8}$', title: 'up to 8 characters without spaces and quotes, such as "#"' }),
    'Lines that begin with it are left out and counted, but for those inside quotes; they are no records. Null = none.',
  ),
  encoding: nullable(
    Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })], {
      title: 'a name such as windows-1252, a list of names, or auto',
    }),
    'WHATWG name such as windows-1252, ibm437 or ibm850; a list of them: the first in which the whole file is valid; ' +
      '`auto`: the most likely one; null = byte order mark, else UTF-8.',
  ),
  quote: nullable(
    Type.String({ pattern: '^[^\\r\\n]?$', title: 'one character, or "" for none' }),
    'Character around fields, "" = none; null = detect.',
  ),
  ragged: Type.Enum(['pad', 'fail'], { default: 'pad', description: 'Rows with too few or too many fields.' }),
  stray_quotes: Type.Enum(['keep', 'fail'], { default: 'keep', description: 'Text behind a closing quote.' }),
});

const jsonInput = Type.Object({
  records: nullable(
    Type.String({
      pattern: '^(?:/(?:[^~]|~[01])*)?$',
      title: 'a JSON pointer, such as /orders, or "" for the file itself',
    }),
    'JSON pointer to the list of records, such as `/orders`; `""` = the file itself; null = the only list of objects in it.',
  ),
  flatten: nullable(
    Type.String({ minLength: 1, maxLength: 8 }),
    'Makes columns of nested objects, at most 8 deep: `"."` gives `customer.name`; null = an object is one cell.',
  ),
});

const sheetName = Type.Union([Type.String({ minLength: 1 }), Type.Integer({ minimum: 1 })], {
  title: 'a name, or a number from 1',
});

/** Characters of a line that columns may name. */
export const FIXED_CHARACTERS_MAX = 65_536;

const fixedColumn = Type.Object({
  name: columnName,
  start: Type.Integer({
    minimum: 1,
    maximum: FIXED_CHARACTERS_MAX,
    description: 'First character of the line, from 1.',
  }),
  length: Type.Integer({ minimum: 1, maximum: FIXED_CHARACTERS_MAX, description: 'Characters.' }),
});

const fixedInput = Type.Object(
  { columns: Type.Array(fixedColumn, { minItems: 1, maxItems: 16_384, description: 'Columns by their places.' }) },
  { title: 'columns by their places: {columns: [{name: id, start: 1, length: 8}]}' },
);

/** Records above or below a table that values are looked for in. */
export const META_RECORDS_MAX = 1000;

/** Values of one section: each is searched in every record. */
const META_VALUES_MAX = 100;

const metaValue = Type.Object(
  {
    record: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: META_RECORDS_MAX - 1,
        description:
          'Record from 0: of the file from its beginning, in `footer` from its end, blank ones left out there.',
      }),
    ),
    field: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 16_384,
        description: 'Field of the record, from 1; the whole record unless set.',
      }),
    ),
    pattern: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'RE2 pattern, found anywhere: its first group is the value, without a group all that it matches.',
      }),
    ),
    required: Type.Boolean({ default: true, description: '`false`: a file without the value has null there.' }),
  },
  { title: 'a place or a pattern: {record: 0, field: 13}, {pattern: "^Account: (.+)"}' },
);

const metaValues = (description: string) =>
  Type.Optional(Type.Record(Type.String(), metaValue, { maxProperties: META_VALUES_MAX, description }));

export const inputSection = Type.Object({
  header_match: Type.Enum(['exact', 'normal', 'loose'], {
    default: 'normal',
    description:
      '`exact`: as written; `normal`: also without regard to case, outer and repeated spaces and invisible characters; ' +
      '`loose`: also without spaces, `_ - . / : # ( )` and accents.',
  }),
  duplicate_headers: Type.Enum(['suffix', 'first', 'last', 'fail'], {
    default: 'suffix',
    description:
      'Equal headers: `suffix` calls them a, a_2, a_3; `first` and `last` keep one; `fail` refuses the file.',
  }),
  other_columns: Type.Enum(['keep', 'drop'], {
    default: 'keep',
    description: 'Columns of the file that the Template neither declares nor reads.',
  }),
  null_values: Type.Array(Type.String(), { default: [''], description: 'Texts that mean "missing".' }),
  format: Type.Enum(['auto', 'lines', 'fixed'], {
    default: 'auto',
    description:
      '`auto`: what the file shows to be, with `fixed` a file of fixed columns; `lines`: a text each of whose lines is one cell of one column; ' +
      '`fixed`: says that `fixed` has the columns.',
  }),
  csv: Type.Optional(csvInput),
  fixed: nullable(fixedInput, 'The file has its columns at the same places of each line; null = it has not.'),
  json: Type.Optional(jsonInput),
  sheet: nullable(
    Type.Union([sheetName, Type.Array(sheetName, { minItems: 1, maxItems: 1000 })], {
      title: 'a name, a number from 1, a list of these, or "*"',
    }),
    'XLSX: name or number from 1 of the sheet; a list, or `*` for all visible ones: several with the same header are read one after ' +
      'the other; null = the first visible one with cells.',
  ),
  sheet_into: nullable(columnName, 'XLSX: a column for the name of the sheet, behind the others.'),
  table: nullable(Type.String({ minLength: 1 }), 'XLSX: name of an Excel table, whose cells alone are read.'),
  merged: Type.Enum(['first', 'fill'], {
    default: 'first',
    description: 'XLSX: merged cells have their value in the `first` one, or in all of them (`fill`).',
  }),
  hidden: Type.Enum(['keep', 'skip'], {
    default: 'keep',
    description: 'XLSX: hidden rows and columns are read like others, or left out (`skip`).',
  }),
  preamble: metaValues(
    'Values that stand above the header, by the names that `run.meta.<name>` has for them: CSV, fixed columns, XLSX; also in comments ' +
      '(`csv.comment`) at the head of the file. Of CSV and fixed columns without a header they stand in the first records, which stay rows.',
  ),
  footer: metaValues(
    'Values in the last records, for CSV and fixed columns: by pattern the last record that it is found in. The Run waits for the ' +
      'end of the file. The records stay rows.',
  ),
  columns: Type.Array(declaredColumn, { default: [], description: 'Columns by the names that the Template uses.' }),
});

export const defaultsSection = Type.Object({
  on_error: Type.Unsafe<'fail' | 'drop_row' | 'reject' | 'blank' | 'keep' | 'flag'>({
    ...baseParameters.on_error,
    default: 'fail',
    description:
      'Rows in trouble: `fail` ends the Run, `drop_row` drops the row, `reject` puts it into a second file, `blank` empties the cell, `keep` leaves it (in an operation that ' +
      'changes the type in place: empty), `flag` ' +
      'empties it and notes `column:CODE` in the flag column.',
  }),
  flag_column: Type.String({ minLength: 1, default: '_issues', description: 'Name of the flag column.' }),
  max_errors: nullable(Type.Integer({ minimum: 0 }), 'More errors in rows than this end the Run.'),
  max_error_ratio: nullable(Type.Number({ minimum: 0, maximum: 1 }), 'More errors per row read than this end the Run.'),
});

export const tablesSection = Type.Record(
  Type.String(),
  Type.Object({
    ref: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Name of a table of the catalog.' }),
  }),
);

const testCells = Type.Array(Type.Record(Type.String(), Type.Unknown()), {
  description: 'The rows of the output, as `{column: cell}`.',
});

export const testsSection = Type.Array(
  Type.Object({
    name: Type.Optional(Type.String({ description: 'Name of the test.' })),
    input: Type.Object(
      {
        text: Type.Optional(Type.String({ description: 'The file itself.' })),
        file: Type.Optional(Type.String({ description: 'A file beside the Template.' })),
        format: Type.Optional(Type.String({ description: "The file's ending, such as csv." })),
        delimiter: Type.Optional(character('As the request parameter.')),
        header_row: Type.Optional(Type.Integer({ minimum: 0, description: 'As the request parameter.' })),
      },
      { oneOf: [{ required: ['text'] }, { required: ['file'] }] },
    ),
    tables: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Texts of reference tables as CSV.' }),
    ),
    expect: Type.Object(
      {
        rows: Type.Optional(testCells),
        text: Type.Optional(Type.String({ description: 'The output itself.' })),
        file: Type.Optional(Type.String({ description: 'A file beside the Template.' })),
        rejects: Type.Optional(Type.String({ description: 'The rejected rows, as their CSV has them.' })),
        error: Type.Optional(Type.String({ description: 'The code with which the Run fails.' })),
        report: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Fields of the report.' })),
        match: Type.Enum(['exact', 'subset', 'bytes'], {
          default: 'exact',
          description: '`subset`: these rows or lines in this order, among others; `bytes`: line ends count too.',
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
