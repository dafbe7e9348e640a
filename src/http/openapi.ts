// The OpenAPI 3.1 document, built from tables: every operation with its statuses and codes (openapi-schemas.ts holds the
// bodies). A code that the service sends and that is not here fails a test.
import { OPERATION_SCOPES, type OperationName } from '../catalog/access.ts';
import { HEADERS, SCHEMAS } from './openapi-schemas.ts';
import { type HttpErrorCode, REASON_BY_STATUS, STATUS_BY_CODE } from './status.ts';

interface Success {
  readonly status: number;
  readonly description: string;
  /** Content by media type; none for an answer without a body. */
  readonly content?: object;
  readonly headers?: readonly (keyof typeof HEADERS)[];
}

interface Operation {
  readonly name: OperationName;
  readonly path: string;
  readonly method: 'get' | 'post';
  readonly summary: string;
  readonly parameters: readonly object[];
  readonly body?: object;
  readonly successes: readonly Success[];
  readonly errors: readonly HttpErrorCode[];
}

const EVERYWHERE: readonly HttpErrorCode[] = [
  'API_KEY_MISSING',
  'API_KEY_INVALID',
  'INSUFFICIENT_SCOPE',
  'NO_SUBSCRIPTION',
  'RATE_LIMITED',
  'METHOD_NOT_ALLOWED',
  'INTERNAL_ERROR',
];

const RUN_CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/Run' } } };
const FILE_CONTENT = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
const RUN_ID = { name: 'run_id', in: 'path', required: true, schema: { type: 'string' } };
const TEMPLATE_ID = { name: 'template_id', in: 'path', required: true, schema: { type: 'string' } };

function header(name: string, description: string, schema: object = { type: 'string' }): object {
  return { name, in: 'header', required: false, description, schema };
}

const OPERATIONS: readonly Operation[] = [
  {
    name: 'list_templates',
    path: '/api/v1/templates',
    method: 'get',
    summary: "List the account's Templates",
    parameters: [],
    successes: [
      {
        status: 200,
        description: 'The Templates.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/TemplateList' } } },
      },
    ],
    errors: [...EVERYWHERE, 'CONCURRENCY_LIMIT_REACHED'],
  },
  {
    name: 'create_run',
    path: '/api/v1/templates/{template_id}/runs',
    method: 'post',
    summary: 'Apply a Template to an uploaded file',
    parameters: [
      TEMPLATE_ID,
      header('Idempotency-Key', 'A repeat with the same key replays the Run.', {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x20-\\x7E]{1,255}$',
      }),
    ],
    body: {
      required: true,
      content: { 'multipart/form-data': { schema: { $ref: '#/components/schemas/CreateRunForm' } } },
    },
    successes: [
      {
        status: 200,
        description: 'A replayed Run that has finished.',
        content: RUN_CONTENT,
        headers: ['Location', 'Idempotent-Replayed'],
      },
      {
        status: 201,
        description: 'The Run has finished: succeeded, or failed with its error.',
        content: RUN_CONTENT,
        headers: ['Location'],
      },
      {
        status: 202,
        description: 'The Run goes on: poll it.',
        content: RUN_CONTENT,
        headers: ['Location', 'Retry-After', 'Idempotent-Replayed'],
      },
    ],
    errors: [
      ...EVERYWHERE,
      'MALFORMED_FILE',
      'EXPORT_LIMIT_REACHED',
      'TEMPLATE_NOT_FOUND',
      'RUN_NOT_FOUND',
      'IDEMPOTENCY_KEY_REUSED',
      'FILE_TOO_LARGE',
      'ROW_LIMIT_EXCEEDED',
      'UNSUPPORTED_FILE_TYPE',
      'INVALID_PARSE_PARAMS',
      'INVALID_IDEMPOTENCY_KEY',
      'TEMPLATE_COLUMNS_MISSING',
      'CONCURRENCY_LIMIT_REACHED',
      'SERVER_BUSY',
    ],
  },
  {
    name: 'get_run',
    path: '/api/v1/runs/{run_id}',
    method: 'get',
    summary: 'Read a Run',
    parameters: [RUN_ID],
    successes: [{ status: 200, description: 'The Run.', content: RUN_CONTENT, headers: ['Retry-After'] }],
    errors: [...EVERYWHERE, 'RUN_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'CONCURRENCY_LIMIT_REACHED'],
  },
  {
    name: 'get_run_output',
    path: '/api/v1/runs/{run_id}/output',
    method: 'get',
    summary: "Download a Run's output file",
    parameters: [
      RUN_ID,
      header('Range', 'One range of bytes.'),
      header('If-Range', 'The ETag for which the range is wanted.'),
      header('If-None-Match', 'ETags that the client has.'),
      header('If-Match', 'ETags of which one must be that of the output.'),
      header('Want-Repr-Digest', 'sha-256=1 asks for Repr-Digest (RFC 9530).'),
    ],
    successes: [
      {
        status: 200,
        description: 'The whole file.',
        content: FILE_CONTENT,
        headers: ['Content-Disposition', 'ETag', 'Accept-Ranges', 'Repr-Digest'],
      },
      {
        status: 206,
        description: 'One range of the file.',
        content: FILE_CONTENT,
        headers: ['Content-Disposition', 'ETag', 'Accept-Ranges', 'Content-Range', 'Repr-Digest'],
      },
      { status: 304, description: 'The client has it.', headers: ['ETag'] },
    ],
    errors: [
      ...EVERYWHERE,
      'RUN_NOT_FOUND',
      'TEMPLATE_NOT_FOUND',
      'CONCURRENCY_LIMIT_REACHED',
      'PRECONDITION_FAILED',
      'RANGE_NOT_SATISFIABLE',
    ],
  },
];

