// The volume of spill files when the budget refuses state: rows with long keys are written once for each time that they are
// sorted, and not additionally for each time that the budget is full.
import { type Test, test } from 'tap';
import { SpillFile } from '../../../../workers/memory/spill-file.ts';
import { aggregate } from '../../../../workers/operations/aggregate.ts';
import { dedupe } from '../../../../workers/operations/dedupe.ts';
import { runOperation } from '../../operations/harness.ts';

const ROWS = 24_000;
const KEY_BYTES = 300;
const BUDGET_BYTES = 1_500_000;

/** Each key occurs twice, with many rows between. */
const keyOf = (row: number): string => String(row % (ROWS / 2)).padStart(KEY_BYTES, 'k');
const rows = Array.from({ length: ROWS }, (_, row) => [keyOf(row), String(row)]);
const inputBytes = ROWS * (KEY_BYTES + 8);

/** Bytes that `work` writes to files. */
function spilledBytes(work: () => void): number {
  const { append } = SpillFile.prototype;
  let bytes = 0;
  SpillFile.prototype.append = function (this: SpillFile, written: Uint8Array) {
    bytes += written.length;
    append.call(this, written);
  };
  try {
    work();
  } finally {
    SpillFile.prototype.append = append;
  }
  return bytes;
}

/** @param times maximum number of times that all rows are written, including the bytes stored with them */
function holdTo(t: Test, definition: typeof dedupe, operation: object, times: number, rowsOut: number): void {
  const input = { columns: ['k', 'n'], rows };
  const bytes = spilledBytes(() => {
    const made = runOperation(definition as never, operation as never, input, {
      batchRows: 1000,
      budgetBytes: BUDGET_BYTES,
    });
    t.equal(made.rows.length, rowsOut, JSON.stringify(operation));
  });
  t.ok(bytes > inputBytes / 4, 'most rows are put off');
  t.ok(bytes < inputBytes * times, `${(bytes / inputBytes).toFixed(2)} times`);
}

test('rows with long keys', async (t) => {
  const mode = { op: 'aggregate', group_by: 'k', metrics: [{ fn: 'mode', column: 'n' }] };
  // Once in the order of the input, until there are too many keys to hold; then once to bring groups together; and the remaining
  // half once more to restore its order.
  holdTo(t, dedupe, { op: 'dedupe', by: 'k', keep: 'last' }, 3, ROWS / 2);
  holdTo(t, dedupe, { op: 'dedupe', by: 'k', keep: 'last', count_into: 'rows' }, 2, ROWS / 2);
  holdTo(t, aggregate as never, mode, 2, ROWS / 2);
});
