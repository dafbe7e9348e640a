// Which texts of a sample stood there before, by digests of them, of all its columns and of its rows. What they take of memory is
// bounded as a whole, however large the sample and its cells are.

/** Digests of one sample: some 40 bytes each in a set, so 40 MB. */
const DIGESTS_MAX = 1_000_000;

/** Room for the digests of one sample. Where it is short, the last of those who keep some is given up. */
export class DigestRoom {
  readonly #keepers: RepeatCounter[] = [];
  readonly #digestsMax: number;
  #kept = 0;

  constructor(digestsMax: number = DIGESTS_MAX) {
    this.#digestsMax = digestsMax;
  }

  /** The earlier a counter is asked for, the later it is given up. */
  counter(): RepeatCounter {
    const counter = new RepeatCounter(this);
    this.#keepers.push(counter);
    return counter;
  }

  take(): void {
    this.#kept++;
    while (this.#kept > this.#digestsMax) this.#kept -= this.#keepers.pop()!.giveUp();
  }
}

export class RepeatCounter {
  readonly #room: DigestRoom;
  #digests: Set<number> | null = new Set();
  #repeats = 0;

  constructor(room: DigestRoom) {
    this.#room = room;
  }

  add(text: string): void {
    if (this.#digests === null) return;
    const digest = digestOf(text);
    if (this.#digests.has(digest)) {
      this.#repeats++;
      return;
    }
    this.#digests.add(digest);
    this.#room.take();
  }

  /** Whether the text was there; false, too, where there are too many to tell. */
  has(text: string): boolean {
    return this.#digests?.has(digestOf(text)) ?? false;
  }

  /** Texts that were there before; null: too many to tell. */
  get repeats(): number | null {
    return this.#digests === null ? null : this.#repeats;
  }

  /** @returns how many digests it kept */
  giveUp(): number {
    const kept = this.#digests?.size ?? 0;
    this.#digests = null;
    return kept;
  }
}

/**
 * 53 bits of a text, by two sums of 32 bits over its UTF-16 (cyrb53 of bryc, in the public domain). Of a million texts two have one by
 * chance in one sample of 18,000; what is made of it is only offered.
 */
function digestOf(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}
