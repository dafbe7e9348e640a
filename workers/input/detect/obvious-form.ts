// Recognises a file that leaves no doubt, as most do, by the bytes of its first part: one usual delimiter in the first line,
// all records of one length, no odd quote. A text of it would cost a small file more than all else that is done with it.
import type { Heap } from '../../memory/heap.ts';
import type { Sliced } from '../../run/time-slices.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import { type EvenCut, evenCut } from './even-cut.ts';
import type { NamedRow } from './header-row.ts';
import { bestNamed, type CellPlaces } from './named-records.ts';
import type { SampleScanner } from './scan-text.ts';

const LF = 10;
const CR = 13;
const QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const SPACE = 0x20;

const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const TABULATOR = 0x09;
const BAR = 0x7c;

export interface ObviousForm {
  readonly delimiter: string;
  /**
   * 0-based record with the most names that are looked for, the first of such; null where none has any, and where the lines
   * beside it may belong to the header, too.
   */
  readonly headerRow: number | null;
}

/**
 * @param expected the names to look for; null: none
 * @returns null where there is any doubt
 */
export function* obviousForm(scanner: SampleScanner, expected: ExpectedHeaders | null): Sliced<ObviousForm | null> {
  const found = onlyCut(scanner);
  if (found === null) return null;
  const { delimiter, cut } = found;
  if (expected === null) return { delimiter, headerRow: null };
  const places = new EvenPlaces(cut, scanner.tools.arena.heap);
  return { delimiter, headerRow: yield* namedRow(places, expected, delimiter) };
}

interface Found {
  readonly delimiter: string;
  readonly cut: EvenCut;
}

/** The one delimiter of the first line that cuts all records alike; null where none does, or several do. */
function onlyCut(scanner: SampleScanner): Found | null {
  const delimiters = usualDelimiters(scanner.bytes);
  const only = delimiters.length === 1;
  let found: Found | null = null;
  // The last cut stays in the arena: the one that is found must be it.
  let isLast = false;
  for (const delimiter of delimiters) {
    const cut = evenCut(scanner, delimiter);
    isLast = cut !== null;
    // Of one record nobody can say which of its marks cuts it.
    if (cut === null || (!only && cut.rows === 1)) continue;
    if (found !== null) return null;
    found = { delimiter, cut };
  }
  if (found === null || isLast) return found;
  const cut = evenCut(scanner, found.delimiter);
  return cut === null ? null : { ...found, cut };
}

/** Those of the first line; none where a field begins with a single quote, which may be the file's mark. */
function usualDelimiters(bytes: Uint8Array): string[] {
  const found: string[] = [];
  let isStart = true;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === LF || byte === CR) break;
    if (byte === SINGLE_QUOTE && isStart) return [];
    const isDelimiter = byte === COMMA || byte === SEMICOLON || byte === TABULATOR || byte === BAR;
    isStart = isDelimiter || (isStart && byte === SPACE);
    if (!isDelimiter) continue;
    const delimiter = String.fromCharCode(byte);
    if (!found.includes(delimiter)) found.push(delimiter);
  }
  return found;
}

/** The first record with the most names; null where it may be one line of several. */
function* namedRow(places: CellPlaces, expected: ExpectedHeaders, delimiter: string): Sliced<number | null> {
  const best = yield* bestNamed(places, expected, delimiter);
  return best === null || isOneOfSeveral(places, expected, best) ? null : best.row;
}

/** Names are missing, and titles of groups may be to blame, which leave gaps; or most names are missing. */
function isOneOfSeveral(places: CellPlaces, { columns }: ExpectedHeaders, { row, hits }: NamedRow): boolean {
  if (hits >= columns) return false;
  return hits * 2 < columns || hasGap(places, row) || (row > 0 && hasGap(places, row - 1));
}

function hasGap(places: CellPlaces, record: number): boolean {
  for (let cell = places.firstCell(record); cell < places.firstCell(record + 1); cell++)
    if (isBlank(places, cell)) return true;
  return false;
}

/** Nothing stands there, or nothing but quotes and spaces. */
function isBlank(places: CellPlaces, cell: number): boolean {
  const end = places.end(cell);
  let at = places.start(cell);
  while (at < end && (places.bytes[at] === QUOTE || places.bytes[at] === SPACE)) at++;
  return at >= end;
}

/** The cells of an even sample, where the scan found them. */
class EvenPlaces implements CellPlaces {
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly #cut: EvenCut;
  readonly #u32: Uint32Array;

  constructor(cut: EvenCut, { u8, u32 }: Heap) {
    this.bytes = u8;
    this.length = cut.rows;
    this.#cut = cut;
    this.#u32 = u32;
  }

  firstCell(record: number): number {
    return record * this.#cut.columns;
  }

  start(cell: number): number {
    return cell === 0 ? this.#cut.text : this.#u32[(this.#cut.entries >>> 2) + cell - 1]! + 1;
  }

  end(cell: number): number {
    const end = this.#u32[(this.#cut.entries >>> 2) + cell]!;
    return this.bytes[end] === LF && this.bytes[end - 1] === CR && end > this.start(cell) ? end - 1 : end;
  }
}
