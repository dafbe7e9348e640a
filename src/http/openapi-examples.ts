// Examples for the OpenAPI document: one Run in its three states, and refusals.
import type { HttpErrorCode } from './error-codes.ts';

const ID = 'run_a5l3kuhovh3kjk2rxvb4xyg3v4';
const REQUEST_ID = 'f547f842-6f5b-4a3a-9d5e-0c4f8e1b7a11';

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

const REPORT = {
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
  report: REPORT,
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
