// Keys of rows for those who only ask which are equal: a long key is replaced by its fingerprint, so that files of rows that
// are put off do not carry it beside the cells that it is made of. Two keys get one fingerprint as seldom as in a FingerprintSet.
import { randomFillSync } from 'node:crypto';
import type { Batch } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { PRINT_BYTES } from '../../kernel/layout/keys.ts';
import type { OperatorContext } from '../../operations/operation.ts';

/** Keys above this are long. Short ones keep their order, which groups often have in the file already. */
const SHORT_KEY_BYTES_MAX = 48;

export class KeyShortener {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel'>;
  readonly #secret: number;

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel'>) {
    const { heap } = context.arena;
    this.#context = context;
    this.#secret = heap.allocate(PRINT_BYTES);
    randomFillSync(heap.u8, this.#secret, PRINT_BYTES);
  }

  /**
   * Gives back the keys, 0 when the arena is full.
   * @param keys views by physical row of all live rows, changed in place; 0 when the arena was full
   */
  shortened(batch: Batch, keys: number): number {
    const { arena, kernel } = this.#context;
    const { u32 } = arena.heap;
    let count = 0;
    const rows = keys === 0 ? 0 : arena.tryTake(batch.live * 4);
    if (rows === 0) return 0;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      if (u32[((keys + row * VIEW_BYTES) >>> 2) + 1]! > SHORT_KEY_BYTES_MAX) u32[(rows >>> 2) + count++] = row;
    }
    if (count === 0) return keys;
    const prints = arena.tryTake(count * PRINT_BYTES);
    if (prints === 0) return 0;
    kernel.exports.fingerprintViews(keys, rows, count, this.#secret, prints);
    for (let i = 0; i < count; i++) {
      const view = (keys + u32[(rows >>> 2) + i]! * VIEW_BYTES) >>> 2;
      u32[view] = prints + i * PRINT_BYTES;
      u32[view + 1] = PRINT_BYTES;
    }
    return keys;
  }
}
