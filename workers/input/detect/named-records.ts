// Searches records for the names of a Template, on bytes. A look at the bytes excludes most cells.
import type { Sliced } from '../../scheduling/time-slices.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import { HEADER_RECORDS_MAX, type NamedRow } from './header-row.ts';

const QUOTE = 0x22;

/** Positions of the cells of records in a byte array, including quotes. */
export interface CellPlaces {
  readonly bytes: Uint8Array;
  /** Number of records. */
  readonly length: number;
  /**
   * Index of the first cell of a record. Cells are numbered through all records. Also defined for the record after the
   * last.
   */
  firstCell(record: number): number;
  start(cell: number): number;
  end(cell: number): number;
}

/** Returns the first record with the most names. Same result as detectHeaderRow gives on texts, for double quotes. */
export function* bestNamed(places: CellPlaces, expected: ExpectedHeaders, delimiter: string): Sliced<NamedRow | null> {
  const recordsMax = Math.min(places.length, HEADER_RECORDS_MAX);
  let best: NamedRow | null = null;
  for (let record = 0; record < recordsMax; record++) {
    const bestHits: number = best?.hits ?? 0;
    if (!mayHaveMore(places, expected, record, bestHits)) continue;
    const start = places.start(places.firstCell(record));
    const end = places.end(places.firstCell(record + 1) - 1);
    const hits = yield* expected.hits(places.bytes, start, end, delimiter);
    if (hits > bestHits) best = { row: record, hits };
  }
  return best;
}

/** True if a record may have more than `hits` names, judged by the bytes of its cells. */
function mayHaveMore(places: CellPlaces, expected: ExpectedHeaders, record: number, hits: number): boolean {
  const first = places.firstCell(record);
  const after = places.firstCell(record + 1);
  let most = after - first;
  if (most <= hits) return false;
  for (let cell = first; cell < after; cell++) {
    if (isExcluded(places.bytes, places.start(cell), places.end(cell), expected)) most--;
    if (most <= hits) return false;
  }
  return true;
}

function isExcluded(bytes: Uint8Array, start: number, end: number, expected: ExpectedHeaders): boolean {
  if (bytes[start] !== QUOTE) return expected.exclude(bytes, start, end);
  // If a cell contains quotes, its text differs from its bytes.
  for (let at = start + 1; at < end - 1; at++) if (bytes[at] === QUOTE) return false;
  return expected.exclude(bytes, start + 1, end - 1);
}
