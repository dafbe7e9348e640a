// Leaves out the spaces between a delimiter and an opening quote (`1, "Anna, A."`), so that the lanes find the quote where
// a field begins. Everything else passes as it is, line breaks too: lines keep their numbers.
import { ConvertedSource } from './converted-source.ts';
import type { ByteSource } from './source.ts';

const LF = 10;
const CR = 13;
const SPACE = 0x20;

/** More of them are no way to set columns off, but the text of a field. */
const SPACES_MAX = 64;

/** Bytes looked at at a time. */
const PIECE_BYTES = 65_536;

/** Where a byte stands: at the start of a field, in one, between its quotes, behind a quote that may be the closing one. */
type State = 'start' | 'field' | 'quoted' | 'quote';

export class UnspacedSource extends ConvertedSource {
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #piece = new Uint8Array(SPACES_MAX + PIECE_BYTES);
  #state: State = 'start';
  /** Spaces at the start of the field that may still turn out to stand before a quote. */
  #spaces = 0;

  /** @param delimiter and quote: one character of ASCII each */
  constructor(inner: ByteSource, { delimiter, quote }: { readonly delimiter: string; readonly quote: string }) {
    super(inner);
    this.#delimiter = delimiter.charCodeAt(0);
    this.#quote = quote.charCodeAt(0);
  }

  protected get isConverted(): boolean {
    return this.inner.ended && this.#spaces === 0;
  }

  protected convert(): Uint8Array {
    const piece = this.#piece;
    for (;;) {
      // What was held back comes before what is read now.
      const bytes = this.inner.read(piece.subarray(SPACES_MAX));
      const isEnd = bytes === 0 && this.inner.ended;
      const made = piece.subarray(0, isEnd ? this.#putSpaces(piece, 0) : this.#filter(bytes));
      if (bytes === 0 || made.length > 0) return made;
    }
  }

  /** Moves what stays of the bytes behind the place of the spaces to the front; gives how many. */
  #filter(bytes: number): number {
    const target = this.#piece;
    const [delimiter, quote] = [this.#delimiter, this.#quote];
    let state = this.#state;
    let at = 0;
    for (let next = SPACES_MAX; next < SPACES_MAX + bytes; next++) {
      const byte = target[next]!;
      if (state === 'start') {
        if (byte === SPACE && this.#spaces < SPACES_MAX) {
          this.#spaces++;
          continue;
        }
        if (byte === quote) this.#spaces = 0;
        at += this.#putSpaces(target, at);
        state = byte === quote ? 'quoted' : 'field';
      } else if (byte === quote) {
        if (state === 'quoted') state = 'quote';
        else if (state === 'quote') state = 'quoted';
      } else if (state === 'quote') state = 'field';
      if (state === 'field' && (byte === delimiter || byte === LF || byte === CR)) state = 'start';
      target[at++] = byte;
    }
    this.#state = state;
    return at;
  }

  #putSpaces(target: Uint8Array, at: number): number {
    const spaces = this.#spaces;
    target.fill(SPACE, at, at + spaces);
    this.#spaces = 0;
    return spaces;
  }
}
