// Error codes: one table with the HTTP status, the Retry-After header, the meaning and the advice of each code, and the
// error responses that are made from it. The table is also the source of the reference page of the HTTP interface and of
// the OpenAPI document. A code without an entry does not compile.
import type { FailureCode } from '../../workers/protocol/failure.ts';

/** Codes that the checks of a request find. The engine never reports them. */
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

interface ErrorEntry {
  readonly status: number;
  /**
   * Value of the Retry-After header, in seconds. `computed`: the header depends on the request, for example on the age
   * of a running Run, and is added by the function that refuses the request.
   */
  readonly retryAfter?: number | 'computed';
  /** Cases in which the error occurs. Literal text of requests and Templates is in backticks. */
  readonly meaning: string;
}

const REQUEST_ERRORS = {
  MALFORMED_REQUEST: {
    status: 400,
    meaning: 'The end of the request is ambiguous. The connection is closed.',
  },
  API_KEY_MISSING: {
    status: 401,
    meaning: 'The request has no bearer key.',
  },
  API_KEY_INVALID: {
    status: 401,
    meaning: 'The key is malformed, unknown, expired or revoked, or its account is inactive.',
  },
  EXPORT_LIMIT_REACHED: {
    status: 402,
    meaning: 'The account has used all its Runs of this billing period.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    meaning: 'The key lacks the scope of the endpoint.',
  },
  NO_SUBSCRIPTION: {
    status: 403,
    meaning: 'The account has no active subscription.',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'No endpoint has this path.',
  },
  TEMPLATE_NOT_FOUND: {
    status: 404,
    meaning: 'The account has no Template with this id.',
  },
  RUN_NOT_FOUND: {
    status: 404,
    retryAfter: 'computed',
    meaning: 'The account has no Run with this id, or the Run has no output.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path supports only the methods in `Allow`.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    meaning: 'The key was used for a different request.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    meaning: '`If-Match` names another ETag.',
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    meaning: 'The range starts after the end of the output.',
  },
  INVALID_IDEMPOTENCY_KEY: {
    status: 422,
    meaning: 'The Idempotency-Key is sent twice, or is not 1 to 255 printable ASCII characters.',
  },
  CONCURRENCY_LIMIT_REACHED: {
    status: 429,
    // Runs take seconds.
    retryAfter: 1,
    meaning: 'The account has as many Runs in flight as its plan allows.',
  },
  RATE_LIMITED: {
    status: 429,
    retryAfter: 'computed',
    meaning: 'The account has sent too many requests to this endpoint.',
  },
  SERVER_BUSY: {
    status: 503,
    retryAfter: 1,
    meaning: 'The node has too little free memory or disk space, or is stopping.',
  },
} as const satisfies Readonly<Record<RequestErrorCode, ErrorEntry>>;

const SAME_REQUEST = 'Send the same request with the same key.';
const OTHER_FILE = 'Send another file, or other parameters.';

interface FailureEntry {
  /**
   * Status of the failure while a POST waits. A client that already has the Run's id gets a failed Run with the code
   * instead. null for codes with which a Run always ends as failed.
   */
  readonly status: number | null;
  /** Cases in which the Run fails. Literal text of requests and Templates is in backticks. */
  readonly meaning: string;
  /** What the client should do about a failed Run. */
  readonly advice: string;
}

