// Schemas of bodies and headers in the OpenAPI document, and examples of bodies. The operations are in openapi.ts.

import type { FailureCode } from '../../workers/protocol/failure.ts';
import { codeList, FAILURES, HTTP_ERROR_CODES, type HttpErrorCode } from './error-codes.ts';

const TEXT = { type: 'string' };
const TIME = { type: 'string', format: 'date-time' };
const TIME_OR_NULL = { type: ['string', 'null'], format: 'date-time' };
const TEXT_OR_NULL = { type: ['string', 'null'] };
const COUNT = { type: 'integer', minimum: 0 };

// Schema of a Run's report. workers/protocol/report.ts creates the report.

const ROW_NUMBER = { type: 'integer', minimum: 1 };
const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' };

/** Codes of row errors are keys, because their list may grow. */
const ROW_ERRORS = {
  type: 'object',
  description: 'Row errors by their code.',
  propertyNames: { pattern: '^[A-Z][A-Z0-9_]*$' },
  additionalProperties: {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 1 },
      rows: {
        type: 'array',
        items: { type: 'integer', minimum: 1 },
        description:
          'The first source rows, counted from 1 below the header. Rows that `append_rows` added are counted, but have no numbers.',
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
    encoding_guess: {
      type: 'string',
      description:
        'Present only if the encoding was guessed: the kind of characters that the bytes beyond ASCII are in this encoding.',
      examples: ['letters of German'],
    },
    quotes_after_space: { const: true, description: 'Present only if the file has quotes after spaces.' },
    escape: { type: 'string', description: 'Present only if backslash escapes were read.' },
    record_separator: { type: 'string', description: 'Present only if records do not end with line breaks.' },
    nul_bytes: { type: 'integer', minimum: 1, description: 'Present only if NUL bytes were removed.' },
    files: {
      type: 'integer',
      minimum: 1,
      description: 'Number of files that were read one after the other; present only if the Template reads several.',
    },
    nan_values: {
      type: 'integer',
      minimum: 1,
      description: 'Present only if values NaN or Infinity of JSON were read as null.',
    },
    header_lines: {
      type: 'integer',
      minimum: 2,
      description: 'Present only if several lines were joined into one header.',
    },
    places: {
      type: 'array',
      description: 'For workbooks: sheet and row of the first 100 rows that the errors name. All numbers count from 1.',
      items: {
        type: 'object',
        properties: { row: ROW_NUMBER, sheet: ROW_NUMBER, sheet_row: ROW_NUMBER },
        required: ['row', 'sheet', 'sheet_row'],
      },
    },
    comment_lines: { type: 'integer', minimum: 1, description: 'Present only if lines were ignored as comments.' },
    values_beside_list: {
      type: 'integer',
      minimum: 1,
      description: 'For JSON: present only if the file has values beside the list of records, which were not read.',
    },
  },
  required: ['type', 'encoding', 'delimiter', 'header_row', 'errors'],
};

const OPERATION = {
  type: 'object',
  properties: {
    operation: TEXT,
    id: { type: ['string', 'null'], description: 'The id of the operation in the Template.' },
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
      description: 'The file of rejected rows; present only if the Template rejects rows.',
      properties: { rows: COUNT, size_bytes: COUNT },
      required: ['rows', 'size_bytes'],
    },
    tables: { type: 'object', additionalProperties: SHA256, description: 'The reference tables that were read.' },
    shortened: {
      const: true,
      description: 'Present only if the report was too long, so that its operations were left out.',
    },
  },
  required: ['template_sha256', 'rows_read', 'rows_written', 'input', 'operations', 'output', 'tables'],
};

const REPORT_SCHEMAS = { Report: REPORT, RowErrors: ROW_ERRORS };

// Schemas of the other bodies, and of headers.

function object(properties: object, required: readonly string[], more: object = {}): object {
  return { type: 'object', properties, required, ...more };
}

// Messages of the examples.

const REQUEST_ID = 'f547f842-6f5b-4a3a-9d5e-0c4f8e1b7a11';

