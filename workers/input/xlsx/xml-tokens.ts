// Splits XML bytes into tags and texts without creating objects. Names are returned without their prefix. Document
// types are refused, so there are no custom entities.
import { malformedWorkbook, XML_DEPTH_MAX } from './limits.ts';
import type { XmlWindow } from './xml-window.ts';

export const MORE = 0;
export const OPEN = 1;
/** An element without content: no CLOSE follows. */
export const EMPTY = 2;
export const CLOSE = 3;
export const TEXT = 4;
export const END = 5;

/** Bit of `textFlags`: the text contains `&` or CR. */
export const FLAG_ENTITY = 1;
/** Bit of `textFlags`: the text contains `_`, which may begin `_x000D_`. */
export const FLAG_UNDERSCORE = 2;

const LESS = 0x3c;
const GREATER = 0x3e;
const SLASH = 0x2f;
const COLON = 0x3a;
const EQUALS = 0x3d;
const BANG = 0x21;
const QUESTION = 0x3f;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const SPACE = 0x20;

const FLAG_STOP = 4;
const TEXT_FLAGS = new Uint8Array(256);
TEXT_FLAGS[LESS] = FLAG_STOP;
TEXT_FLAGS[0x26] = FLAG_ENTITY;
TEXT_FLAGS[0x0d] = FLAG_ENTITY;
TEXT_FLAGS[0x5f] = FLAG_UNDERSCORE;

const CDATA_START = Buffer.from('<![CDATA[');

export class XmlTokens {
  readonly window: XmlWindow;
  bytes: Buffer;
  /** True if a `refill` is still pending. */
  isStarved = false;
  /** Position after the token. */
  at = 0;
  depth = 0;
  /** For a tag: its name without prefix, and the end of its attributes. For a text: the text. */
  start = 0;
  end = 0;
  attributesEnd = 0;
  textFlags = 0;
  /** For an attribute: its name without prefix, and its value between the quotes. */
  nameStart = 0;
  nameEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  #attributeAt = 0;
  /** Expected closing tags: first byte and length of the name of each open element. */
  readonly #open = new Uint32Array(XML_DEPTH_MAX + 1);

  constructor(window: XmlWindow) {
    this.window = window;
    this.bytes = window.bytes;
  }

  /**
   * Requests more bytes and keeps those from `from` on, which move to position 0. Returns false if no bytes are
   * available: await `wait`, then call `refill` with 0 until it returns true.
   */
  refill(from: number): boolean {
    this.at -= from;
    this.isStarved = !this.window.refill(from);
    this.bytes = this.window.bytes;
    return !this.isStarved;
  }

  /** Returns the next token. MORE means that nothing has changed and that `refill` is needed. */
  next(): number {
    const { bytes } = this;
    const limit = this.window.end;
    for (;;) {
      const at = this.at;
      if (at >= limit) return this.#atLimit();
      if (bytes[at] !== LESS) return this.#text(at, limit);
      if (at + 1 >= limit) return this.#atLimit();
      const second = bytes[at + 1]!;
      if (second === BANG || second === QUESTION) {
        const token = this.#special(at, limit, second);
        if (token < 0) continue;
        return token;
      }
      return second === SLASH ? this.#close(at + 2, limit) : this.#openTag(at + 1, limit);
    }
  }

  /** Called after another reader has advanced: sets the number of open elements and the name of the innermost one. */
  setOpen(depth: number, name: string): void {
    this.depth = depth;
    this.#open[depth - 1] = (name.length << 8) | name.charCodeAt(0);
  }

  /** True if the tag has this name. */
  is(name: string): boolean {
    return this.#equals(this.start, this.end, name);
  }

