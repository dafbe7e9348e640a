// Recognises a table by the names that a Template looks for: where one record has them all, what cuts it is the delimiter, and
// nobody has to compare what others would make of the file. So a preamble or a short row costs a file little.
import type { Sliced } from '../../run/time-slices.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import { USUAL_DELIMITERS } from './dialect.ts';
import { bestNamed } from './named-records.ts';
import { quoteCandidates } from './quote-candidates.ts';
import type { Dialect } from './sample.ts';
import type { Samples } from './samples.ts';
import { ScannedSample } from './scanned-sample.ts';

/** A single name may stand in a record whatever cuts it. */
const NAMES_MIN = 2;

export interface NamedTable {
  readonly dialect: Dialect;
  /** The header: a 0-based record. */
  readonly row: number;
}

/** @returns null where a name is missing, or the quotes leave a doubt */
export function* namedTable(samples: Samples, expected: ExpectedHeaders): Sliced<NamedTable | null> {
  if (expected.columns < NAMES_MIN) return null;
  for (const delimiter of USUAL_DELIMITERS) {
    if (!samples.holds(delimiter)) continue;
    const dialect = { delimiter, quote: '"' };
    const sample = samples.of(dialect);
    if (!(sample instanceof ScannedSample)) continue;
    const best = yield* bestNamed(sample, expected, delimiter);
    if (best === null || best.hits < expected.columns) continue;
    // Spaces before quotes, or single quotes, may be meant.
    const isSpaced = sample.strayQuotes > 0 && samples.holds(`${delimiter} "`);
    return isSpaced || quoteCandidates(samples).length > 1 ? null : { dialect, row: best.row };
  }
  return null;
}
