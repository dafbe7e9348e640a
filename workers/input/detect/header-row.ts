// Finds the record that holds the headers: by the names that the Template looks for where it has any, else by form.
import { cellKind, isDataKind } from './cell-kind.ts';

/** A header stands among the first records; preambles of reports are seldom longer. */
const HEADER_RECORDS_MAX = 40;

/** Records below the header whose cells are compared with it. */
const BODY_RECORDS = 20;

/**
 * @param records of the sample, blank ones included
 * @param isExpected tells whether a text is a name or alias of a column that the Template declares or reads
 * @returns the 0-based record, or null when the file seems to have no header
 */
export function detectHeaderRow(
  records: readonly (readonly string[])[],
  isExpected: ((text: string) => boolean) | null,
): number | null {
  const expected = isExpected === null ? null : bestMatch(records, isExpected);
  return expected ?? headerByForm(records);
}

function bestMatch(records: readonly (readonly string[])[], isExpected: (text: string) => boolean): number | null {
  let best: number | null = null;
  let bestHits = 0;
  for (const [index, record] of records.slice(0, HEADER_RECORDS_MAX).entries()) {
    const hits = new Set(record.filter((cell) => cell.trim() !== '' && isExpected(cell))).size;
    if (hits > bestHits) {
      best = index;
      bestHits = hits;
    }
  }
  return best;
}

/** The first record of the table's own width whose cells look like names; null when it looks like the data below. */
function headerByForm(records: readonly (readonly string[])[]): number | null {
  const width = usualWidth(records);
  const limit = Math.min(records.length, HEADER_RECORDS_MAX);
  for (let index = 0; index < limit; index++) {
    const record = records[index]!;
    if (filledCells(record) < Math.max(1, Math.ceil(Math.min(width, record.length) * 0.6)) || record.length < width)
      continue;
    return looksLikeData(record, records.slice(index + 1, index + 1 + BODY_RECORDS)) ? null : index;
  }
  const first = records.findIndex((record) => filledCells(record) > 0);
  return first < 0 ? null : first;
}

/** The width that most filled records have; the larger one where two are as frequent. */
function usualWidth(records: readonly (readonly string[])[]): number {
  const counts = new Map<number, number>();
  for (const record of records) {
    if (filledCells(record) > 0) counts.set(record.length, (counts.get(record.length) ?? 0) + 1);
  }
  let width = 0;
  let most = 0;
  for (const [length, count] of counts) {
    if (count > most || (count === most && length > width)) {
      width = length;
      most = count;
    }
  }
  return width;
}

function filledCells(record: readonly string[]): number {
  return record.filter((cell) => cell.trim() !== '').length;
}

/** True when a record has numbers, dates or addresses in it where the rows below have them in the same columns. */
function looksLikeData(record: readonly string[], body: readonly (readonly string[])[]): boolean {
  let alike = 0;
  let typed = 0;
  for (const [column, cell] of record.entries()) {
    const kind = cellKind(cell.trim());
    const below = body.map((row) => cellKind((row[column] ?? '').trim())).filter((other) => other !== '');
    const typedBelow = below.filter((other) => isDataKind(other)).length;
    if (typedBelow * 2 > below.length) {
      typed++;
      if (isDataKind(kind)) alike++;
    }
  }
  if (typed === 0) return record.length > 0 && record.every((cell) => isDataKind(cellKind(cell.trim())));
  return alike * 2 > typed;
}
