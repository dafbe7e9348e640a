// The scalar reference implementation of a Sample: splits a text into all its cells at once.
import type { Dialect } from '../../../workers/input/detect/sample.ts';

export interface SplitText {
  readonly records: readonly (readonly string[])[];
  readonly quotedFields: number;
  readonly strayQuotes: number;
}

const LF = 10;
const CR = 13;
const SPACE = 0x20;

/** @param most maximum number of records */
export function splitAtOnce(text: string, dialect: Dialect, ended: boolean, most: number): SplitText {
  const { delimiter, quote, spaced = false } = dialect;
  const marks = { delimiter: unitOf(delimiter), quote: unitOf(quote), mark: quote, spaced };
  const state = { at: 0, quoted: 0, stray: 0 };
  const records: string[][] = [];
  let record: string[] = [];
  while (state.at < text.length && records.length < most) {
    record.push(field(text, marks, state, ended));
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

/** True if all records have the same length, except for up to four shorter ones at the end of a complete file. */
export function isEvenBefore(records: readonly (readonly string[])[], ended: boolean): boolean {
  const width = records[0]!.length;
  const above = records.findIndex(({ length }) => length !== width);
  const tail = above < 0 ? [] : records.slice(above);
  if (tail.length === 0) return true;
  return ended && width > 1 && above >= 3 && tail.length <= 4 && tail.every(({ length }) => length < width);
}

/** Delimiter and quote of a dialect as UTF-16 units (see unitOf); `mark` is the quote as a text. */
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

/** Reads one field. Leaves `at` on the delimiter or line break after the field. */
function field(text: string, { delimiter, quote, mark, spaced }: Marks, state: SplitState, ended: boolean): string {
  const start = spaced ? afterSpaces(text, state.at, quote) : state.at;
  let from = start;
  if (text.charCodeAt(start) === quote) {
    const end = closingQuote(text, mark, start + 1);
    const after = text.charCodeAt(end + 1);
    if (end >= 0 && (end + 1 === text.length || after === delimiter || after === LF || after === CR)) {
      state.at = end + 1;
      state.quoted++;
      const inside = text.slice(start + 1, end);
      return inside.includes(mark) ? inside.replaceAll(mark + mark, mark) : inside;
    }
    // The end of the sample cuts off the field.
    if (end < 0 && !ended && !/[\r\n]/.test(text.slice(start))) {
      state.at = text.length;
      return text.slice(start);
    }
    state.stray++;
    // The readers do the same: the text inside the quotes belongs to the field, whatever follows the quotes.
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

/** The position of an opening quote after spaces; without a quote, `start`. */
function afterSpaces(text: string, start: number, quote: number): number {
  let at = start;
  while (text.charCodeAt(at) === SPACE) at++;
  return text.charCodeAt(at) === quote ? at : start;
}

/** The mark as a UTF-16 unit; -1 if there is no mark or it has two units, because texts are compared unit by unit. */
function unitOf(mark: string): number {
  return mark.length === 1 ? mark.charCodeAt(0) : -1;
}

function closingQuote(text: string, quote: string, from: number): number {
  let at = text.indexOf(quote, from);
  while (at >= 0 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at;
}
