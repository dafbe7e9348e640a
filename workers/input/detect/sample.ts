// The first part of a file, split into records and fields under one dialect. Interface for the detectors.
import type { Records } from './records.ts';

export interface Dialect {
  /** One or more characters. '' splits nothing. */
  readonly delimiter: string;
  /** One character, or '' for no quote. */
  readonly quote: string;
  /** Spaces between a delimiter and an opening quote are not part of the field. */
  readonly spaced?: boolean;
}

/**
 * Maximum number of records that detectors examine. Headers and preambles end far above it, and each record takes time.
 */
export const SAMPLE_RECORDS_MAX = 500;

/** The last record may be cut off by the end of the sample. It is then left out, unless it is the first record. */
export interface Sample extends Records {
  /** Number of records, at most SAMPLE_RECORDS_MAX. */
  readonly length: number;
  /** Number of records by number of fields, without empty lines, in the order of first occurrence. */
  readonly rowsByWidth: ReadonlyMap<number, number>;
  /** Number of fields that are correctly quoted. */
  readonly quotedFields: number;
  /** Number of quotes inside unquoted fields, texts after a closing quote, and quoted fields that do not end. */
  readonly strayQuotes: number;
  /** Number of correctly quoted fields in the first `records` records, and in an incomplete record after them. */
  quotedFieldsIn(records: number): number;
  /** True if an existing record is not an empty line. */
  isFilled(record: number): boolean;
  /** Texts of the first records, at most `most`. */
  first(most: number): readonly (readonly string[])[];
}

/** See Sample.rowsByWidth. */
export function countWidths(sample: Pick<Sample, 'has' | 'isFilled' | 'width'>): Map<number, number> {
  const rows = new Map<number, number>();
  for (let record = 0; sample.has(record); record++) {
    if (!sample.isFilled(record)) continue;
    const width = sample.width(record);
    rows.set(width, (rows.get(width) ?? 0) + 1);
  }
  return rows;
}
