// Decodes XML texts: entities, line ends, and the `_x000D_` escapes of spreadsheet programs (ECMA-376 part 1,
// 22.9.2.19, ST_Xstring). Collects the pieces of one text.
import { malformedWorkbook } from './limits.ts';
import { FLAG_ENTITY, FLAG_UNDERSCORE } from './xml-tokens.ts';

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Nearly all entities that occur. */
const SHORT_ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries(ENTITIES).map(([name, text]) => [`&${name};`, text]),
);

/** Maximum length of an entity, with its delimiters: `&#x10FFFF;` and some leading zeros. */
const ENTITY_BYTES_MAX = 14;

const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;
const LF = 10;
const CR = 13;

const UNDERSCORE = 0x5f;
const LETTER_X = 0x78;

/** Length of `_x000D_`. */
const ESCAPE_BYTES = 7;

const CAPACITY_BYTES_FIRST = 4_096;

export class CollectedText {
  bytes = Buffer.allocUnsafe(CAPACITY_BYTES_FIRST);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  /** Adds a piece. `flags` are those of XmlTokens. */
  add(bytes: Buffer, start: number, end: number, flags: number): void {
    const hasEscape = (flags & FLAG_UNDERSCORE) !== 0 && bytes.subarray(start, end).includes('_x', 0, 'latin1');
    if ((flags & FLAG_ENTITY) === 0 && !hasEscape) {
      this.#makeSpace(end - start);
      this.bytes.set(bytes.subarray(start, end), this.length);
      this.length += end - start;
      return;
    }
    if (!hasEscape) {
      this.#addDecoded(bytes, start, end);
      return;
    }
    const from = this.length;
    this.#addDecoded(bytes, start, end);
    this.length = decodeEscapes(this.bytes, from, this.length);
  }

  /** An entity is longer than the character it encodes, so the space is sufficient. */
  #addDecoded(bytes: Buffer, start: number, end: number): void {
    this.#makeSpace(end - start);
    const target = this.bytes;
    let to = this.length;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === AMPERSAND) {
        const semicolon = bytes.indexOf(SEMICOLON, at);
        const after = semicolon < 0 || semicolon >= Math.min(end, at + ENTITY_BYTES_MAX) ? at + 1 : semicolon + 1;
        const entity = bytes.toString('latin1', at, after);
        to += target.write(SHORT_ENTITIES.get(entity) ?? decodeEntities(entity), to);
        at = after - 1;
      } else if (byte === CR) {
        target[to++] = LF;
        if (bytes[at + 1] === LF && at + 1 < end) at++;
      } else target[to++] = byte;
    }
    this.length = to;
  }

  #makeSpace(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + more));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}

/** Throws Failed for an entity that XML does not predefine. */
export function decodeEntities(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/&([^;&]{0,12};?)/g, (_, body: string) => {
    const name = body.endsWith(';') ? body.slice(0, -1) : '';
    const number = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
    const code = number === null ? -1 : number[1] === undefined ? Number(number[2]) : Number.parseInt(number[1], 16);
    if (code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)) return String.fromCodePoint(code);
    const known = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
    if (known === undefined) throw malformedWorkbook('it has an entity that XML does not know');
    return known;
  });
}

/**
 * Decodes `_x000D_` to the character with that number, in place. A text with an unpaired surrogate stays unchanged.
 * @returns the end of the decoded text
 */
function decodeEscapes(bytes: Buffer, start: number, end: number): number {
  let to = start;
  if (hasUnpairedSurrogate(bytes, start, end)) return end;
  for (let at = start; at < end; ) {
    const unit = escapedUnit(bytes, at, end);
    if (unit < 0) {
      bytes[to++] = bytes[at++]!;
      continue;
    }
    at += ESCAPE_BYTES;
    if (isHighSurrogate(unit)) {
      to = writeCharacter(bytes, to, 0x10000 + ((unit - 0xd800) << 10) + escapedUnit(bytes, at, end) - 0xdc00);
      at += ESCAPE_BYTES;
    } else to = writeCharacter(bytes, to, unit);
  }
  return to;
}

function hasUnpairedSurrogate(bytes: Buffer, start: number, end: number): boolean {
  for (let at = bytes.indexOf(UNDERSCORE, start); at >= 0 && at < end; at = bytes.indexOf(UNDERSCORE, at)) {
    const unit = escapedUnit(bytes, at, end);
    at += unit < 0 ? 1 : ESCAPE_BYTES;
    if (isLowSurrogate(unit)) return true;
    if (!isHighSurrogate(unit)) continue;
    if (!isLowSurrogate(escapedUnit(bytes, at, end))) return true;
    at += ESCAPE_BYTES;
  }
  return false;
}

/** Returns the UTF-16 unit that `_xHHHH_` at this position encodes, or -1 if no such escape begins here. */
function escapedUnit(bytes: Buffer, at: number, end: number): number {
  if (at + ESCAPE_BYTES > end || bytes[at] !== UNDERSCORE || bytes[at + 1] !== LETTER_X) return -1;
  if (bytes[at + ESCAPE_BYTES - 1] !== UNDERSCORE) return -1;
  let unit = 0;
  for (let digitAt = at + 2; digitAt < at + ESCAPE_BYTES - 1; digitAt++) {
    const digit = hexDigit(bytes[digitAt]!);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** Writes a character as UTF-8 and returns the position after it. */
function writeCharacter(bytes: Buffer, at: number, code: number): number {
  let to = at;
  if (code < 0x80) {
    bytes[to++] = code;
    return to;
  }
  if (code < 0x800) bytes[to++] = 0xc0 | (code >>> 6);
  else {
    if (code < 0x10000) bytes[to++] = 0xe0 | (code >>> 12);
    else {
      bytes[to++] = 0xf0 | (code >>> 18);
      bytes[to++] = 0x80 | ((code >>> 12) & 63);
    }
    bytes[to++] = 0x80 | ((code >>> 6) & 63);
  }
  bytes[to++] = 0x80 | (code & 63);
  return to;
}
