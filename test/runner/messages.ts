// Messages between the test runner and the processes that run test files.

/** From the runner to a process: run this file next. */
export interface FileOrder {
  /** Path of the built file, relative to the package folder. */
  readonly file: string;
  readonly timeoutMilliseconds: number;
}

/** A check that failed. */
export interface Failure {
  /** Name of the test, its subtests and the check. */
  readonly name: string;
  /** `file:line:column` of the source; null if tap does not know it. */
  readonly place: string | null;
  /** Lines for people: the expected and the actual value, or the stack of an error. */
  readonly details: string;
}

export interface Skipped {
  readonly name: string;
  readonly reason: string;
}

/** Processor time of a top-level test of a file. The time of a child process counts for the test in which the process ends. */
export interface TestCost {
  readonly name: string;
  readonly processorSeconds: number;
}

/** The result of a file, as far as its own process knows it. */
export interface FileResult {
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly skipped: readonly Skipped[];
  /** Processor time of the process while it ran the file, including children that have ended. */
  readonly processorSeconds: number;
  readonly tests: readonly TestCost[];
}

/** From a process to the runner. */
export type ProcessMessage =
  | { readonly kind: 'ready' }
  /** A test of the file has started. */
  | { readonly kind: 'test'; readonly name: string }
  /** The file needs this much time, measured from now. */
  | { readonly kind: 'timeout'; readonly milliseconds: number }
  | { readonly kind: 'result'; readonly result: FileResult };