/** Codes with which a Run fails. */
export const FAILURES = {
  MALFORMED_FILE: {
    status: 400,
    meaning: 'The form or the file is empty, damaged, incomplete, or not in the expected encoding.',
    advice: OTHER_FILE,
  },
  FILE_TOO_LARGE: {
    status: 413,
    meaning:
      "The file exceeds the plan's limit, as received or after decompression; or a page of a Parquet file needs more memory than a Run may have.",
    advice: OTHER_FILE,
  },
  ROW_LIMIT_EXCEEDED: {
    status: 413,
    meaning: 'The file has more rows than the plan allows.',
    advice: OTHER_FILE,
  },
  UNSUPPORTED_FILE_TYPE: {
    status: 415,
    meaning:
      'The body is not a multipart form, or the type of the file is not supported, for example a PDF, an image, a ZIP archive with several files of which the Template chooses none, an encrypted or binary workbook, or encrypted Parquet.',
    advice: OTHER_FILE,
  },
  INVALID_PARSE_PARAMS: {
    status: 422,
    meaning: '`delimiter` or `header_row` is invalid. (A header row after the end of the file is MALFORMED_FILE.)',
    advice: OTHER_FILE,
  },
  TEMPLATE_COLUMNS_MISSING: {
    status: 422,
    meaning:
      'The file lacks columns that the Template needs, or two headers match one column. The message also names the delimiter, the header row and the number of columns that were found.',
    advice: OTHER_FILE,
  },
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'A fault of the service. Its log contains the request id.',
    advice: SAME_REQUEST,
  },
  RUN_INTERRUPTED: {
    status: null,
    meaning: "The service stopped or the Run's thread was lost before the Run ended.",
    advice: SAME_REQUEST,
  },
  RUN_TIMEOUT: {
    status: null,
    meaning: 'The Run took longer than 10 minutes (`--run-timeout-ms`).',
    advice: SAME_REQUEST,
  },
  RUN_RESOURCE_LIMIT: {
    status: null,
    meaning: 'The output is too large, the disk is full, or a row needs more memory than the node has.',
    advice: 'Send the same request again, or a smaller file.',
  },
  TEMPLATE_ROW_ERROR: {
    status: null,
    meaning: 'A row broke a rule of the Template (`on_error: fail`).',
    advice:
      'The message names the source row and the operation (number among the enabled operations, name, line, pointer). Correct the file or the Template.',
  },
  TEMPLATE_TOO_MANY_ERRORS: {
    status: null,
    meaning: 'More rows have errors than `max_errors` or `max_error_ratio` allow.',
    advice: 'See the report of the Run.',
  },
  TEMPLATE_CHECK_FAILED: {
    status: null,
    meaning: 'A check of all rows or of the columns failed.',
    advice: 'See the message.',
  },
} as const satisfies Readonly<Record<FailureCode, FailureEntry>>;

const ERRORS = { ...REQUEST_ERRORS, ...FAILURES };

export type ErrorCode = keyof typeof ERRORS;

/** Values of `error` in HTTP responses: the codes that have a status. */
export type HttpErrorCode = {
  [Code in ErrorCode]: (typeof ERRORS)[Code]['status'] extends null ? never : Code;
}[ErrorCode];

export function isHttpError<Code extends ErrorCode>(code: Code): code is Code & HttpErrorCode {
  return ERRORS[code].status !== null;
}

export const HTTP_ERROR_CODES: readonly HttpErrorCode[] = (Object.keys(ERRORS) as ErrorCode[]).filter((code) =>
  isHttpError(code),
);

export function statusOf(code: HttpErrorCode): number {
  return ERRORS[code].status;
}

export function meaningOf(code: ErrorCode): string {
  return ERRORS[code].meaning;
}

/** True if responses with this code may have a Retry-After header. */
export function mayHaveRetryAfter(code: HttpErrorCode): boolean {
  return 'retryAfter' in ERRORS[code];
}

/** Formats codes and their meanings as a Markdown list. */
export function codeList(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `- \`${code}\`: ${meaningOf(code)}`).join('\n');
}

// An error response as a value: what a check found wrong with a request. The exchange sends it.

export interface Quota {
  readonly used: number;
  readonly limit: number;
  /** RFC 3339. */
  readonly resets_at: string;
}

export interface Refusal {
  readonly code: HttpErrorCode;
  /** In English, without any content of the upload. */
  readonly message: string;
  readonly headers?: readonly (readonly [string, string])[];
  /** Only for EXPORT_LIMIT_REACHED. */
  readonly quota?: Quota;
  /** Only for TEMPLATE_COLUMNS_MISSING: column names of the Template. */
  readonly columns?: readonly string[];
}

/** Adds the Retry-After header of the code, unless it is computed. */
export function refusal(code: HttpErrorCode, message: string): Refusal {
  const { retryAfter }: ErrorEntry = ERRORS[code];
  if (typeof retryAfter !== 'number') return { code, message };
  return { code, message, headers: [['Retry-After', String(retryAfter)]] };
}

/** The only way to answer SERVER_BUSY: 503 with Retry-After. */
export function busy(message: string): Refusal {
  return refusal('SERVER_BUSY', message);
}

/** Reason phrases of the statuses that the service sends. */
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
