// Recognises a file that leaves no doubt, as most do, by the bytes of its first part: one usual delimiter in the first line,
// all records of one length, no odd quote. A text of it would cost a small file more than all else that is done with it.
import type { Heap } from '../../heap.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import { type EvenCut, evenCut, type ScanTools } from './even-cut.ts';
import { HEADER_RECORDS_MAX } from './header-row.ts';

const LF = 10;
const CR = 13;
const QUOTE = 0x22;

const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const TABULATOR = 0x09;
const BAR = 0x7c;

export interface PlainForm {
  readonly delimiter: string;
  /** 0-based record with the most names that are looked for, the first of such; null where none has any. */
  readonly headerRow: number | null;
}

/**
 * @param bytes the first part of the file, valid UTF-8 without a byte order mark
 * @param ended true when it is the whole file
 * @param expected the names to look for; null: none
 * @returns null where there is any doubt
 */
export function plainForm(
  bytes: Uint8Array,
  ended: boolean,
  expected: ExpectedHeaders | null,
  tools: ScanTools,
): PlainForm | null {
  const delimiter = onlyDelimiter(bytes);
  const cut = delimiter === null ? null : evenCut(bytes, ended, delimiter, tools);
  if (delimiter === null || cut === null) return null;
  const headerRow = expected === null ? null : new NamedRecords(cut, expected, tools.arena.heap).best(delimiter);
  return { delimiter, headerRow };
}

/** The usual delimiter of the first line; null where it has none or several. */
function onlyDelimiter(bytes: Uint8Array): string | null {
  let only = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === LF || byte === CR) break;
    const isUsual = byte === COMMA || byte === SEMICOLON || byte === TABULATOR || byte === BAR;
    if (!isUsual || byte === only) continue;
    if (only !== 0) return null;
    only = byte;
  }
  return only === 0 ? null : String.fromCharCode(only);
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

  /** The first record with the most names, as detectHeaderRow finds it. */
  best(delimiter: string): number | null {
    const recordsMax = Math.min(this.#cut.rows, HEADER_RECORDS_MAX);
    let best: number | null = null;
    let bestHits = 0;
    for (let record = 0; record < recordsMax; record++) {
      if (!this.#mayHaveMore(record, bestHits)) continue;
      const start = this.#start(record * this.#cut.columns);
      const end = this.#end((record + 1) * this.#cut.columns - 1);
      const hits = this.#expected.hits(this.#u8, start, end, delimiter);
      if (hits > bestHits) best = record;
      bestHits = Math.max(bestHits, hits);
    }
    return best;
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
