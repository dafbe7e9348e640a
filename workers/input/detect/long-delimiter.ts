// Finds a delimiter of several characters, such as || or ::. A detector of single characters would see a delimiter with
// empty columns in between.
import type { Dialect, Sample } from './sample.ts';
import type { Samples } from './samples.ts';
import { TextSample } from './text-sample.ts';

/**
 * Two to four adjacent marks: no letters, digits, spaces or quotes, and no marks that occur doubled in texts and
 * numbers.
 */
const MARKS = /[^\p{L}\p{N}\s"'.,;()[\]{}+\-_\\/%]{2,4}|,,|;;|\t\t/gu;

/** Two of these in a row are an empty field in many files. */
const USUAL_SINGLES: ReadonlySet<string> = new Set([',', ';', '\t']);

/** Number of records above a table that may not contain the delimiter. */
const RECORDS_ABOVE_MAX = 20;

/** Minimum number of fields that shows that every second field is empty. */
const FIELDS_MIN = 3;

export interface LongDelimiter {
  readonly delimiter: string;
  /** True if all records from the first one with the delimiter on have the same number of fields. */
  readonly isSure: boolean;
}

/**
 * Maximum number of candidates. Each candidate splits the whole sample, and a file of marks alone could yield thousands
 * of candidates.
 */
const CANDIDATES_MAX = 16;

/**
 * @param single dialect detected with single-character delimiters
 * @returns null if no delimiter of several characters is probable
 */
export function longDelimiter(samples: Samples, single: Dialect): LongDelimiter | null {
  const isUsual = USUAL_SINGLES.has(single.delimiter);
  // One of these splits most files, and its first occurrence shows that it is not doubled.
  if (isUsual && !isDoubled(samples.bytes, single.delimiter.charCodeAt(0))) return null;
  const { text, ended } = samples;
  const lines = samples.of({ delimiter: '', quote: '' });
  const tried = new Set<string>();
  for (let record = 0; record < RECORDS_ABOVE_MAX && lines.has(record); record++) {
    for (const [delimiter] of (lines.at(record)[0] ?? '').matchAll(MARKS)) {
      if (tried.has(delimiter)) continue;
      if (tried.size === CANDIDATES_MAX) return null;
      tried.add(delimiter);
      const sample = new TextSample(text, { delimiter, quote: '"' }, ended);
      if (isUsual && samples.of(single).rowsByWidth.size === 1) return null;
      if (isNarrower(sample, samples.of(single), { delimiter, single: single.delimiter })) continue;
      if (isEven(sample)) return { delimiter, isSure: true };
      const isHalf = !isUsual && delimiter === single.delimiter.repeat(2);
      if (isHalf && isEveryOtherEmpty(samples.of(single))) return { delimiter, isSure: false };
    }
  }
  return null;
}

/**
 * True if the single delimiter explains more than the long one, which is then part of the cells: `|=` in `1|="007"|x`
 * and in rows whose header has only `|`, or `::` in `1|a::b|x`.
 */
function isNarrower(
  long: Sample,
  own: Sample,
  { delimiter, single }: { readonly delimiter: string; readonly single: string },
): boolean {
  if (single === '') return false;
  if (delimiter.replaceAll(single, '') === '') return isRegular(own) && hasSingles(long, own, delimiter.length);
  if (!delimiter.includes(single) && own.rowsByWidth.size !== 1) return false;
  // Occurrences of the single delimiter within the long one.
  const inside = Math.max(1, delimiter.split(single).length - 1);
  const splitsAll = own.rowsByWidth.size === 1;
  let records = 0;
  let wider = 0;
  for (let record = 0; long.has(record) && own.has(record); record++) {
    const fields = long.width(record);
    // A header such as `a|b` above rows such as `1|=x`.
    if (splitsAll && fields === 1 && own.width(record) > 1) return true;
    if (fields === 1) continue;
    records++;
    if (own.width(record) - 1 > (fields - 1) * inside) wider++;
  }
  return wider * 2 > records;
}

/**
 * True if all records have the same number of fields. Ignores the records before the first one with several fields. Needs
 * at least two records.
 */
function isRegular(own: Sample): boolean {
  let width = 0;
  let records = 0;
  for (let record = 0; own.has(record); record++) {
    if (!own.isFilled(record)) continue;
    if (width === 0 && own.width(record) > 1) width = own.width(record);
    if (width === 0) continue;
    if (own.width(record) !== width) return false;
    records++;
  }
  return records > 1;
}

/**
 * True if the single delimiter also occurs alone. Then `||` is an empty field, as in `1||3.0` below `id|note|amount`.
 *
 * @param length number of characters of the long delimiter
 */
function hasSingles(long: Sample, own: Sample, length: number): boolean {
  for (let record = 0; long.has(record) && own.has(record); record++)
    if (own.width(record) - 1 > (long.width(record) - 1) * length) return true;
  return false;
}

/** True if the first delimiter is directly followed by another one. */
function isDoubled(bytes: Buffer, delimiter: number): boolean {
  const first = bytes.indexOf(delimiter);
  return first >= 0 && bytes[first + 1] === delimiter;
}

/**
 * True if all non-blank records, from the first one that contains the delimiter and has no empty field, have the same
 * number of fields. Needs at least two such records.
 */
function isEven(sample: Sample): boolean {
  let width = 0;
  let records = 0;
  for (let record = 0; sample.has(record); record++) {
    const fields = sample.width(record);
    if (width === 0 && fields > 1) {
      width = fields;
      if (sample.at(record).some((cell) => cell.trim() === '')) return false;
    }
    if (width === 0 || !sample.isFilled(record)) continue;
    if (fields !== width) return false;
    records++;
  }
  return records > 1 && sample.strayQuotes === 0;
}

/**
 * True if every second field of the first record with several fields is empty, so that two adjacent delimiters are one.
 */
function isEveryOtherEmpty(sample: Sample): boolean {
  for (let record = 0; sample.has(record); record++) {
    if (sample.width(record) < FIELDS_MIN) continue;
    return sample.at(record).every((cell, field) => (cell === '') === (field % 2 === 1));
  }
  return false;
}
