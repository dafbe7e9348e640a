// Bodies and headers of the OpenAPI document. The operations are in openapi.ts.
import type { FailureCode } from '../../workers/protocol/failure.ts';
import { codeList, FAILURE_MEANINGS } from './code-meanings.ts';
import { REPORT_SCHEMAS } from './openapi-report.ts';
import { FAILURE_STATUSES, STATUS_BY_CODE } from './status.ts';

const TEXT = { type: 'string' };
const TIME = { type: 'string', format: 'date-time' };
const TIME_OR_NULL = { type: ['string', 'null'], format: 'date-time' };
const TEXT_OR_NULL = { type: ['string', 'null'] };
const COUNT = { type: 'integer', minimum: 0 };

function object(properties: object, required: readonly string[], more: object = {}): object {
  return { type: 'object', properties, required, ...more };
}

/** Codes that an HTTP error would have had, and those of Runs alone. */
const FAILURE_CODES = Object.keys(FAILURE_STATUSES) as FailureCode[];

const RUN_ERROR = object(
  {
    code: {
      type: 'string',
      enum: FAILURE_CODES,
      description: `Why the Run failed.\n\n${codeList(FAILURE_CODES, FAILURE_MEANINGS)}`,
    },
    message: TEXT,
  },
  ['code', 'message'],
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
      description: 'The output holds only the first rows, because an output ceiling was reached.',
    },
    output: { anyOf: [{ $ref: '#/components/schemas/RunOutput' }, { type: 'null' }] },
    rejects: {
      $ref: '#/components/schemas/RunOutput',
      description: 'Rejected rows (CSV); only where the Template rejects.',
    },
    error: { anyOf: [{ $ref: '#/components/schemas/RunError' }, { type: 'null' }] },
    report: {
      anyOf: [{ $ref: '#/components/schemas/Report' }, { type: 'null' }],
      description: 'null while the Run works, and where it ended before there was one.',
    },
  },
  ['id', 'status', 'template_id', 'created_at'],
);

const TEMPLATE = object({ id: TEXT, name: TEXT_OR_NULL, description: TEXT_OR_NULL, output_format: TEXT_OR_NULL }, [
  'id',
]);

/** null = no limit. */
const CEILING = { type: ['integer', 'null'], minimum: 0 };

const CEILINGS = object(
  {
    runs_in_flight_max: { ...CEILING, description: 'Runs at the same time.' },
    upload_bytes_max: { ...CEILING, description: 'Of a file as it is sent.' },
    inflated_bytes_max: { ...CEILING, description: 'Of a compressed file once it is inflated.' },
    rows_max: { ...CEILING, description: 'Data rows of a file.' },
    output_rows_max: { ...CEILING, description: 'Rows after which an output is cut.' },
    output_bytes_max: { ...CEILING, description: 'Of an output.' },
  },
  ['runs_in_flight_max', 'upload_bytes_max', 'inflated_bytes_max', 'rows_max', 'output_rows_max', 'output_bytes_max'],
  { description: "The plan's ceilings; null: there is none." },
);

const USAGE = object(
  {
    used: { ...COUNT, description: 'Runs of this billing period: those charged, and those in flight that may be.' },
    limit: { ...CEILING, description: 'null: the plan has none.' },
    resets_at: { ...TIME, description: 'When the next billing period begins.' },
    runs_in_flight: { ...COUNT, description: 'Uploads and Runs that are not over.' },
    ceilings: { $ref: '#/components/schemas/Ceilings' },
  },
  ['used', 'limit', 'resets_at', 'runs_in_flight', 'ceilings'],
);

const HTTP_ERROR_CODES = Object.entries(STATUS_BY_CODE).flatMap(([code, status]) => (status === null ? [] : [code]));

const ERROR = object(
  {
    error: { type: 'string', enum: HTTP_ERROR_CODES },
    message: TEXT,
    request_id: TEXT,
    columns: {
      type: 'array',
      items: TEXT,
      description: 'With TEMPLATE_COLUMNS_MISSING: the columns by template name.',
    },
  },
  ['error', 'message'],
);

const CREATE_RUN_FORM = object(
  {
    file: { type: 'string', format: 'binary', description: 'The uploaded file; the part needs a file name.' },
    delimiter: { type: 'string', minLength: 1, maxLength: 1, description: 'Overrides the detected delimiter.' },
    header_row: { type: 'integer', minimum: 0, description: 'Overrides the detected header row, counted from 0.' },
  },
  ['file'],
);

/** How a client writes the parts of the form (OpenAPI 3.1, Encoding Object). */
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
  'X-Request-Id': headerObject('Names the request in the log.'),
  Location: headerObject('Path of the Run.'),
  'Retry-After': headerObject('Seconds to wait; with a Run while it runs.', { type: 'integer', minimum: 1 }),
  'Idempotent-Replayed': headerObject('"true" on a replay.'),
  'WWW-Authenticate': headerObject('RFC 6750; not with NO_SUBSCRIPTION.'),
  Allow: headerObject('The methods of this path.'),
  ETag: headerObject('A strong entity tag.'),
  'Accept-Ranges': headerObject('"bytes".'),
  'Content-Range': headerObject('The range that is sent.'),
  'Content-Disposition': headerObject('An attachment with its file name (RFC 6266).'),
  'Repr-Digest': headerObject('RFC 9530, when it was asked for.'),
};
