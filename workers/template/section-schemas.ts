// The shapes of a Template's sections beside its operations. A property with a default may be left out of a file.
import { Type } from '../bundled/type-box.ts';
import { baseParameters } from '../operations/base-parameters.ts';
import { columnName, columnSet } from '../operations/column-set.ts';

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { default: null, description });

/** One character: no line break, no half of a surrogate pair. */
const character = (description: string) => Type.String({ pattern: '^[^\\r\\n]$', title: 'one character', description });

/** Names and descriptions travel in answers and headers. */
const line = (description: string) =>
  Type.String({ pattern: '^[^\\u0000-\\u001F\\u007F]*$', title: 'one line of text', description });

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

const csvInput = Type.Object({
  delimiter: nullable(character('The character between fields.'), 'Character between fields; null = detect.'),
  header_row: nullable(
    Type.Union([Type.Integer({ minimum: 0 }), Type.Literal('none')], { title: 'a whole number from 0, or none' }),
    'Record of the header, from 0; `none` = no header, columns are column_1...; null = detect.',
  ),
  encoding: nullable(Type.String(), 'WHATWG name such as windows-1252; null = byte order mark, else UTF-8.'),
  quote: nullable(
    Type.String({ pattern: '^[^\\r\\n]?$', title: 'one character, or "" for none' }),
    'Character around fields, "" = none; null = detect.',
  ),
  ragged: Type.Enum(['pad', 'fail'], { default: 'pad', description: 'Rows with too few or too many fields.' }),
  stray_quotes: Type.Enum(['keep', 'fail'], { default: 'keep', description: 'Text behind a closing quote.' }),
});

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
  csv: Type.Optional(csvInput),
  sheet: nullable(Type.Union([Type.String(), Type.Integer({ minimum: 1 })]), 'XLSX: name or number of the sheet.'),
  columns: Type.Array(declaredColumn, { default: [], description: 'Columns by the names that the Template uses.' }),
});

export const defaultsSection = Type.Object({
  on_error: Type.Unsafe<'fail' | 'drop_row' | 'blank' | 'keep' | 'flag'>({
    ...baseParameters.on_error,
    default: 'fail',
    description:
      'Rows in trouble: `fail` ends the Run, `drop_row` drops the row, `blank` empties the cell, `keep` leaves it (in an operation that ' +
      'changes the type in place: empty), `flag` ' +
      'empties it and notes `column:CODE` in the flag column.',
  }),
  flag_column: Type.String({ minLength: 1, default: '_issues', description: 'Name of the flag column.' }),
  max_errors: nullable(Type.Integer({ minimum: 0 }), 'More errors in rows than this end the Run.'),
  max_error_ratio: nullable(Type.Number({ minimum: 0, maximum: 1 }), 'More errors per row read than this end the Run.'),
});

const csvOutput = Type.Object({
  delimiter: nullable(character('The character between fields.'), 'null = comma, for tsv a tab.'),
  quoting: Type.Enum(['minimal', 'all', 'text'], {
    default: 'minimal',
    description:
      '`minimal`: fields that need it; `all`: every one; `text`: column names and texts, an empty one too, so that null, ' +
      'which is written without quotes, differs from it.',
  }),
  line_ending: Type.Enum(['lf', 'crlf'], { default: 'lf', description: 'Line ends.' }),
  bom: Type.Boolean({ default: false, description: 'A byte order mark at the start.' }),
  encoding: Type.String({ default: 'utf-8', description: 'Such as windows-1252 or utf-16le.' }),
  unmappable: Type.Enum(['fail', 'replace'], { default: 'fail', description: 'Characters that the encoding lacks.' }),
  header: Type.Boolean({ default: true, description: 'The line of column names.' }),
  decimal: Type.Enum(['.', ','], { default: '.', description: 'Decimal mark of typed numbers.' }),
  date_format: nullable(
    Type.String({ minLength: 1 }),
    'Of dates, such as dd.MM.yyyy; null = ISO 8601. Times stay ISO 8601: format_date writes them otherwise.',
  ),
  boolean: Type.Tuple([Type.String(), Type.String()], {
    default: ['true', 'false'],
    description: 'Texts of true and false.',
  }),
  null: Type.String({ default: '', description: 'What is written for null.' }),
});

const jsonOutput = Type.Object({
  layout: nullable(Type.Enum(['array', 'ndjson']), 'null = as the format says.'),
  decimals: Type.Enum(['number', 'string'], {
    default: 'number',
    description: 'Exact decimals as numbers or as texts.',
  }),
  nulls: Type.Enum(['include', 'omit'], { default: 'include', description: 'Keys whose value is null.' }),
  nest: nullable(
    Type.String({ minLength: 1 }),
    'Separator at which names become nested objects, such as "."; null = flat.',
  ),
});

export const outputSection = Type.Object({
  format: Type.Enum(['csv', 'tsv', 'xlsx', 'json', 'ndjson', 'parquet'], {
    default: 'csv',
    description: 'Format of the output.',
  }),
  columns: nullable(columnSet, 'Columns of the output in their order; null = all as they stand.'),
  csv: Type.Optional(csvOutput),
  xlsx: Type.Optional(Type.Object({}, { additionalProperties: true })),
  json: Type.Optional(jsonOutput),
  formula_guard: Type.Enum(['auto', 'strict', 'off', 'fail'], {
    default: 'auto',
    description: 'What is done to text that a spreadsheet would take as a formula.',
  }),
  name: Type.String({ minLength: 1, default: '{template}-{run}', description: 'Name of the output file.' }),
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
