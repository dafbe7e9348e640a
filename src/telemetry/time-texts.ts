// Times as texts (RFC 3339 in UTC, with milliseconds) for responses and the log. A small Run writes half a dozen of
// them, and formatting takes a microsecond each. Therefore the text of a second is cached.

/** Number of cached texts: the current second, and the second in which data stored now expires. */
const SECONDS_MAX = 4;

/** Ends of the texts from the decimal point on, by millisecond. */
const ENDS = Array.from({ length: 1000 }, (_, millisecond) => `.${String(millisecond).padStart(3, '0')}Z`);

export class TimeTexts {
  /** Texts up to the decimal point, by second since 1970. */
  #texts = new Map<number, string>();

  /** Same as Date.toISOString for whole milliseconds since 1970. */
  of(milliseconds: number): string {
    const second = Math.floor(milliseconds / 1000);
    const text = this.#texts.get(second) ?? this.#make(second);
    return text + ENDS[milliseconds - second * 1000]!;
  }

  #make(second: number): string {
    const text = new Date(second * 1000).toISOString().slice(0, -'.000Z'.length);
    if (this.#texts.size === SECONDS_MAX) this.#texts.delete(this.#texts.keys().next().value!);
    this.#texts.set(second, text);
    return text;
  }
}
