// The OpenAPI 3.1 document, built from the endpoint records in src/routes with their statuses and codes
// (openapi-schemas.ts contains the bodies). A test fails if the service sends a code that no endpoint declares.

import { codeList, type HttpErrorCode, mayHaveRetryAfter, REASON_BY_STATUS, statusOf } from './error-codes.ts';
import { errorExamples, HEADERS, RUN_EXAMPLES, SCHEMAS } from './openapi-schemas.ts';
import type { Method } from './router.ts';

interface Success {
  readonly status: number;
  readonly description: string;
  /** Content by media type. Omitted for a response without a body. */
  readonly content?: object;
  readonly headers?: readonly (keyof typeof HEADERS)[];
}

/** Description of an endpoint for the document, in addition to its path. */
export interface EndpointDescription {
  readonly summary: string;
  readonly parameters: readonly object[];
  readonly body?: object;
  readonly successes: readonly Success[];
  readonly errors: readonly HttpErrorCode[];
}

/** The parts of an endpoint record that the document needs. Records in src/routes have more. */
export interface DescribedEndpoint {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly scope: string;
  readonly openApi: EndpointDescription;
}

/** Errors of every endpoint that requires a key. */
export const ERRORS_EVERYWHERE: readonly HttpErrorCode[] = [
  'MALFORMED_REQUEST',
  'API_KEY_MISSING',
  'API_KEY_INVALID',
  'INSUFFICIENT_SCOPE',
  'NO_SUBSCRIPTION',
  'RATE_LIMITED',
  'METHOD_NOT_ALLOWED',
  'INTERNAL_ERROR',
];

/** Content with a Run in one of these states. */
export function runContent(...states: readonly (keyof typeof RUN_EXAMPLES)[]): object {
  const examples = Object.fromEntries(states.map((state) => [state, RUN_EXAMPLES[state]]));
  return { 'application/json': { schema: { $ref: '#/components/schemas/Run' }, examples } };
}

export function pathParameter(name: string): object {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}

export function headerParameter(name: string, description: string, schema: object = { type: 'string' }): object {
  return { name, in: 'header', required: false, description, schema };
}

/** @param ownPath path at which the document itself is served */
export function openApiDocument(endpoints: readonly DescribedEndpoint[], ownPath: string): object {
  const paths: Record<string, object> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operationObject(endpoint) };
  }
  paths['/'] = { get: startDescription() };
  paths[ownPath] = { get: selfDescription() };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Template Run Service',
      version: '1',
      description: 'Applies a stored transformation Template to an uploaded file and returns the result.',
      license: { name: 'MIT', identifier: 'MIT' },
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

function operationObject({ name, method, scope, openApi }: DescribedEndpoint): object {
  const { summary, parameters, body, successes, errors } = openApi;
  const responses: Record<string, object> = {};
  for (const { status, description, content, headers } of successes) {
    responses[status] = { description, headers: headerRefs(['X-Request-Id', ...(headers ?? [])]), content };
  }
  const statuses = [...new Set(errors.map((code) => statusOf(code)))].sort((a, b) => a - b);
  for (const status of statuses) responses[status] = errorResponse(status, errors);
  return {
    operationId: name,
    summary,
    description: `Needs a key with the scope ${scope}.${method === 'GET' ? ' HEAD is answered as well.' : ''}`,
    parameters,
    requestBody: body,
    responses,
  };
}

function errorResponse(status: number, errors: readonly HttpErrorCode[]): object {
  const codes = errors.filter((code) => statusOf(code) === status);
  const base = { $ref: status === 402 ? '#/components/schemas/QuotaError' : '#/components/schemas/Error' };
  const headers: (keyof typeof HEADERS)[] = ['X-Request-Id'];
  if (status === 401 || status === 403) headers.push('WWW-Authenticate');
  if (status === 405) headers.push('Allow');
  if (status === 412 || status === 416) headers.push('ETag');
  if (status === 416) headers.push('Content-Range');
  if (codes.some((code) => mayHaveRetryAfter(code))) headers.push('Retry-After');
  return {
    description: `${REASON_BY_STATUS[status]}.\n\n${codeList(codes)}`,
    headers: headerRefs(headers),
    content: {
      'application/json': {
        schema: { allOf: [base, { properties: { error: { enum: codes } } }] },
        examples: errorExamples(codes),
      },
    },
  };
}

function headerRefs(names: readonly (keyof typeof HEADERS)[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function selfDescription(): object {
  const content = { 'application/json': { schema: { type: 'object' } } };
  return openDescription('openapi', 'This document', 'OpenAPI 3.1.', content);
}

function startDescription(): object {
  const path = { type: 'string' };
  const properties = { service: path, openapi: path, docs: path, console: path };
  const schema = { type: 'object', properties, required: ['service', 'openapi'] };
  const content = { 'application/json': { schema }, 'text/html': { schema: { type: 'string' } } };
  const description = 'HTML if the Accept header names text/html. Pages that are disabled are left out.';
  return openDescription('start', 'Links to this document and to the pages', description, content);
}

/** An operation without a key. */
function openDescription(operationId: string, summary: string, description: string, content: object): object {
  return {
    operationId,
    summary,
    security: [],
    responses: {
      200: { description, headers: headerRefs(['X-Request-Id']), content },
      400: errorResponse(400, ['MALFORMED_REQUEST']),
      405: errorResponse(405, ['METHOD_NOT_ALLOWED']),
      500: errorResponse(500, ['INTERNAL_ERROR']),
    },
  };
}
