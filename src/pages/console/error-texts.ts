// What the console says about errors: first a sentence for people who only want to send a file, then the service's words.
import { type ErrorCode, TemplateRunError } from '../../client/browser/template-run-client.ts';

export interface ErrorText {
  /** The error and what to do about it, in plain words; null: the message is shown alone. */
  readonly advice: string | null;
  /** The message of the service. */
  readonly message: string;
  /** The code and the number of the request, for the operator of the service; null: the error is not from the service. */
  readonly support: string | null;
}

const OTHER_TEMPLATE = 'Check that you chose the right file, and the Template for files of this kind.';
const ASK = 'Ask the person who gave you the key.';

/** For errors that users cannot cause, because the page itself makes these requests. */
const PAGE_OUTDATED = `This page does not match the service, perhaps because the service was updated. Reload the page. ${ASK}`;

const ADVICE: Readonly<Record<ErrorCode, string>> = {
  API_KEY_MISSING: `The service got no key. ${ASK}`,
  API_KEY_INVALID: `The service does not know this key, or it has expired. Check that you copied all of it. ${ASK}`,
  INSUFFICIENT_SCOPE: `Your key does not allow this. ${ASK}`,
  NO_SUBSCRIPTION: `The account is not active. ${ASK}`,
  EXPORT_LIMIT_REACHED: `All Runs that the account may have in this period are used up. ${ASK}`,
  TEMPLATE_NOT_FOUND: 'This Template no longer exists. Reload the page, and choose another one.',
  RUN_NOT_FOUND: 'The service no longer keeps this Run and its files. Send the file again.',
  CONCURRENCY_LIMIT_REACHED: 'Other files of the account are being processed. Wait a moment, then send the file again.',
  RATE_LIMITED: 'There were too many requests in a short time. Wait a moment, then try again.',
  SERVER_BUSY: 'The service is busy. Wait a moment, then try again.',
  MALFORMED_FILE: 'The file is empty, damaged or incomplete. Open it on your computer to check it, then send it again.',
  FILE_TOO_LARGE: `The file is larger than the account may send. Split it, or ask for a higher limit. ${ASK}`,
  ROW_LIMIT_EXCEEDED: `The file has more rows than the account may send. Split it, or ask for a higher limit. ${ASK}`,
  UNSUPPORTED_FILE_TYPE:
    'The service cannot read files of this kind. Save the file as CSV or as an Excel workbook (.xlsx).',
  INVALID_PARSE_PARAMS: 'The delimiter or the header row is not valid. Correct it below "If the file is read wrongly".',
  TEMPLATE_COLUMNS_MISSING: `The file does not have the columns that this Template needs. ${OTHER_TEMPLATE}`,
  TEMPLATE_ROW_ERROR: `A row of the file does not fit this Template. ${OTHER_TEMPLATE}`,
  TEMPLATE_TOO_MANY_ERRORS: `Too many rows of the file do not fit this Template. ${OTHER_TEMPLATE}`,
  TEMPLATE_CHECK_FAILED: `The file does not pass a check of this Template. ${OTHER_TEMPLATE}`,
  RUN_INTERRUPTED: 'The service stopped before the file was processed. Send the file again.',
  RUN_TIMEOUT: 'The file takes too long to process. Split it into smaller files.',
  RUN_RESOURCE_LIMIT: 'The file or its output needs more space than the service has. Split it into smaller files.',
  CONNECTION_LOST: 'The service cannot be reached. Check your network, then try again.',
  UNEXPECTED_ANSWER: `Another program answered instead of the service. Try again in a few minutes. ${ASK}`,
  OUTPUT_DAMAGED: 'The file was damaged on its way to you. Download it again.',
  MALFORMED_REQUEST: PAGE_OUTDATED,
  NOT_FOUND: PAGE_OUTDATED,
  METHOD_NOT_ALLOWED: PAGE_OUTDATED,
  IDEMPOTENCY_KEY_REUSED: PAGE_OUTDATED,
  INVALID_IDEMPOTENCY_KEY: PAGE_OUTDATED,
  PRECONDITION_FAILED: PAGE_OUTDATED,
  RANGE_NOT_SATISFIABLE: PAGE_OUTDATED,
  INTERNAL_ERROR: `The service made a mistake. ${ASK} The number of the request helps to find the reason.`,
};

export function errorText(error: unknown): ErrorText {
  if (!(error instanceof TemplateRunError)) return { advice: null, message: (error as Error).message, support: null };
  const { code, message, requestId } = error;
  return {
    advice: ADVICE[code] ?? null,
    message,
    support: requestId === null ? code : `${code}, request ${requestId}`,
  };
}

/** A size for people: 950 bytes, 12.3 kB, 4.0 MB. */
export function sizeText(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'];
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  let value = bytes / 1000;
  let unit = 0;
  // 999.96 would be written as 1000.0.
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}