  /** Moves to the next attribute of the tag. Returns false after the last one. */
  nextAttribute(): boolean {
    const { bytes } = this;
    const end = this.attributesEnd;
    let at = this.#attributeAt;
    while (at < end && bytes[at]! <= SPACE) at++;
    if (at >= end) return false;
    this.nameStart = at;
    while (at < end && bytes[at] !== EQUALS && bytes[at]! > SPACE) {
      if (bytes[at] === COLON) this.nameStart = at + 1;
      at++;
    }
    this.nameEnd = at;
    while (at < end && bytes[at]! <= SPACE) at++;
    if (bytes[at] !== EQUALS) throw malformedWorkbook('an attribute lacks its value');
    at++;
    while (at < end && bytes[at]! <= SPACE) at++;
    const quote = bytes[at];
    if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) throw malformedWorkbook('an attribute lacks its quotes');
    at++;
    this.valueStart = at;
    while (at < end && bytes[at] !== quote) at++;
    this.valueEnd = at;
    this.#attributeAt = at + 1;
    return true;
  }

  attributeIs(name: string): boolean {
    return this.#equals(this.nameStart, this.nameEnd, name);
  }

  valueIs(value: string): boolean {
    return this.#equals(this.valueStart, this.valueEnd, value);
  }

  #equals(start: number, end: number, text: string): boolean {
    if (end - start !== text.length) return false;
    for (let index = 0; index < text.length; index++) {
      if (this.bytes[start + index] !== text.charCodeAt(index)) return false;
    }
    return true;
  }

  #atLimit(): number {
    if (!this.window.isLast) return MORE;
    if (this.at < this.window.end || this.depth > 0) throw malformedWorkbook('a part is cut off');
    return END;
  }

  #text(at: number, limit: number): number {
    const { bytes } = this;
    let end = at;
    let flags = 0;
    for (; end < limit; end++) {
      const flag = TEXT_FLAGS[bytes[end]!]!;
      if (flag === FLAG_STOP) break;
      flags |= flag;
    }
    if (end === limit && !this.window.isLast) return MORE;
    this.start = at;
    this.end = end;
    this.at = end;
    this.textFlags = flags;
    return TEXT;
  }

  #openTag(nameAt: number, limit: number): number {
    const { bytes } = this;
    let at = nameAt;
    let start = nameAt;
    for (; at < limit; at++) {
      const byte = bytes[at]!;
      if (byte <= SPACE || byte === GREATER || byte === SLASH) break;
      if (byte === COLON) start = at + 1;
    }
    const nameEnd = at;
    for (; at < limit && bytes[at] !== GREATER; at++) {
      const quote = bytes[at]!;
      if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) continue;
      at++;
      while (at < limit && bytes[at] !== quote) at++;
    }
    if (at >= limit) return this.#atLimit();
    const isEmpty = bytes[at - 1] === SLASH;
    if (nameEnd === start) throw malformedWorkbook('a tag lacks its name');
    if (!isEmpty) {
      if (this.depth >= XML_DEPTH_MAX) throw malformedWorkbook('elements are nested too deeply');
      this.#open[this.depth++] = ((nameEnd - start) << 8) | bytes[start]!;
    }
    this.start = start;
    this.end = nameEnd;
    this.#attributeAt = nameEnd;
    this.attributesEnd = isEmpty ? at - 1 : at;
    this.at = at + 1;
    return isEmpty ? EMPTY : OPEN;
  }

  #close(nameAt: number, limit: number): number {
    const { bytes } = this;
    let at = nameAt;
    let start = nameAt;
    for (; at < limit && bytes[at] !== GREATER; at++) if (bytes[at] === COLON) start = at + 1;
    if (at >= limit) return this.#atLimit();
    let end = at;
    while (end > start && bytes[end - 1]! <= SPACE) end--;
    if (this.depth === 0 || this.#open[this.depth - 1] !== (((end - start) << 8) | bytes[start]!)) {
      throw malformedWorkbook('tags do not match');
    }
    this.depth--;
    this.start = start;
    this.end = end;
    this.at = at + 1;
    return CLOSE;
  }

  /** Skips comments and processing instructions (-1). A CDATA section is a text. */
  #special(at: number, limit: number, second: number): number {
    const { bytes } = this;
    if (second === QUESTION) return this.#passOver(at, limit, '?>', 2);
    if (limit - at < CDATA_START.length && !this.window.isLast) return MORE;
    if (bytes[at + 2] === 0x2d && bytes[at + 3] === 0x2d) return this.#passOver(at, limit, '-->', 4);
    if (bytes.compare(CDATA_START, 0, CDATA_START.length, at, Math.min(limit, at + CDATA_START.length)) !== 0) {
      throw malformedWorkbook('it has a document type, which is refused');
    }
    const start = at + CDATA_START.length;
    const found = bytes.subarray(0, limit).indexOf(']]>', start, 'latin1');
    if (found < 0) return this.#atLimit();
    this.start = start;
    this.end = found;
    this.at = found + 3;
    this.textFlags = FLAG_UNDERSCORE;
    return TEXT;
  }

  #passOver(at: number, limit: number, ending: string, from: number): number {
    const found = this.bytes.subarray(0, limit).indexOf(ending, at + from, 'latin1');
    if (found < 0) return this.#atLimit();
    this.at = found + ending.length;
    return -1;
  }
}
