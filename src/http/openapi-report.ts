// The schema of a Run's report for the OpenAPI document: workers/run/report.ts is where it is made.

const TEXT = { type: 'string' };
const ROW_NUMBER = { type: 'integer', minimum: 1 };
const COUNT = { type: 'integer', minimum: 0 };
const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' };

/** A code of a row error is a key: the list of them may grow. */
const ROW_ERRORS = {
  type: 'object',
  description: 'By the code of a row error.',
  propertyNames: { pattern: '^[A-Z][A-Z0-9_]*$' },
  additionalProperties: {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 1 },
      rows: {
        type: 'array',
        items: { type: 'integer', minimum: 1 },
        description: 'The first source rows, counted from 1 below the header.',
      },
    },
    required: ['count', 'rows'],
  },
};

const ROW_ERRORS_REF = { $ref: '#/components/schemas/RowErrors' };

const INPUT = {
  type: 'object',
  description: 'How the file was read.',
  properties: {
    type: { type: 'string', examples: ['csv'] },
    encoding: { type: 'string', examples: ['utf-8'] },
    delimiter: { type: ['string', 'null'] },
    header_row: { type: ['integer', 'null'], minimum: 0 },
    errors: ROW_ERRORS_REF,
    quotes_after_space: { const: true, description: 'Only where there were such quotes.' },
    header_lines: { type: 'integer', minimum: 2, description: 'Only where several lines were joined into one header.' },
    places: {
      type: 'array',
      description: 'Of a workbook: where the rows stand that errors name, the first 100 of them. All count from 1.',
      items: {
        type: 'object',
        properties: { row: ROW_NUMBER, sheet: ROW_NUMBER, sheet_row: ROW_NUMBER },
        required: ['row', 'sheet', 'sheet_row'],
      },
    },
    comment_lines: { type: 'integer', minimum: 1, description: 'Only where lines were left out as comments.' },
  },
  required: ['type', 'encoding', 'delimiter', 'header_row', 'errors'],
};

const OPERATION = {
  type: 'object',
  properties: {
    operation: TEXT,
    id: { type: ['string', 'null'], description: "The Template's own id of the operation." },
    rows_in: COUNT,
    rows_out: COUNT,
    cells_changed: COUNT,
    errors: ROW_ERRORS_REF,
  },
  required: ['operation', 'id', 'rows_in', 'rows_out', 'cells_changed', 'errors'],
};

const REPORT = {
  type: 'object',
  description: 'Rows, changed cells and row errors per operation; never a value of the file.',
  properties: {
    template_sha256: SHA256,
    rows_read: COUNT,
    rows_written: COUNT,
    input: INPUT,
    operations: { type: 'array', items: OPERATION },
    output: {
      type: 'object',
      properties: { formulas_guarded: COUNT, errors: ROW_ERRORS_REF },
      required: ['formulas_guarded'],
    },
    rejects: {
      type: 'object',
      description: 'The file of rejected rows; only where the Template rejects rows.',
      properties: { rows: COUNT, size_bytes: COUNT },
      required: ['rows', 'size_bytes'],
    },
    tables: { type: 'object', additionalProperties: SHA256, description: 'The reference tables that were read.' },
    shortened: { const: true, description: 'Only where the report was too long and lost its operations.' },
  },
  required: ['template_sha256', 'rows_read', 'rows_written', 'input', 'operations', 'output', 'tables'],
};

export const REPORT_SCHEMAS = { Report: REPORT, RowErrors: ROW_ERRORS };
