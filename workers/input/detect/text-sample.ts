// Splits the text of a sample into records and fields under one dialect, with the same rules as the readers. For
// detectors only. Field boundaries are found as far as needed, and the text of a cell is created on demand, because a
// detector needs few of thousands.
import { type CellKind, cellKind, isSpace } from './cell-kind.ts';
import { countWidths, type Dialect, SAMPLE_RECORDS_MAX, type Sample } from './sample.ts';

const LF = 10;
const CR = 13;
const SPACE = 0x20;

export class TextSample implements Sample {
  readonly text: string;
  readonly #ended: boolean;
  /** First UTF-16 unit of the delimiter, or -1 for no delimiter. */
  readonly #delimiter: number;
  /** The whole delimiter, if it has several units. */
  readonly #longDelimiter: string | null;
  readonly #delimiterUnits: number;
  readonly #quote: number;
  readonly #mark: string;
  readonly #spaced: boolean;
  #at = 0;
  #quoted = 0;
  #stray = 0;
  /** Start and end of each field. The end is inverted if the field contains doubled quotes. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** For each record, the index of its first field, followed by the index of the next field. */
  readonly #firsts: number[] = [0];
  /** For each record, the number of quoted fields up to its end. */
  readonly #quotedUpTo: number[] = [];
  readonly #made: string[][] = [];
  #rowsByWidth: ReadonlyMap<number, number> | null = null;

  /** @param ended true if the text is the whole file: its last record then counts even without a line break */
  constructor(text: string, { delimiter, quote, spaced = false }: Dialect, ended: boolean) {
    this.text = text;
    this.#ended = ended;
    this.#delimiter = delimiter === '' ? -1 : delimiter.charCodeAt(0);
    this.#longDelimiter = delimiter.length > 1 ? delimiter : null;
    this.#delimiterUnits = delimiter.length;
    this.#quote = unitOf(quote);
    this.#mark = quote;
    this.#spaced = spaced;
  }

  get length(): number {
    this.has(SAMPLE_RECORDS_MAX - 1);
    return this.#firsts.length - 1;
  }

  get rowsByWidth(): ReadonlyMap<number, number> {
    this.#rowsByWidth ??= countWidths(this);
    return this.#rowsByWidth;
  }

  get quotedFields(): number {
    return this.quotedFieldsIn(SAMPLE_RECORDS_MAX);
  }

  get strayQuotes(): number {
    return this.length === 0 ? 0 : this.#stray;
  }

