// The closed list of failures that the engine can report: the fault of the input or of the Template, never ours.
// A failure crosses threads as a plain value; inside the engine it travels as the exception `Failed`.

/** What each means to a client is in src/http/status.ts, where a code that is added here has to be told. */
export type FailureCode =
  // The file is refused.
  | 'UNSUPPORTED_FILE_TYPE'
  | 'MALFORMED_FILE'
  | 'FILE_TOO_LARGE'
  | 'INVALID_PARSE_PARAMS'
  | 'TEMPLATE_COLUMNS_MISSING'
  | 'ROW_LIMIT_EXCEEDED'
  // The file is sound, the Run ended without an output.
  | 'TEMPLATE_ROW_ERROR'
  | 'TEMPLATE_TOO_MANY_ERRORS'
  | 'TEMPLATE_CHECK_FAILED'
  | 'RUN_RESOURCE_LIMIT'
  | 'RUN_INTERRUPTED'
  | 'RUN_TIMEOUT'
  | 'INTERNAL_ERROR';

/** Where a row ended a Run: with TEMPLATE_ROW_ERROR. */
export interface RowPlace {
  /** Row of the data, from 1. */
  readonly row: number;
  /** Operation, from 0, among those that run. */
  readonly step: number;
  /** Template-side name, or null where no single cell is at fault. */
  readonly column: string | null;
}

/** What went wrong, in words that hold nothing of the upload. `columns`: template-side names, with TEMPLATE_COLUMNS_MISSING. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  readonly columns?: readonly string[];
  readonly place?: RowPlace;
}

/** Carries a Failure up to the conveyor. Everything else that is thrown is a fault of ours. */
export class Failed extends Error {
  readonly failure: Failure;

  constructor(code: FailureCode, message: string, columns?: readonly string[]) {
    super(message);
    this.name = 'Failed';
    this.failure = columns === undefined ? { code, message } : { code, message, columns };
  }
}

/** Thrown through the conveyor when its Run was cancelled (client gone, time over, drain). Neither failure nor fault. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled');
    this.name = 'Cancelled';
  }
}

/**
 * Thrown through the conveyor when a Run needs memory in the middle of a row that neither the budget nor the node's arena has
 * free: it begins again when the arena is its own. Neither failure nor fault.
 */
export class MemoryWanted extends Error {
  constructor() {
    super('memory wanted');
    this.name = 'MemoryWanted';
  }
}

/** The disk is full, over its quota, broken, or refuses so large a file: the Run ends, the thread goes on. */
const DISK_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG']);

/** What a fault of writing an output means: Failed (RUN_RESOURCE_LIMIT) where the disk refuses, else the fault itself. */
export function diskFailure(fault: unknown): unknown {
  if (!DISK_CODES.has((fault as NodeJS.ErrnoException).code ?? '')) return fault;
  return new Failed('RUN_RESOURCE_LIMIT', 'The disk has no room for the output.');
}