/** Messages are for people and may change. */
const MESSAGES: Readonly<Record<HttpErrorCode, string>> = {
  MALFORMED_REQUEST: 'Send one Content-Length, in digits.',
  MALFORMED_FILE: 'The file is empty.',
  API_KEY_MISSING: 'Send an API key as "Authorization: Bearer <API_KEY>".',
  API_KEY_INVALID: 'The API key is malformed, unknown, expired or revoked, or its account is inactive.',
  EXPORT_LIMIT_REACHED: 'The account has used its 10000 Runs of this billing period.',
  INSUFFICIENT_SCOPE: 'The API key lacks the scope runs:write.',
  NO_SUBSCRIPTION: 'The account has no active subscription.',
  NOT_FOUND: 'No endpoint has this path.',
  TEMPLATE_NOT_FOUND: 'There is no Template with this id.',
  RUN_NOT_FOUND: 'There is no Run with this id.',
  METHOD_NOT_ALLOWED: 'This path supports only GET, HEAD, OPTIONS.',
  IDEMPOTENCY_KEY_REUSED: 'The Idempotency-Key was used for a different request.',
  PRECONDITION_FAILED: 'The output has another ETag than If-Match names.',
  FILE_TOO_LARGE: "The file is larger than the plan's ceiling of 104857600 bytes.",
  ROW_LIMIT_EXCEEDED: 'The file has more rows than the 1000000 that the plan allows.',
  UNSUPPORTED_FILE_TYPE: 'Send the file as multipart/form-data with a boundary.',
  RANGE_NOT_SATISFIABLE: 'The output has 413 bytes.',
  INVALID_PARSE_PARAMS: 'delimiter must be exactly one printable character.',
  INVALID_IDEMPOTENCY_KEY: 'Send one Idempotency-Key of 1 to 255 printable characters.',
  TEMPLATE_COLUMNS_MISSING:
    'The file lacks columns that the Template needs: "amount". The file was read with delimiter ",", header row 0, 4 columns.',
  CONCURRENCY_LIMIT_REACHED: 'The account has 4 Runs in flight, as many as its plan allows.',
  RATE_LIMITED: 'The account has sent too many requests for this operation. Try again in 12 s.',
  INTERNAL_ERROR: 'Internal error of the service. Its log contains the request id.',
  SERVER_BUSY: 'The service is at its memory budget. Try again shortly.',
};

/** Codes of Runs that are never HTTP errors. */
const RUN_MESSAGES: Readonly<Record<Exclude<FailureCode, HttpErrorCode>, string>> = {
  RUN_INTERRUPTED: 'The service was interrupted before the Run completed. Send the request again with the same key.',
  RUN_TIMEOUT: 'The Run was stopped after 600 s, the longest time that a Run may take.',
  RUN_RESOURCE_LIMIT: 'The output has more than 2097152000 bytes.',
  TEMPLATE_ROW_ERROR:
    'Operation 2 parse_number "read_amount" (line 6, /operations/3), column "amount": NOT_A_NUMBER in row 2 of the data.',
  TEMPLATE_TOO_MANY_ERRORS: 'The rows have more than the 100 errors that max_errors allows.',
  TEMPLATE_CHECK_FAILED: 'Operation 4 expect_rows (line 9, /operations/3): the table has 0 rows and needs 1.',
};

function messageOf(code: FailureCode): string {
  return code in RUN_MESSAGES ? RUN_MESSAGES[code as keyof typeof RUN_MESSAGES] : MESSAGES[code as HttpErrorCode];
}

/** Codes that correspond to HTTP errors, and those of Runs only. */
const FAILURE_CODES = Object.keys(FAILURES) as FailureCode[];

const RUN_ERROR = object(
  {
    code: {
      type: 'string',
      enum: FAILURE_CODES,
      description: `Why the Run failed.\n\n${codeList(FAILURE_CODES)}`,
    },
    message: TEXT,
  },
  ['code', 'message'],
  { examples: FAILURE_CODES.map((code) => ({ code, message: messageOf(code) })) },
);

const RUN_OUTPUT = object(
  { name: TEXT, mime_type: TEXT, size_bytes: COUNT, download_url: { type: 'string', format: 'uri' } },
  ['name', 'mime_type', 'size_bytes', 'download_url'],
);

