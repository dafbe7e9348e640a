// After which Runs the same Idempotency-Key may make another one: those that did not end for what was sent.
import type { FailureCode } from '../../workers/protocol/failure.ts';

/** After these a repeat starts a new Run. */
export const RETRIED_CODES: ReadonlySet<FailureCode> = new Set([
  'RUN_INTERRUPTED',
  'RUN_TIMEOUT',
  'RUN_RESOURCE_LIMIT',
  'INTERNAL_ERROR',
]);
