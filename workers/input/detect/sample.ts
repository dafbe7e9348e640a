// What the detectors ask of the first part of a file that is split into records and fields under one dialect.
import type { Records } from './records.ts';

export interface Dialect {
  /** One character; '' cuts nothing. */
  readonly delimiter: string;
  /** One character, or '' for none. */
  readonly quote: string;
  /** Spaces between a delimiter and an opening quote are no part of the field. */
  readonly spaced?: boolean;
}

/** Records that a detector looks at: headers and preambles stand far above this, and each costs time. */
export const SAMPLE_RECORDS_MAX = 500;

/** Records of fields; the last record may be cut off by the end of the sample, it is left out then unless it is the first. */
export interface Sample extends Records {
  /** Records, at most SAMPLE_RECORDS_MAX. */
  readonly length: number;
  /** How many records that are more than an empty line have so many fields: by width, in the order of the first of each. */
  readonly rowsByWidth: ReadonlyMap<number, number>;
  /** Fields that were quoted and well formed. */
  readonly quotedFields: number;
  /** Quotes inside unquoted fields, text behind a closing quote, or a quoted field that does not end. */
  readonly strayQuotes: number;
  /** Fields of the first records that were quoted and well formed, and of what is left out behind them. */
  quotedFieldsIn(records: number): number;
  /** Whether a record that is there is more than an empty line. */
  isFilled(record: number): boolean;
  /** The texts of the first records, at most so many. */
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