const RUN = object(
  {
    id: TEXT,
    status: { type: 'string', enum: ['running', 'succeeded', 'failed'] },
    template_id: TEXT,
    created_at: TIME,
    completed_at: TIME_OR_NULL,
    expires_at: TIME_OR_NULL,
    rows_written: { type: ['integer', 'null'], minimum: 0 },
    truncated: {
      type: 'boolean',
      default: false,
      description: 'The output contains only the first rows, because an output limit was reached.',
    },
    output: { anyOf: [{ $ref: '#/components/schemas/RunOutput' }, { type: 'null' }] },
    rejects: {
      $ref: '#/components/schemas/RunOutput',
      description: 'Rejected rows (CSV); present only if the Template rejects rows.',
    },
    error: { anyOf: [{ $ref: '#/components/schemas/RunError' }, { type: 'null' }] },
    report: {
      anyOf: [{ $ref: '#/components/schemas/Report' }, { type: 'null' }],
      description: 'null while the Run is running, and if it ended before a report existed.',
    },
  },
  ['id', 'status', 'template_id', 'created_at'],
);

const TEMPLATE = object({ id: TEXT, name: TEXT_OR_NULL, description: TEXT_OR_NULL, output_format: TEXT_OR_NULL }, [
  'id',
]);

/** null for no limit. */
const CEILING = { type: ['integer', 'null'], minimum: 0 };

const CEILINGS = object(
  {
    runs_in_flight_max: { ...CEILING, description: 'Maximum number of Runs at the same time.' },
    upload_bytes_max: { ...CEILING, description: 'Maximum size of an uploaded file, as it is sent.' },
    inflated_bytes_max: { ...CEILING, description: 'Maximum size of a compressed file after decompression.' },
    rows_max: { ...CEILING, description: 'Maximum number of data rows in a file.' },
    output_rows_max: { ...CEILING, description: 'Maximum number of rows in an output; further rows are left out.' },
    output_bytes_max: { ...CEILING, description: 'Maximum size of an output.' },
  },
  ['runs_in_flight_max', 'upload_bytes_max', 'inflated_bytes_max', 'rows_max', 'output_rows_max', 'output_bytes_max'],
  { description: "The plan's limits; null means no limit." },
);

const USAGE = object(
  {
    used: {
      ...COUNT,
      description: 'Runs of this billing period that were charged, and Runs in flight that may be charged.',
    },
    limit: { ...CEILING, description: 'null: the plan has no limit.' },
    resets_at: { ...TIME, description: 'When the next billing period begins.' },
    runs_in_flight: { ...COUNT, description: 'Uploads and Runs that have not ended.' },
    ceilings: { $ref: '#/components/schemas/Ceilings' },
  },
  ['used', 'limit', 'resets_at', 'runs_in_flight', 'ceilings'],
);

const ERROR = object(
  {
    error: { type: 'string', enum: HTTP_ERROR_CODES },
    message: TEXT,
    request_id: TEXT,
    columns: {
      type: 'array',
      items: TEXT,
      description: 'With TEMPLATE_COLUMNS_MISSING: the missing columns, by their names in the Template.',
    },
  },
  ['error', 'message'],
  // The other codes are shown at the responses of the operations.
  { examples: [{ error: 'NOT_FOUND', message: MESSAGES.NOT_FOUND, request_id: REQUEST_ID }] },
);

const CREATE_RUN_FORM = object(
  {
    file: { type: 'string', format: 'binary', description: 'The uploaded file; the part needs a file name.' },
    delimiter: { type: 'string', minLength: 1, maxLength: 1, description: 'Overrides the detected delimiter.' },
    header_row: { type: 'integer', minimum: 0, description: 'Overrides the detected header row, counted from 0.' },
  },
  ['file'],
);

/** Encoding of the form parts (OpenAPI 3.1, Encoding Object). */
export const CREATE_RUN_ENCODING = {
  file: { contentType: 'text/csv, application/octet-stream' },
  delimiter: { contentType: 'text/plain' },
  header_row: { contentType: 'text/plain' },
};

export const SCHEMAS = {
  Run: RUN,
  RunOutput: RUN_OUTPUT,
  RunError: RUN_ERROR,
  ...REPORT_SCHEMAS,
  Template: TEMPLATE,
  TemplateList: object({ data: { type: 'array', items: { $ref: '#/components/schemas/Template' } } }, ['data']),
  Quota: object({ used: COUNT, limit: COUNT, resets_at: TIME }, ['used', 'limit', 'resets_at']),
  Usage: USAGE,
  Ceilings: CEILINGS,
  Error: ERROR,
  QuotaError: {
    allOf: [
      { $ref: '#/components/schemas/Error' },
      object({ quota: { $ref: '#/components/schemas/Quota' } }, ['quota']),
    ],
  },
  CreateRunForm: CREATE_RUN_FORM,
};

