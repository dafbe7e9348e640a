// The failure of `formula_guard: fail`.
import { Failed } from '../../protocol/failure.ts';

/**
 * TEMPLATE_CHECK_FAILED: `formula_guard: fail` is a check that the Template asks for on its result; no operation and none
 * of the row error codes stand behind it. The column is named by its place: its name may come from the file.
 *
 * @param sourceRow null for the header
 */
export function formulaRefusal(column: number, sourceRow: number | null): Failed {
  const place = sourceRow === null ? 'the header' : `source row ${sourceRow}`;
  return new Failed(
    'TEMPLATE_CHECK_FAILED',
    `A spreadsheet could take column ${column + 1} of the output in ${place} for a formula (formula_guard: fail).`,
  );
}
