// Recognises files of an obvious form from the bytes of their first part.
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Sliced } from '../../scheduling/time-slices.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import type { NamedRow } from './header-row.ts';
import { bestNamed, type CellPlaces } from './named-records.ts';
import { SAMPLE_RECORDS_MAX } from './sample.ts';
import { isCutOff, isLineBreak, type SampleScanner } from './scan-text.ts';

// Checks with the scan of the fast CSV reader whether a delimiter splits all records of a sample into the same number
// of fields.

const QUOTE = 0x22;

/** Maximum number of records at the end of a file that may be shorter than all others: blank lines, a total, a note. */
const TAIL_RECORDS_MAX = 4;

/** Minimum number of records of the same length above such an end that leave no doubt. */
const RECORDS_ABOVE_TAIL_MIN = 3;

/** Positions of the records of a sample in the arena. Valid until something else is written to the arena. */
interface EvenCut {
  /** Address of the first byte of the sample. */
  readonly text: number;
  /** Address of a list with the u32 addresses of all delimiters and line breaks (the LF of a CRLF). */
  readonly entries: number;
  /** Number of records with `columns` fields. Shorter records at the end of the file are not included. */
  readonly rows: number;
  /** Number of fields per record. */
  readonly columns: number;
}

/**
 * Returns a result only if TextSample would also give records of the same length and no misplaced quote; the last few
 * records of a whole file may be shorter. Returns null otherwise, or if the scan is not sufficient.
 * @param delimiter one ASCII character
 */
export function evenCut(scanner: SampleScanner, delimiter: string): EvenCut | null {
  const { ended, tools } = scanner;
  const scanned = scanner.scan({ delimiter: delimiter.charCodeAt(0), quote: QUOTE });
  if (scanned === null || scanned.rows === 0 || scanned.hasStrays) return null;
  const { text, entries, count, rows, isOpen } = scanned;
  if (isOpen && rows < SAMPLE_RECORDS_MAX && !isCutOff(scanner, scanned)) return null;
  const { kernel } = tools;
  const { u8, u32 } = tools.arena.heap;
  let columns = 1;
  while (!isLineBreak(u8[u32[(entries >>> 2) + columns - 1]!])) columns++;
  const found = { text, entries, rows, columns };
  // A record that is cut off at the end of the sample does not count.
  if (count >= rows * columns && kernel.exports.rowsAreUniform(entries, rows, columns) === 1) return found;
  return ended ? withoutTail(found, count, tools.arena.heap, kernel) : null;
}

/** Leaves out the last records if they are shorter. Returns null if other records differ in length. */
function withoutTail(cut: EvenCut, count: number, { u8, u32 }: Heap, kernel: Kernel): EvenCut | null {
  const { entries, columns } = cut;
  const first = entries >>> 2;
  let { rows } = cut;
  let end = count;
  for (let tail = 0; tail < TAIL_RECORDS_MAX && rows > RECORDS_ABOVE_TAIL_MIN; tail++) {
    let start = end - 1;
    while (start > 0 && !isLineBreak(u8[u32[first + start - 1]!])) start--;
    if (end - start >= columns) break;
    end = start;
    rows--;
  }
  if (columns === 1 || rows === cut.rows || end !== rows * columns) return null;
  return kernel.exports.rowsAreUniform(entries, rows, columns) === 1 ? { ...cut, rows } : null;
}

// Recognises a file that leaves no doubt, as most files do, from the bytes of its first part: one usual delimiter in
// the first line, all records of the same length, no misplaced quote. Decoding a small file to text would take longer
// than all other work on it.

const LF = 10;
const CR = 13;
const SINGLE_QUOTE = 0x27;
const SPACE = 0x20;

const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const TABULATOR = 0x09;
const BAR = 0x7c;

export interface ObviousForm {
  readonly delimiter: string;
  /**
   * 0-based record number of the first record with the most expected names. null if no record has any, or if adjacent
   * lines may also belong to the header.
   */
  readonly headerRow: number | null;
}

/**
 * @param expected names to look for, or null
 * @returns null if there is any doubt
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

/**
 * The only delimiter of the first line that splits all records evenly. null if there is no such delimiter, or if there
 * are several.
 */
function onlyCut(scanner: SampleScanner): Found | null {
  const delimiters = usualDelimiters(scanner.bytes);
  const only = delimiters.length === 1;
  let found: Found | null = null;
  // The last result stays in the arena, so it must be the one returned.
  let isLast = false;
  for (const delimiter of delimiters) {
    const cut = evenCut(scanner, delimiter);
    isLast = cut !== null;
    // With a single record, it is impossible to say which of its delimiters is meant.
    if (cut === null || (!only && cut.rows === 1)) continue;
    if (found !== null) return null;
    found = { delimiter, cut };
  }
  if (found === null || isLast) return found;
  const cut = evenCut(scanner, found.delimiter);
  return cut === null ? null : { ...found, cut };
}

/**
 * Usual delimiters in the first line. Empty if a field begins with a single quote, which may be the quote of the file.
 */
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

/** The first record with the most names. null if it may be one of several header lines. */
function* namedRow(places: CellPlaces, expected: ExpectedHeaders, delimiter: string): Sliced<number | null> {
  const best = yield* bestNamed(places, expected, delimiter);
  return best === null || isOneOfSeveral(places, expected, best) ? null : best.row;
}

/**
 * True if names are missing and a line of group titles, which leaves gaps, may be the reason; or if most names are
 * missing.
 */
function isOneOfSeveral(places: CellPlaces, { columns }: ExpectedHeaders, { row, hits }: NamedRow): boolean {
  if (hits >= columns) return false;
  return hits * 2 < columns || hasGap(places, row) || (row > 0 && hasGap(places, row - 1));
}

function hasGap(places: CellPlaces, record: number): boolean {
  for (let cell = places.firstCell(record); cell < places.firstCell(record + 1); cell++)
    if (isBlank(places, cell)) return true;
  return false;
}

/** True if the cell contains nothing but quotes and spaces. */
function isBlank(places: CellPlaces, cell: number): boolean {
  const end = places.end(cell);
  let at = places.start(cell);
  while (at < end && (places.bytes[at] === QUOTE || places.bytes[at] === SPACE)) at++;
  return at >= end;
}

/** The cells of an even sample, at the positions that the scan found. */
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
