// Looks for the names of a Template among the cells of records by their bytes: most cells are none at a glance.
import type { Sliced } from '../../run/time-slices.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import { HEADER_RECORDS_MAX, type NamedRow } from './header-row.ts';

const QUOTE = 0x22;

/** Where the cells of records stand in bytes, quotes included. */
export interface CellPlaces {
  readonly bytes: Uint8Array;
  /** Records. */
  readonly length: number;
  /** Cells are counted through all records: the first one of a record, or of the one behind the last. */
  firstCell(record: number): number;
  start(cell: number): number;
  end(cell: number): number;
}

/** The first record with the most names, as detectHeaderRow finds it among texts, where quotes are double ones. */
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

/** Whether a record may have more than so many names, as a glance at the bytes of its cells tells. */
function mayHaveMore(places: CellPlaces, expected: ExpectedHeaders, record: number, hits: number): boolean {
  const first = places.firstCell(record);
  const behind = places.firstCell(record + 1);
  let most = behind - first;
  if (most <= hits) return false;
  for (let cell = first; cell < behind; cell++) {
    if (isExcluded(places.bytes, places.start(cell), places.end(cell), expected)) most--;
    if (most <= hits) return false;
  }
  return true;
}

function isExcluded(bytes: Uint8Array, start: number, end: number, expected: ExpectedHeaders): boolean {
  if (bytes[start] !== QUOTE) return expected.exclude(bytes, start, end);
  // Where quotes stand in it, the cell is another text than its bytes.
  for (let at = start + 1; at < end - 1; at++) if (bytes[at] === QUOTE) return false;
  return expected.exclude(bytes, start + 1, end - 1);
}
