// Recognises a file that leaves no doubt, as most do, by the bytes of its first part: one usual delimiter in the first line,
// all records of one length, no odd quote. A text of it would cost a small file more than all else that is done with it.
import type { Heap } from '../../memory/heap.ts';
import type { Sliced } from '../../run/time-slices.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import { type EvenCut, evenCut, type ScanTools } from './even-cut.ts';
import { HEADER_RECORDS_MAX } from './header-row.ts';

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
 * @param bytes the first part of the file, valid UTF-8 without a byte order mark
 * @param ended true when it is the whole file
 * @param expected the names to look for; null: none
 * @returns null where there is any doubt
 */
export function* obviousForm(
  bytes: Uint8Array,
  ended: boolean,
  expected: ExpectedHeaders | null,
  tools: ScanTools,
): Sliced<ObviousForm | null> {
  const found = onlyCut(bytes, ended, tools);
  if (found === null) return null;
  const { delimiter, cut } = found;
  const headerRow = expected === null ? null : yield* new NamedRecords(cut, expected, tools.arena.heap).best(delimiter);
  return { delimiter, headerRow };
}

interface Found {
  readonly delimiter: string;
  readonly cut: EvenCut;
}

/** The one delimiter of the first line that cuts all records alike; null where none does, or several do. */
function onlyCut(bytes: Uint8Array, ended: boolean, tools: ScanTools): Found | null {
  const delimiters = usualDelimiters(bytes);
  const only = delimiters.length === 1;
  let found: Found | null = null;
  // The last cut stays in the arena: the one that is found must be it.
  let isLast = false;
  for (const delimiter of delimiters) {
    const cut = evenCut(bytes, ended, delimiter, tools);
    isLast = cut !== null;
    // Of one record nobody can say which of its marks cuts it.
    if (cut === null || (!only && cut.rows === 1)) continue;
    if (found !== null) return null;
    found = { delimiter, cut };
  }
  if (found === null || isLast) return found;
  const cut = evenCut(bytes, ended, found.delimiter, tools);
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

/** The records of an even sample, where the scan found them: looks for names among their cells. */
class NamedRecords {
  readonly #cut: EvenCut;
  readonly #expected: ExpectedHeaders;
  readonly #u8: Uint8Array;
  readonly #u32: Uint32Array;

  constructor(cut: EvenCut, expected: ExpectedHeaders, { u8, u32 }: Heap) {
    this.#cut = cut;
    this.#expected = expected;
    this.#u8 = u8;
    this.#u32 = u32;
  }

  /** The first record with the most names, as detectHeaderRow finds it; null where it may be one line of several. */
  *best(delimiter: string): Sliced<number | null> {
    const recordsMax = Math.min(this.#cut.rows, HEADER_RECORDS_MAX);
    let best: number | null = null;
    let bestHits = 0;
    for (let record = 0; record < recordsMax; record++) {
      if (!this.#mayHaveMore(record, bestHits)) continue;
      const start = this.#start(record * this.#cut.columns);
      const end = this.#end((record + 1) * this.#cut.columns - 1);
      const hits = yield* this.#expected.hits(this.#u8, start, end, delimiter);
      if (hits > bestHits) best = record;
      bestHits = Math.max(bestHits, hits);
    }
    return best !== null && this.#isOneOfSeveral(best, bestHits) ? null : best;
  }

  /** Names are missing, and titles of groups may be to blame, which leave gaps; or most names are missing. */
  #isOneOfSeveral(record: number, hits: number): boolean {
    const { columns } = this.#expected;
    if (hits >= columns) return false;
    return hits * 2 < columns || this.#hasGap(record) || (record > 0 && this.#hasGap(record - 1));
  }

  #hasGap(record: number): boolean {
    const { columns } = this.#cut;
    for (let cell = record * columns; cell < (record + 1) * columns; cell++)
      if (this.#isBlank(this.#start(cell), this.#end(cell))) return true;
    return false;
  }

  /** Nothing stands there, or nothing but quotes and spaces. */
  #isBlank(start: number, end: number): boolean {
    let at = start;
    while (at < end && (this.#u8[at] === QUOTE || this.#u8[at] === SPACE)) at++;
    return at >= end;
  }

  /** Whether a record may have more than so many names, as a glance at the bytes of its cells tells. */
  #mayHaveMore(record: number, hits: number): boolean {
    const { columns } = this.#cut;
    let most = columns;
    for (let cell = record * columns; cell < (record + 1) * columns; cell++) {
      if (this.#isExcluded(this.#start(cell), this.#end(cell))) most--;
      if (most <= hits) return false;
    }
    return true;
  }

  #isExcluded(start: number, end: number): boolean {
    if (this.#u8[start] !== QUOTE) return this.#expected.exclude(this.#u8, start, end);
    // Where quotes stand in it, the cell is another text than its bytes.
    for (let at = start + 1; at < end - 1; at++) if (this.#u8[at] === QUOTE) return false;
    return this.#expected.exclude(this.#u8, start + 1, end - 1);
  }

  /** Cells are counted through all records. */
  #start(cell: number): number {
    return cell === 0 ? this.#cut.text : this.#u32[(this.#cut.entries >>> 2) + cell - 1]! + 1;
  }

  #end(cell: number): number {
    const end = this.#u32[(this.#cut.entries >>> 2) + cell]!;
    return this.#u8[end] === LF && this.#u8[end - 1] === CR && end > this.#start(cell) ? end - 1 : end;
  }
}
