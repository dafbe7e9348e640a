// Closed list of the failures that the engine can report. A failure is the fault of the input or of the Template,
// never ours. It crosses threads as a plain value; inside the engine it is thrown as the exception `Failed`.

/**
 * Codes of failures. src/http/error-codes.ts maps each code to an HTTP response: extend it when you add a code here.
 */
export type FailureCode =
  // The file is refused.
  | 'UNSUPPORTED_FILE_TYPE'
  | 'MALFORMED_FILE'
  | 'FILE_TOO_LARGE'
  | 'INVALID_PARSE_PARAMS'
  | 'TEMPLATE_COLUMNS_MISSING'
  | 'ROW_LIMIT_EXCEEDED'
  // The file is valid, but the Run ended without an output.
  | 'TEMPLATE_ROW_ERROR'
  | 'TEMPLATE_TOO_MANY_ERRORS'
  | 'TEMPLATE_CHECK_FAILED'
  | 'RUN_RESOURCE_LIMIT'
  | 'RUN_INTERRUPTED'
  | 'RUN_TIMEOUT'
  | 'INTERNAL_ERROR';

/** The row that ended a Run. Set for TEMPLATE_ROW_ERROR. */
export interface RowPlace {
  /** Number of the data row, starting at 1. Null for a row that an operation added and that is not in the file. */
  readonly row: number | null;
  /** Index of the operation among the enabled operations, starting at 0. */
  readonly step: number;
  /** Column name; null if no single cell is at fault. May be a header of the file, see `localMessage`. */
  readonly column: string | null;
}

/** `columns`: names from the Template, set for TEMPLATE_COLUMNS_MISSING. */
export interface Failure {
  readonly code: FailureCode;
  /** Describes the problem. Contains nothing from the upload. */
  readonly message: string;
  /** The same message, but it may name headers of the file. Reported only to the owner of the file. */
  readonly localMessage?: string;
  readonly columns?: readonly string[];
  readonly place?: RowPlace;
}

/**
 * Maximum length of a failure's message, in UTF-16 units. It is limited because the record of a Run is kept for 30
 * minutes.
 */
export const FAILURE_MESSAGE_LENGTH_MAX = 8192;

/** Maximum number of columns that a failure lists, and the maximum total length of their names, in UTF-16 units. */
const FAILURE_COLUMNS_MAX = 100;
const FAILURE_COLUMNS_LENGTH_MAX = 4096;

/** Returns the failure cut to the limits above. Every failure passes through here before it leaves the engine. */
export function boundedFailure(failure: Failure): Failure {
  const { message, localMessage, columns } = failure;
  return {
    ...failure,
    message: boundedMessage(message),
    ...(localMessage === undefined ? null : { localMessage: boundedMessage(localMessage) }),
    ...(columns === undefined ? null : { columns: boundedColumns(columns) }),
  };
}

/** The failure as the Run reports it. @param showsHeaders whether the reader may see headers of the file */
export function reportedFailure(failure: Failure, showsHeaders: boolean): Failure {
  const { localMessage, ...reported } = boundedFailure(failure);
  if (localMessage === undefined) return reported;
  if (showsHeaders) return { ...reported, message: localMessage };
  const { place } = reported;
  return place === undefined ? reported : { ...reported, place: { ...place, column: null } };
}

function boundedMessage(message: string): string {
  if (message.length <= FAILURE_MESSAGE_LENGTH_MAX) return message;
  // Drop the first half of a surrogate pair at the end.
  const kept = message.slice(0, FAILURE_MESSAGE_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept}... (${message.length - kept.length} more characters)`;
}

function boundedColumns(columns: readonly string[]): readonly string[] {
  let length = 0;
  const bounded: string[] = [];
  for (const name of columns) {
    length += name.length;
    if (bounded.length === FAILURE_COLUMNS_MAX || length > FAILURE_COLUMNS_LENGTH_MAX) break;
    bounded.push(name);
  }
  return bounded;
}

/** Fields of a failure besides its code and message. */
type FailureDetails = Pick<Failure, 'columns' | 'localMessage'>;

/**
 * Carries a Failure up to the code that drives the Run. Other exceptions are faults of ours, unless their class says
 * otherwise.
 */
export class Failed extends Error {
  #failure: Failure;
  #file: number | null = null;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    const failure = boundedFailure({ code, message, ...details });
    super(failure.message);
    this.name = 'Failed';
    this.#failure = failure;
  }

  get failure(): Failure {
    return this.#failure;
  }

  /** Number of the file, from 1, if several files are read one after the other. */
  get file(): number | null {
    return this.#file;
  }

  /**
   * Adds which of several files the failure is about, unless it has been added.
   * @param name name of the file. Only the message for the owner of the file contains it.
   */
  addFile(number: number, name: string | null): void {
    if (this.#file !== null) return;
    this.#file = number;
    const { message, localMessage = message } = this.#failure;
    this.#failure = boundedFailure({
      ...this.#failure,
      message: `${message} (File ${number}.)`,
      localMessage: `${localMessage} (File ${name ?? number}.)`,
    });
  }
}

/** Thrown when a Run was cancelled (client gone, time over, drain). Neither a failure nor a fault. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled');
    this.name = 'Cancelled';
  }
}

/**
 * Thrown when a Run needs memory in the middle of a row and neither the budget nor the node's arena has that memory
 * free. The Run restarts once it owns the arena. Neither a failure nor a fault.
 */
export class MemoryWanted extends Error {
  constructor() {
    super('memory wanted');
    this.name = 'MemoryWanted';
  }
}

/**
 * The file with the input cannot be read: the system refused, or the file became shorter than it was at the start. In
 * the service this is a fault, because the file is its own. A command reports it to the owner of the file.
 */
export class InputFileError extends Error {
  /** Code of the system, or TRUNCATED. */
  readonly code: string;
  readonly path: string;
  /** Marks an error of the system, as Node does. */
  readonly syscall = 'read';

  constructor(path: string, code: string) {
    super(
      `${path} ${code === TRUNCATED ? 'became shorter while it was read. Run the command again.' : `cannot be read: ${code}.`}`,
    );
    this.name = 'InputFileError';
    this.code = code;
    this.path = path;
  }
}

/** Code of an InputFileError: the file ended earlier than at the start. */
export const TRUNCATED = 'TRUNCATED';

/**
 * System errors of a disk that is full, over its quota or broken, or that refuses so large a file. The Run ends; the
 * thread continues.
 */
const DISK_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG']);

/**
 * Converts a fault of writing an output: to Failed (RUN_RESOURCE_LIMIT) if the disk refused the write; other faults
 * are returned unchanged.
 */
export function diskFailure(fault: unknown): unknown {
  if (!DISK_CODES.has((fault as NodeJS.ErrnoException).code ?? '')) return fault;
  return new Failed('RUN_RESOURCE_LIMIT', 'The disk is full: the output cannot be written.');
}
