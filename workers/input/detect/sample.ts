// Splits the text of a sample into records and fields under one dialect, as the reader will, for the detectors alone.

export interface Dialect {
  /** One character. */
  readonly delimiter: string;
  /** One character, or '' for none. */
  readonly quote: string;
}

/** Records of fields; the last record may be cut off by the end of the sample, see `complete`. */
export interface SampleRecords {
  readonly records: readonly (readonly string[])[];
  /** Fields that were quoted and well formed. */
  readonly quotedFields: number;
  /** Quotes inside unquoted fields, text behind a closing quote, or a quoted field that does not end. */
  readonly strayQuotes: number;
}

const LF = 10;
const CR = 13;

/** Records that a detector looks at: headers and preambles stand far above this, and each costs time. */
export const SAMPLE_RECORDS_MAX = 500;

/** @param ended true when the text is the whole file: then its last record counts even without a line break */
export function splitSample(text: string, dialect: Dialect, ended: boolean): SampleRecords {
  const state = { at: 0, quoted: 0, stray: 0 };
  const records: string[][] = [];
  let record: string[] = [];
  while (state.at < text.length && records.length < SAMPLE_RECORDS_MAX) {
    record.push(field(text, dialect, state));
    const next = text[state.at];
    if (next === dialect.delimiter && next !== undefined) {
      state.at++;
      if (state.at === text.length) record.push('');
      else continue;
    }
    if (next === '\r' && text[state.at + 1] === '\n') state.at++;
    const cut = state.at >= text.length && next !== '\n' && next !== '\r' && !ended;
    if (!cut || records.length === 0) records.push(record);
    record = [];
    state.at++;
  }
  return { records, quotedFields: state.quoted, strayQuotes: state.stray };
}

interface SplitState {
  at: number;
  quoted: number;
  stray: number;
}

/** Reads one field; leaves `at` on the delimiter or line break behind it. */
function field(text: string, dialect: Dialect, state: SplitState): string {
  const start = state.at;
  let from = start;
  if (dialect.quote !== '' && text[start] === dialect.quote) {
    const end = closingQuote(text, dialect.quote, start + 1);
    const behind = text[end + 1];
    if (end >= 0 && (behind === undefined || behind === dialect.delimiter || behind === '\n' || behind === '\r')) {
      state.at = end + 1;
      state.quoted++;
      const inside = text.slice(start + 1, end);
      return inside.includes(dialect.quote) ? inside.replaceAll(dialect.quote + dialect.quote, dialect.quote) : inside;
    }
    state.stray++;
    // As the readers do: what stands inside the quotes belongs to the field, whatever follows them.
    if (end >= 0) from = end + 1;
  }
  const delimiter = unitOf(dialect.delimiter);
  const quote = unitOf(dialect.quote);
  let at = from;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === delimiter || unit === LF || unit === CR) break;
    if (unit === quote && at > from) state.stray++;
  }
  state.at = at;
  return text.slice(start, at);
}

/** The UTF-16 unit that a mark is, -1 for none and for one of two units: a text is compared unit by unit. */
function unitOf(mark: string): number {
  return mark.length === 1 ? mark.charCodeAt(0) : -1;
}

function closingQuote(text: string, quote: string, from: number): number {
  let at = text.indexOf(quote, from);
  while (at >= 0 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at;
}
