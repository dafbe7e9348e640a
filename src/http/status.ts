// What each error code means to a client: an HTTP status, or a Run that ends as failed. A code without either does not
// compile; nothing else maps them.
import type { FailureCode } from '../../workers/protocol/failure.ts';

/** Codes that the engine never reports: found by the request's checks. */
export type RequestErrorCode =
  | 'API_KEY_MISSING'
  | 'API_KEY_INVALID'
  | 'EXPORT_LIMIT_REACHED'
  | 'INSUFFICIENT_SCOPE'
  | 'NO_SUBSCRIPTION'
  | 'MALFORMED_REQUEST'
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
  | 'SERVER_BUSY';

const REQUEST_STATUSES = {
  MALFORMED_REQUEST: 400,
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
  RANGE_NOT_SATISFIABLE: 416,
  INVALID_IDEMPOTENCY_KEY: 422,
  CONCURRENCY_LIMIT_REACHED: 429,
  RATE_LIMITED: 429,
  SERVER_BUSY: 503,
} as const satisfies Readonly<Record<RequestErrorCode, number>>;

/**
 * Of failures, while a POST waits; a client that has the Run's id gets a failed Run with the code instead. null: the Run
 * always ends as a failed one.
 */
export const FAILURE_STATUSES = {
  MALFORMED_FILE: 400,
  FILE_TOO_LARGE: 413,
  ROW_LIMIT_EXCEEDED: 413,
  UNSUPPORTED_FILE_TYPE: 415,
  INVALID_PARSE_PARAMS: 422,
  TEMPLATE_COLUMNS_MISSING: 422,
  INTERNAL_ERROR: 500,
  RUN_INTERRUPTED: null,
  RUN_TIMEOUT: null,
  RUN_RESOURCE_LIMIT: null,
  TEMPLATE_ROW_ERROR: null,
  TEMPLATE_TOO_MANY_ERRORS: null,
  TEMPLATE_CHECK_FAILED: null,
} as const satisfies Readonly<Record<FailureCode, number | null>>;

export const STATUS_BY_CODE = { ...REQUEST_STATUSES, ...FAILURE_STATUSES };

type ErrorCode = keyof typeof STATUS_BY_CODE;

/** Every value of `error` in an HTTP answer: the codes that have a status. */
export type HttpErrorCode = {
  [Code in ErrorCode]: (typeof STATUS_BY_CODE)[Code] extends null ? never : Code;
}[ErrorCode];

export function isHttpError<Code extends ErrorCode>(code: Code): code is Code & HttpErrorCode {
  return STATUS_BY_CODE[code] !== null;
}

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
