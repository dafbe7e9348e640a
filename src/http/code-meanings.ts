// What each error code tells a client: when it comes, and what to do about a Run that failed with it. The page of the HTTP
// interface and the OpenAPI document are made of these sentences. A code without one does not compile.
import type { FailureCode } from '../../workers/protocol/failure.ts';
import type { HttpErrorCode } from './status.ts';

/** When it is answered, in the order of the statuses. What is sent or written as it stands is in backticks. */
export const HTTP_CODE_MEANINGS: Readonly<Record<HttpErrorCode, string>> = {
  MALFORMED_REQUEST: 'It is in doubt where the request ends. The connection is closed.',
  MALFORMED_FILE: 'The form or the file is empty, broken, cut off, or not in the expected encoding.',
  API_KEY_MISSING: 'There is no bearer key.',
  API_KEY_INVALID: 'The key is malformed, unknown, expired or revoked, or its account is inactive.',
  EXPORT_LIMIT_REACHED: 'The account has used its Runs of this billing period.',
  INSUFFICIENT_SCOPE: 'The key lacks the scope of the operation.',
  NO_SUBSCRIPTION: 'The account has no active subscription.',
  NOT_FOUND: 'There is nothing at this path.',
  TEMPLATE_NOT_FOUND: 'The account has no Template with this id.',
  RUN_NOT_FOUND: 'The account has no Run with this id, or the Run has no output.',
  METHOD_NOT_ALLOWED: 'The path answers to the methods in `Allow`.',
  IDEMPOTENCY_KEY_REUSED: 'The key was used for a different request.',
  PRECONDITION_FAILED: '`If-Match` names another ETag.',
  FILE_TOO_LARGE:
    "The file is over the plan's ceiling, as received or when it is inflated; or one page of a Parquet file needs more memory than a Run may have.",
  ROW_LIMIT_EXCEEDED: 'The file has more rows than the plan allows.',
  UNSUPPORTED_FILE_TYPE:
    'The body is no multipart form, or the file is neither CSV nor JSON nor a workbook nor Parquet: PDF, an image, a ZIP archive with several files, an encrypted or binary workbook, encrypted Parquet and the like.',
  RANGE_NOT_SATISFIABLE: 'The range lies behind the end of the output.',
  INVALID_PARSE_PARAMS:
    '`delimiter` or `header_row` breaks its rule. (A header behind the end of the file is MALFORMED_FILE.)',
  INVALID_IDEMPOTENCY_KEY: 'The Idempotency-Key is sent twice, or is not 1 to 255 printable ASCII characters.',
  TEMPLATE_COLUMNS_MISSING:
    'The file lacks columns that the Template reads, or two headers fit one column. The message also tells the delimiter, the header row and the number of columns it was read with.',
  CONCURRENCY_LIMIT_REACHED: 'The account has as many Runs in flight as its plan allows.',
  RATE_LIMITED: 'The account has sent too many requests for this operation.',
  INTERNAL_ERROR: 'A mistake of the service. Its log has the request id.',
  SERVER_BUSY: 'The node is short of memory or disk, or is about to stop.',
};

/** When a Run fails with what is never an HTTP error. */
const RUN_CODE_MEANINGS: Readonly<Record<Exclude<FailureCode, HttpErrorCode>, string>> = {
  TEMPLATE_ROW_ERROR: 'A row broke a rule of the Template (`on_error: fail`).',
  TEMPLATE_TOO_MANY_ERRORS: 'More rows than `max_errors` or `max_error_ratio` allow.',
  TEMPLATE_CHECK_FAILED: 'A check on all rows, or on the columns, did not hold.',
  RUN_RESOURCE_LIMIT: 'Output too large, disk full, or a row needs more memory than there is.',
  RUN_INTERRUPTED: "The service stopped, or the Run's thread was lost, before its end.",
  RUN_TIMEOUT: 'The Run took longer than 10 minutes (`--run-timeout-ms`).',
};

/** When a Run fails with it. */
export const FAILURE_MEANINGS: Readonly<Record<FailureCode, string>> = { ...HTTP_CODE_MEANINGS, ...RUN_CODE_MEANINGS };

const SAME_REQUEST = 'Send the same request with the same key.';
const OTHER_FILE = 'Send another file, or other parameters.';

/** What to do about a Run that failed, those first that are never HTTP errors. */
export const FAILURE_ADVICE: Readonly<Record<FailureCode, string>> = {
  TEMPLATE_ROW_ERROR:
    'Look at the source row that the message names, and at the operation: by number among those that run, name, line and pointer.',
  TEMPLATE_TOO_MANY_ERRORS: 'Look at the report.',
  TEMPLATE_CHECK_FAILED: 'Look at the message.',
  RUN_RESOURCE_LIMIT: 'Send the same request again, or a smaller file.',
  RUN_INTERRUPTED: SAME_REQUEST,
  RUN_TIMEOUT: SAME_REQUEST,
  INTERNAL_ERROR: SAME_REQUEST,
  MALFORMED_FILE: OTHER_FILE,
  UNSUPPORTED_FILE_TYPE: OTHER_FILE,
  FILE_TOO_LARGE: OTHER_FILE,
  ROW_LIMIT_EXCEEDED: OTHER_FILE,
  INVALID_PARSE_PARAMS: OTHER_FILE,
  TEMPLATE_COLUMNS_MISSING: OTHER_FILE,
};

/** As a list in Markdown. */
export function codeList<Code extends string>(
  codes: readonly Code[],
  meanings: Readonly<Record<Code, string>>,
): string {
  return codes.map((code) => `- \`${code}\`: ${meanings[code]}`).join('\n');
}
