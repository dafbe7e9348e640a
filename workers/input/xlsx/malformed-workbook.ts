// How the failures of a workbook are told: which rule it breaks, and nothing of what it holds.
import { Failed } from '../../protocol/failure.ts';

/** @param reason continues "The workbook is damaged: " */
export function malformedWorkbook(reason: string): Failed {
  return new Failed('MALFORMED_FILE', `The workbook is damaged: ${reason}.`);
}
