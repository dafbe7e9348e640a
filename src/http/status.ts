// The one table from error codes to HTTP statuses. A code without a status does not compile; nothing else maps them.
import type { FileFailureCode } from '../../workers/failure.ts';

/** Codes that the engine never reports: found by the request's checks. */
export type RequestErrorCode =
  | 'API_KEY_MISSING'
  | 'API_KEY_INVALID'
  | 'EXPORT_LIMIT_REACHED'
  | 'INSUFFICIENT_SCOPE'
  | 'NO_SUBSCRIPTION'
  | 'NOT_FOUND'
  | 'TEMPLATE_NOT_FOUND'
  | 'RUN_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'PRECONDITION_FAILED'
  | 'RANGE_NOT_SATISFIABLE'
  | 'INVALID_IDEMPOTENCY_KEY'
  | 'CONCURRENCY_LIMIT_REACHED'
  | 'RATE_LIMITED'
  | 'INTERNAL_ERROR'
  | 'SERVER_BUSY';

/** Every value of `error` in an HTTP answer. */
export type HttpErrorCode = FileFailureCode | RequestErrorCode;

export const STATUS_BY_CODE: Readonly<Record<HttpErrorCode, number>> = {
  MALFORMED_FILE: 400,
  API_KEY_MISSING: 401,
  API_KEY_INVALID: 401,
  EXPORT_LIMIT_REACHED: 402,
  INSUFFICIENT_SCOPE: 403,
  NO_SUBSCRIPTION: 403,
  NOT_FOUND: 404,
  TEMPLATE_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  IDEMPOTENCY_KEY_REUSED: 409,
  PRECONDITION_FAILED: 412,
  FILE_TOO_LARGE: 413,
  ROW_LIMIT_EXCEEDED: 413,
  UNSUPPORTED_FILE_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  INVALID_PARSE_PARAMS: 422,
  INVALID_IDEMPOTENCY_KEY: 422,
  TEMPLATE_COLUMNS_MISSING: 422,
  CONCURRENCY_LIMIT_REACHED: 429,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVER_BUSY: 503,
};

/** Reason phrases of the statuses that are sent. */
export const REASON_BY_STATUS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
