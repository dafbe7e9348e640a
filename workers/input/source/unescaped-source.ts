// Rewrites a CSV with backslash escapes to one with doubled quotes, which the readers support: cells with an escape are
// quoted, and escapes are replaced by the characters that they mean. docs/reference/input.md describes each escape.
import { ConvertedSource } from './converted-source.ts';
import type { ByteSource } from './source.ts';

const LF = 10;
const CR = 13;
const BACKSLASH = 0x5c;
const UPPER_N = 0x4e;
const DOUBLE_QUOTE = 0x22;

/** Ctrl-Z, which may be an end-of-text mark. It is left unchanged at the start of a cell. */
const END_MARK = 0x1a;

/** Bytes read at a time. */
const PIECE_BYTES = 65_536;

/** Maximum number of output bytes per input byte: an opening quote, a backslash, a doubled quote, a closing quote. */
const GROWTH_BYTES_MAX = 6;

/** Meaning of the letters n, t, r, b after a backslash in cells without quotes. */
const CONTROLS: ReadonlyMap<number, number> = new Map([
  [0x6e, LF],
  [0x74, 9],
  [0x72, CR],
  [0x62, 8],
]);

export interface EscapeForm {
  /** One ASCII character. */
  readonly delimiter: string;
  /** One ASCII character, or '' for no quote. */
  readonly quote: string;
  /** True if `\N` as a whole cell stays a text. Otherwise it becomes an empty cell. */
  readonly keepsNull: boolean;
}

/** Quote of the rewritten text. */
export function quoteBehindEscapes({ quote }: Pick<EscapeForm, 'quote'>): string {
  return quote === '' ? '"' : quote;
}

/**
 * States of the current cell. `start`: at its start. `plain`: without quotes. `quoted`: inside quotes. `closed`: after
 * a quote in a quoted cell. `stray`: text after a closing quote. `null`: after `\N` at the start of a cell. `return`:
 * after an escaped CR, whose LF is also escaped. The two `escape` states follow a backslash.
 */
type State =
  | 'start'
  | 'plain'
  | 'quoted'
  | 'closed'
  | 'stray'
  | 'null'
  | 'return'
  | 'escape'
  | 'quoted escape'
  | 'quoted return';

/** Rewrites text piece by piece. A cell may begin in one piece and end in another. */
class Rewriter {
  readonly #delimiter: number;
  /** -1 for no quote. */
  readonly #quote: number;
  readonly #written: number;
  readonly #keepsNull: boolean;
  /** True if letters after a backslash mean control characters in cells without quotes. */
  readonly #hasControls: boolean;
  #state: State = 'start';
  /** True if nothing has been written for the current cell. */
  #isFirst = true;
  #target = new Uint8Array(0);
  #at = 0;

  constructor(form: EscapeForm) {
    this.#delimiter = form.delimiter.charCodeAt(0);
    this.#quote = form.quote === '' ? -1 : form.quote.charCodeAt(0);
    this.#written = form.quote === '' ? DOUBLE_QUOTE : form.quote.charCodeAt(0);
    this.#keepsNull = form.keepsNull;
    this.#hasControls = form.quote === '' || form.delimiter === '\t';
  }

  /** @param isEnd whether no bytes follow */
  rewrite(bytes: Uint8Array, isEnd: boolean): Uint8Array {
    const most = bytes.length * GROWTH_BYTES_MAX + GROWTH_BYTES_MAX;
    if (this.#target.length < most) this.#target = new Uint8Array(most);
    this.#at = 0;
    for (let at = 0; at < bytes.length; at++) this.#take(bytes[at]!);
    if (isEnd) this.#end();
    return this.#target.subarray(0, this.#at);
  }

  #take(byte: number): void {
    switch (this.#state) {
      case 'start':
        this.#isFirst = true;
        if (byte === this.#quote) {
          this.#put(byte);
          this.#state = 'quoted';
        } else if (byte === END_MARK) this.#put(byte);
        else this.#takePlain(byte);
        break;
      case 'return':
        this.#state = 'plain';
        if (byte === LF) this.#put(LF);
        else this.#takePlain(byte);
        break;
      case 'plain':
        this.#takePlain(byte);
        break;
      case 'escape':
        this.#takeEscaped(byte);
        break;
      case 'null':
        this.#takeAfterNull(byte);
        break;
      case 'quoted return':
        this.#state = 'quoted';
        if (byte === LF) this.#put(LF);
        else this.#takeQuoted(byte);
        break;
      case 'quoted':
        this.#takeQuoted(byte);
        break;
      case 'quoted escape':
        this.#takeQuotedEscape(byte);
        break;
      default:
        this.#takeAfterQuote(byte);
    }
  }