  quotedFieldsIn(records: number): number {
    return this.has(records - 1) ? (this.#quotedUpTo[records - 1] ?? 0) : this.#quoted;
  }

  has(record: number): boolean {
    const most = Math.min(record + 1, SAMPLE_RECORDS_MAX);
    while (this.#firsts.length <= most && this.#at < this.text.length) this.#splitRecord();
    return record < this.#firsts.length - 1;
  }

  width(record: number): number {
    return this.#firsts[record + 1]! - this.#firsts[record]!;
  }

  isFilled(record: number): boolean {
    const field = this.#firsts[record]!;
    return this.width(record) > 1 || this.#endOf(field) > this.#starts[field]!;
  }

  filledWidth(record: number): number {
    const first = this.#firsts[record]!;
    let field = this.#firsts[record + 1]!;
    while (field > first && this.#isBlank(field - 1)) field--;
    return field - first;
  }

  kind(record: number, column: number): CellKind {
    const field = this.#firsts[record]! + column;
    const end = this.#ends[field]!;
    return end < 0 ? cellKind(this.at(record)[column]!) : cellKind(this.text, this.#starts[field]!, end);
  }

  cell(record: number, column: number): string {
    return this.at(record)[column]!;
  }

  at(record: number): readonly string[] {
    const known = this.#made[record];
    if (known !== undefined) return known;
    const made = this.#make(record);
    this.#made[record] = made;
    return made;
  }

  first(most: number): readonly (readonly string[])[] {
    const records: (readonly string[])[] = [];
    for (let record = 0; record < most && this.has(record); record++) records.push(this.at(record));
    return records;
  }

  get records(): readonly (readonly string[])[] {
    return this.first(SAMPLE_RECORDS_MAX);
  }

  #make(record: number): string[] {
    const cells: string[] = [];
    for (let field = this.#firsts[record]!; field < this.#firsts[record + 1]!; field++) {
      const cell = this.text.slice(this.#starts[field]!, this.#endOf(field));
      cells.push(this.#ends[field]! < 0 ? cell.replaceAll(this.#mark + this.#mark, this.#mark) : cell);
    }
    return cells;
  }

  #endOf(field: number): number {
    const end = this.#ends[field]!;
    return end < 0 ? ~end : end;
  }

  #isBlank(field: number): boolean {
    const end = this.#endOf(field);
    for (let at = this.#starts[field]!; at < end; at++) if (!isSpace(this.text.charCodeAt(at))) return false;
    return true;
  }

  #splitRecord(): void {
    const { text } = this;
    for (;;) {
      this.#splitField();
      const next = text.charCodeAt(this.#at);
      if (next === this.#delimiter && this.#isDelimiter(this.#at)) {
        this.#at += this.#delimiterUnits;
        if (this.#at < text.length) continue;
        this.#add(text.length, text.length);
      }
      if (next === CR && text.charCodeAt(this.#at + 1) === LF) this.#at++;
      const isCut = this.#at >= text.length && next !== LF && next !== CR && !this.#ended;
      if (!isCut || this.#firsts.length === 1) {
        this.#firsts.push(this.#starts.length);
        this.#quotedUpTo.push(this.#quoted);
      }
      this.#at++;
      return;
    }
  }

  /** Reads one field and stops at the delimiter or line break after it. */
  #splitField(): void {
    const { text } = this;
    const start = this.#spaced ? afterSpaces(text, this.#at, this.#quote) : this.#at;
    let from = start;
    if (text.charCodeAt(start) === this.#quote) {
      const end = closingQuote(text, this.#mark, start + 1);
      if (end >= 0 && this.#isFieldEnd(end + 1)) {
        this.#at = end + 1;
        this.#quoted++;
        const doubled = text.indexOf(this.#mark, start + 1) < end;
        this.#add(start + 1, doubled ? ~end : end);
        return;
      }
      if (end < 0 && this.#isCutOff(start)) {
        this.#at = text.length;
        this.#add(start, text.length);
        return;
      }
      this.#stray++;
      // As in the readers, the text inside the quotes belongs to the field, whatever follows the quotes.
      if (end >= 0) from = end + 1;
    }
    this.#at = this.#unquotedEnd(from);
    this.#add(start, this.#at);
  }

  /** True if the quotes probably end after the sample, because the field has no line break within the sample. */
  #isCutOff(start: number): boolean {
    return !this.#ended && this.text.indexOf('\n', start) < 0 && this.text.indexOf('\r', start) < 0;
  }

  #isFieldEnd(at: number): boolean {
    const unit = this.text.charCodeAt(at);
    if (at === this.text.length || unit === LF || unit === CR) return true;
    return unit === this.#delimiter && this.#isDelimiter(at);
  }

  #unquotedEnd(from: number): number {
    const { text } = this;
    const { length } = text;
    const delimiter = this.#delimiter;
    const quote = this.#quote;
    let at = from;
    for (; at < length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === LF || unit === CR || (unit === delimiter && this.#isDelimiter(at))) break;
      if (unit === quote && at > from) this.#stray++;
    }
    return at;
  }

  /** Called at a match of the first unit. */
  #isDelimiter(at: number): boolean {
    return this.#longDelimiter === null || this.text.startsWith(this.#longDelimiter, at);
  }

  #add(start: number, end: number): void {
    this.#starts.push(start);
    this.#ends.push(end);
  }
}

/** Returns the position of an opening quote after spaces. If there is no such quote, returns the given position. */
function afterSpaces(text: string, start: number, quote: number): number {
  let at = start;
  while (text.charCodeAt(at) === SPACE) at++;
  return text.charCodeAt(at) === quote ? at : start;
}

/** The UTF-16 unit of a mark. -1 for no mark and for a mark of two units, because the text is compared unit by unit. */
function unitOf(mark: string): number {
  return mark.length === 1 ? mark.charCodeAt(0) : -1;
}

function closingQuote(text: string, quote: string, from: number): number {
  let at = text.indexOf(quote, from);
  while (at >= 0 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at;
}
