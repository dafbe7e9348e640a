// A growing set of keys in the Run's memory that knows of each key only whether it was there. It holds fingerprints of 128
// bits and not the keys: 12 bytes for each and 16 to 32 for its slots, however long a key is. It asks the budget for room
// and says when it is refused; what then happens is its owner's business.
//
// Two different keys are taken for one where their fingerprints are equal. These are SipHash-2-4 under random bits that no
// other set has and that show in nothing: whatever is uploaded, n keys hold such a pair with a probability of
// n² / 2^129, for a hundred million keys 1.5e-23. A machine's memory fails undetected far more often.
import { randomFillSync } from 'node:crypto';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { ABSENT, PRINT_BYTES, PRINT_SLOT_BYTES, REST_BYTES } from '../../kernel/layout/keys.ts';
import type { Heap } from '../../memory/heap.ts';
import { TableStorage } from './table-storage.ts';

/** In place of a number for keys that are not there; others get one that no new key has. */
export const PRINT_ABSENT = ABSENT;

/** The keys of a row list: views by physical row, and fingerprints and ids (u32) by position. */
export interface PrintList {
  readonly views: number;
  readonly rows: number;
  readonly count: number;
  readonly prints: number;
  readonly ids: number;
}

export class FingerprintSet {
  readonly #heap: Heap;
  readonly #kernel: Kernel;
  readonly #room: TableStorage;
  readonly #secret: number;

  constructor(heap: Heap, kernel: Kernel) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#room = new TableStorage(heap, PRINT_SLOT_BYTES, kernel.exports.movePrints);
    this.#secret = heap.allocate(PRINT_BYTES);
    randomFillSync(heap.u8, this.#secret, PRINT_BYTES);
  }

  /** Keys held. */
  get count(): number {
    return this.#room.count;
  }

  /** Growth that may not be refused from now on, or may. */
  set forced(forced: boolean) {
    this.#room.forced = forced;
  }

  /** Forgets all keys; the memory stays for the next ones. */
  clear(): void {
    this.#room.clear();
  }

  /** Makes the fingerprints and reads ahead the slots that they need. */
  fingerprint({ views, rows, count, prints }: PrintList): void {
    const { exports } = this.#kernel;
    exports.fingerprintViews(views, rows, count, this.#secret, prints);
    exports.touchPrints(this.#room.header, prints, count);
  }

  /**
   * Adds the keys from position `from` on; `fingerprint` comes first. The ids of new ones are their numbers, in the order of
   * adding. Gives the position reached: less than `count` when the budget refused to let the set grow.
   */
  add({ prints, count, ids }: PrintList, from = 0): number {
    for (let at = from; ; ) {
      at = this.#kernel.exports.addPrints(this.#room.header, prints, at, count, ids);
      if (at === count || !this.#room.grow(REST_BYTES)) return at;
    }
  }

  /** Looks the keys up: those that are not there get PRINT_ABSENT. */
  find({ prints, count, ids }: PrintList, from = 0): void {
    this.#kernel.exports.findPrints(this.#room.header, prints, from, count, ids);
  }

  /** The bits of a position's key that part files. */
  partition({ prints }: PrintList, position: number): number {
    return this.#heap.u32[(prints + position * PRINT_BYTES + 4) >>> 2]!;
  }
}