function headerObject(description: string, schema: object = TEXT): object {
  return { description, schema };
}

export const HEADERS = {
  'X-Request-Id': headerObject('Id of the request, also in the log of the service.'),
  Location: headerObject('Path of the Run.'),
  'Retry-After': headerObject('Seconds to wait before the next request; sent with a Run that is still running.', {
    type: 'integer',
    minimum: 1,
  }),
  'Idempotent-Replayed': headerObject('"true" if the response replays an earlier Run.'),
  'WWW-Authenticate': headerObject('Challenge as in RFC 6750; not sent with NO_SUBSCRIPTION.'),
  Allow: headerObject('The methods that this path supports.'),
  ETag: headerObject('A strong entity tag.'),
  'Accept-Ranges': headerObject('"bytes".'),
  'Content-Range': headerObject('The range that is sent.'),
  'Content-Disposition': headerObject('An attachment with its file name (RFC 6266).'),
  'Repr-Digest': headerObject('Digest as in RFC 9530, if the request asked for it.'),
};

// Examples for the OpenAPI document: one Run in its three states, and refusals.

const ID = 'run_a5l3kuhovh3kjk2rxvb4xyg3v4';

const RUNNING = {
  id: ID,
  status: 'running',
  template_id: 'shop-orders',
  created_at: '2026-11-23T09:31:05.146Z',
  completed_at: null,
  expires_at: null,
  rows_written: null,
  truncated: false,
  output: null,
  error: null,
  report: null,
};

const ENDED = { completed_at: '2026-11-23T09:31:05.189Z', expires_at: '2026-11-23T10:01:05.189Z' };

const REPORT_EXAMPLE = {
  template_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  rows_read: 7,
  rows_written: 6,
  input: { type: 'csv', encoding: 'utf-8', delimiter: ';', header_row: 0, errors: {} },
  operations: [
    {
      operation: 'parse_number',
      id: null,
      rows_in: 7,
      rows_out: 6,
      cells_changed: 12,
      errors: { NOT_A_NUMBER: { count: 1, rows: [4] } },
    },
  ],
  output: { formulas_guarded: 0 },
  tables: {},
};

const SUCCEEDED = {
  ...RUNNING,
  ...ENDED,
  status: 'succeeded',
  rows_written: 6,
  output: {
    name: `Shop orders-${ID}.csv`,
    mime_type: 'text/csv',
    size_bytes: 413,
    download_url: `https://runs.example.com/api/v1/runs/${ID}/output`,
  },
  report: REPORT_EXAMPLE,
};

const FAILED = {
  ...RUNNING,
  ...ENDED,
  status: 'failed',
  error: { code: 'RUN_TIMEOUT', message: 'The Run was stopped after 600 s, the longest time that a Run may take.' },
};

/** In the form of the `examples` of a media type. */
export const RUN_EXAMPLES = { running: { value: RUNNING }, succeeded: { value: SUCCEEDED }, failed: { value: FAILED } };

export const TEMPLATE_LIST_EXAMPLE = {
  data: [{ id: 'shop-orders', name: 'Shop orders', description: null, output_format: 'csv' }],
};

export const USAGE_EXAMPLE = {
  used: 1204,
  limit: 10_000,
  resets_at: '2026-12-01T00:00:00.000Z',
  runs_in_flight: 1,
  ceilings: {
    runs_in_flight_max: 4,
    upload_bytes_max: 104_857_600,
    inflated_bytes_max: 2_097_152_000,
    rows_max: 1_000_000,
    output_rows_max: null,
    output_bytes_max: 2_097_152_000,
  },
};

const QUOTA = { used: 10_000, limit: 10_000, resets_at: '2026-12-01T00:00:00.000Z' };

/** Returns error examples by code. */
export function errorExamples(codes: readonly HttpErrorCode[]): Record<string, { readonly value: object }> {
  const examples: Record<string, { readonly value: object }> = {};
  for (const code of codes) {
    const message = MESSAGES[code];
    const quota = code === 'EXPORT_LIMIT_REACHED' ? { quota: QUOTA } : {};
    const columns = code === 'TEMPLATE_COLUMNS_MISSING' ? { columns: ['amount'] } : {};
    examples[code] = { value: { error: code, message, request_id: REQUEST_ID, ...quota, ...columns } };
  }
  return examples;
}
