// Times as texts (RFC 3339 in UTC, with milliseconds), as answers and the log have them. A small Run writes half a dozen of
// them, and the engine takes a microsecond for each: here a second's text is made once.

/** Texts kept: those of the present second, and of the one in which what is stored now expires. */
const SECONDS_MAX = 4;

/** From the point on, by millisecond. */
const ENDS = Array.from({ length: 1000 }, (_, millisecond) => `.${String(millisecond).padStart(3, '0')}Z`);

export class TimeTexts {
  /** By second since 1970, the text up to its point. */
  #texts = new Map<number, string>();

  /** As Date.toISOString of whole milliseconds since 1970. */
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
