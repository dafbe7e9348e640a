// Turns texts of XML into what they mean: entities, line ends, and the `_x000D_` escapes of spreadsheet programs
// (ECMA-376 part 1, 22.9.2.19, ST_Xstring). Collects the pieces of one text.
import { malformedWorkbook } from './malformed-workbook.ts';
import { FLAG_ENTITY, FLAG_UNDERSCORE } from './xml-tokens.ts';

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Nearly all that there are. */
const SHORT_ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries(ENTITIES).map(([name, text]) => [`&${name};`, text]),
);

/** With its marks: `&#x10FFFF;` and some zeros. */
const ENTITY_BYTES_MAX = 14;

const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;
const LF = 10;
const CR = 13;

const ROOM_BYTES_FIRST = 4_096;

export class CollectedText {
  bytes = Buffer.allocUnsafe(ROOM_BYTES_FIRST);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  /** Adds a piece; `flags` as XmlTokens tells them. */
  add(bytes: Buffer, start: number, end: number, flags: number): void {
    const hasEscape = (flags & FLAG_UNDERSCORE) !== 0 && bytes.subarray(start, end).includes('_x', 0, 'latin1');
    if ((flags & FLAG_ENTITY) === 0 && !hasEscape) {
      this.#makeRoom(end - start);
      this.bytes.set(bytes.subarray(start, end), this.length);
      this.length += end - start;
      return;
    }
    if (!hasEscape) {
      this.#addDecoded(bytes, start, end);
      return;
    }
    let text = bytes.toString('utf8', start, end);
    if ((flags & FLAG_ENTITY) !== 0) text = decodeEntities(text);
    if (hasEscape) text = decodeEscapes(text);
    this.#makeRoom(text.length * 3);
    this.length += this.bytes.write(text, this.length);
  }

  /** Entities take more bytes than what they stand for. */
  #addDecoded(bytes: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start);
    const target = this.bytes;
    let to = this.length;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === AMPERSAND) {
        const semicolon = bytes.indexOf(SEMICOLON, at);
        const behind = semicolon < 0 || semicolon >= Math.min(end, at + ENTITY_BYTES_MAX) ? at + 1 : semicolon + 1;
        const entity = bytes.toString('latin1', at, behind);
        to += target.write(SHORT_ENTITIES.get(entity) ?? decodeEntities(entity), to);
        at = behind - 1;
      } else if (byte === CR) {
        target[to++] = LF;
        if (bytes[at + 1] === LF && at + 1 < end) at++;
      } else target[to++] = byte;
    }
    this.length = to;
  }

  #makeRoom(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + more));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}

/** Throws Failed for an entity that XML does not have by itself. */
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

/** `_x000D_` is the character of that number. Halves of a character that stand alone stay as they are written. */
function decodeEscapes(text: string): string {
  const decoded = text.replace(/_x([0-9a-fA-F]{4})_/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return /\p{Surrogate}/u.test(decoded) ? text : decoded;
}
