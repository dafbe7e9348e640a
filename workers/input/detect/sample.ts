// Splits the text of a sample into records and fields under one dialect, as the reader will, for the detectors alone.

export interface Dialect {
  /** One character; '' cuts nothing. */
  readonly delimiter: string;
  /** One character, or '' for none. */
  readonly quote: string;
  /** Spaces between a delimiter and an opening quote are no part of the field. */
  readonly spaced?: boolean;
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
const SPACE = 0x20;

/** Records that a detector looks at: headers and preambles stand far above this, and each costs time. */
export const SAMPLE_RECORDS_MAX = 500;

/**
 * @param ended true when the text is the whole file: then its last record counts even without a line break
 * @param most records, no more than SAMPLE_RECORDS_MAX
 */
export function splitSample(
  text: string,
  dialect: Dialect,
  ended: boolean,
  most: number = SAMPLE_RECORDS_MAX,
): SampleRecords {
  const recordsMax = Math.min(most, SAMPLE_RECORDS_MAX);
  const { delimiter, quote, spaced = false } = dialect;
  const marks = { delimiter: unitOf(delimiter), quote: unitOf(quote), mark: quote, spaced };
  const state = { at: 0, quoted: 0, stray: 0 };
  const records: string[][] = [];
  let record: string[] = [];
  while (state.at < text.length && records.length < recordsMax) {
    record.push(field(text, marks, state));
    const next = text.charCodeAt(state.at);
    if (next === marks.delimiter) {
      state.at++;
      if (state.at === text.length) record.push('');
      else continue;
    }
    if (next === CR && text.charCodeAt(state.at + 1) === LF) state.at++;
    const cut = state.at >= text.length && next !== LF && next !== CR && !ended;
    if (!cut || records.length === 0) records.push(record);
    record = [];
    state.at++;
  }
  return { records, quotedFields: state.quoted, strayQuotes: state.stray };
}

/** The marks of a dialect as UTF-16 units, see unitOf; `mark` is the quote as a text. */
interface Marks {
  readonly delimiter: number;
  readonly quote: number;
  readonly mark: string;
  readonly spaced: boolean;
}

interface SplitState {
  at: number;
  quoted: number;
  stray: number;
}

/** Reads one field; leaves `at` on the delimiter or line break behind it. */
function field(text: string, { delimiter, quote, mark, spaced }: Marks, state: SplitState): string {
  const start = spaced ? behindSpaces(text, state.at, quote) : state.at;
  let from = start;
  if (text.charCodeAt(start) === quote) {
    const end = closingQuote(text, mark, start + 1);
    const behind = text.charCodeAt(end + 1);
    if (end >= 0 && (end + 1 === text.length || behind === delimiter || behind === LF || behind === CR)) {
      state.at = end + 1;
      state.quoted++;
      const inside = text.slice(start + 1, end);
      return inside.includes(mark) ? inside.replaceAll(mark + mark, mark) : inside;
    }
    state.stray++;
    // As the readers do: what stands inside the quotes belongs to the field, whatever follows them.
    if (end >= 0) from = end + 1;
  }
  let at = from;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === delimiter || unit === LF || unit === CR) break;
    if (unit === quote && at > from) state.stray++;
  }
  state.at = at;
  return text.slice(start, at);
}

/** The place of an opening quote behind spaces; without one the place itself. */
function behindSpaces(text: string, start: number, quote: number): number {
  let at = start;
  while (text.charCodeAt(at) === SPACE) at++;
  return text.charCodeAt(at) === quote ? at : start;
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
