// How the failures of a workbook are told: which rule it breaks, and nothing of what it holds.
import { Failed } from '../../protocol/failure.ts';
import type { Coroutine } from '../../thread/coroutine.ts';

/** @param reason continues "The workbook is damaged: " */
export function malformedWorkbook(reason: string): Failed {
  return new Failed('MALFORMED_FILE', `The workbook is damaged: ${reason}.`);
}

/**
 * Tells in which part of the workbook the reading of it failed.
 * @param part as in "In its styles"
 */
export function* inPart<T>(part: () => string, reading: Coroutine<T>): Coroutine<T> {
  try {
    return yield* reading;
  } catch (error) {
    if (!(error instanceof Failed) || error.failure.code !== 'MALFORMED_FILE') throw error;
    throw new Failed('MALFORMED_FILE', `${error.failure.message} (In ${part()}.)`);
  }
}