export function openApiDocument(): object {
  const paths: Record<string, object> = {};
  for (const operation of OPERATIONS) paths[operation.path] = { [operation.method]: operationObject(operation) };
  paths['/api/v1/openapi.json'] = { get: selfDescription() };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Template Run Service',
      version: '1',
      description: 'Applies a stored transformation Template to an uploaded file and returns the result.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: SCHEMAS,
      headers: HEADERS,
    },
  };
}

function operationObject({ name, summary, parameters, body, successes, errors }: Operation): object {
  const responses: Record<string, object> = {};
  for (const { status, description, content, headers } of successes) {
    responses[status] = { description, headers: headerRefs(['X-Request-Id', ...(headers ?? [])]), content };
  }
  const statuses = [...new Set(errors.map((code) => STATUS_BY_CODE[code]))].sort((a, b) => a - b);
  for (const status of statuses) responses[status] = errorResponse(status, errors);
  const scope = OPERATION_SCOPES[name];
  return {
    operationId: name,
    summary,
    description: `Needs a key with the scope ${scope}. HEAD is answered wherever GET is.`,
    parameters,
    requestBody: body,
    responses,
  };
}

function errorResponse(status: number, errors: readonly HttpErrorCode[]): object {
  const codes = errors.filter((code) => STATUS_BY_CODE[code] === status);
  const base = { $ref: status === 402 ? '#/components/schemas/QuotaError' : '#/components/schemas/Error' };
  const headers: (keyof typeof HEADERS)[] = ['X-Request-Id'];
  if (status === 429 || status === 503) headers.push('Retry-After');
  if (status === 401 || status === 403) headers.push('WWW-Authenticate');
  if (status === 405) headers.push('Allow');
  if (status === 412 || status === 416) headers.push('ETag');
  if (status === 416) headers.push('Content-Range');
  if (status === 404 && codes.includes('RUN_NOT_FOUND')) headers.push('Retry-After');
  return {
    description: `${REASON_BY_STATUS[status]}: ${codes.join(', ')}.`,
    headers: headerRefs(headers),
    content: { 'application/json': { schema: { allOf: [base, { properties: { error: { enum: codes } } }] } } },
  };
}

function headerRefs(names: readonly (keyof typeof HEADERS)[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function selfDescription(): object {
  return {
    operationId: 'openapi',
    summary: 'This document',
    security: [],
    responses: {
      200: {
        description: 'OpenAPI 3.1.',
        headers: headerRefs(['X-Request-Id']),
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      405: errorResponse(405, ['METHOD_NOT_ALLOWED']),
      500: errorResponse(500, ['INTERNAL_ERROR']),
    },
  };
}