  #takePlain(byte: number): void {
    if (this.#endsCell(byte)) this.#endCell(byte);
    else if (byte === BACKSLASH) this.#state = 'escape';
    else {
      this.#putText(byte);
      this.#state = 'plain';
    }
  }

  #takeEscaped(byte: number): void {
    const control = this.#hasControls ? CONTROLS.get(byte) : undefined;
    this.#state = byte === CR ? 'return' : 'plain';
    if (byte === UPPER_N && this.#isFirst) this.#state = 'null';
    else if (control !== undefined) this.#putText(control);
    else if (this.#isEscapable(byte)) this.#putText(byte);
    else {
      this.#putText(BACKSLASH);
      this.#putText(byte);
    }
  }

  /** `\N` is a whole cell if the cell ends after it. */
  #takeAfterNull(byte: number): void {
    this.#state = 'plain';
    if (!this.#endsCell(byte) || this.#keepsNull) {
      this.#putText(BACKSLASH);
      this.#putText(UPPER_N);
    }
    this.#takePlain(byte);
  }

  #takeQuoted(byte: number): void {
    if (byte === BACKSLASH) this.#state = 'quoted escape';
    else if (byte === this.#quote) this.#state = 'closed';
    else this.#put(byte);
  }

  #takeQuotedEscape(byte: number): void {
    this.#state = byte === CR ? 'quoted return' : 'quoted';
    if (!this.#isEscapable(byte)) this.#put(BACKSLASH);
    if (byte === this.#quote) this.#put(byte);
    this.#put(byte);
  }

  #takeAfterQuote(byte: number): void {
    const isClosed = this.#state === 'closed';
    if (isClosed && byte === this.#quote) {
      this.#put(byte);
      this.#put(byte);
      this.#state = 'quoted';
      return;
    }
    if (isClosed) this.#put(this.#quote);
    this.#put(byte);
    this.#state = this.#endsCell(byte) ? 'start' : 'stray';
  }

  #isEscapable(byte: number): boolean {
    return byte === BACKSLASH || byte === this.#written || this.#endsCell(byte);
  }

  #endsCell(byte: number): boolean {
    return byte === this.#delimiter || byte === LF || byte === CR;
  }

  #endCell(byte: number): void {
    if (!this.#isFirst) this.#put(this.#written);
    this.#put(byte);
    this.#state = 'start';
    this.#isFirst = true;
  }

  #end(): void {
    if (this.#state === 'closed') this.#put(this.#quote);
    if (this.#state === 'quoted escape') this.#put(BACKSLASH);
    if (this.#state === 'escape') this.#putText(BACKSLASH);
    if (this.#state === 'null' && this.#keepsNull) {
      this.#putText(BACKSLASH);
      this.#putText(UPPER_N);
    }
    const isPlain =
      this.#state === 'plain' || this.#state === 'return' || this.#state === 'escape' || this.#state === 'null';
    if (isPlain && !this.#isFirst) this.#put(this.#written);
    this.#state = 'start';
  }

  /**
   * Writes a byte of a cell that has no quotes in the file. The rewritten cell is quoted, which does not change its
   * meaning.
   */
  #putText(byte: number): void {
    if (this.#isFirst) this.#put(this.#written);
    this.#isFirst = false;
    if (byte === this.#written) this.#put(byte);
    this.#put(byte);
  }

  #put(byte: number): void {
    this.#target[this.#at++] = byte;
  }
}

export class UnescapedSource extends ConvertedSource {
  readonly #rewriter: Rewriter;
  readonly #piece = new Uint8Array(PIECE_BYTES);
  #isEnded = false;

  constructor(inner: ByteSource, form: EscapeForm) {
    super(inner);
    this.#rewriter = new Rewriter(form);
  }

  protected get isConverted(): boolean {
    return this.#isEnded;
  }

  protected convert(): Uint8Array | null {
    const bytes = this.inner.read(this.#piece);
    const isEnd = bytes === 0 && this.inner.ended && !this.#isEnded;
    const made = this.#rewriter.rewrite(this.#piece.subarray(0, bytes), isEnd);
    this.#isEnded ||= isEnd;
    return bytes === 0 && made.length === 0 ? null : made;
  }
}

/**
 * Rewrites the first part of a file.
 * @param ended whether the bytes are the whole file
 */
export function unescaped(bytes: Uint8Array, ended: boolean, form: EscapeForm): Uint8Array {
  return Buffer.from(new Rewriter(form).rewrite(bytes, ended));
}
