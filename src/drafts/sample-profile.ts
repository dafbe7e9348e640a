// Reads a whole sample and collects what a draft needs, including footer rows. It also runs Templates on the sample.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { inputFormats } from '../../workers/input/index.ts';
import type { Failure } from '../../workers/protocol/failure.ts';
import type { RunOutcome } from '../../workers/protocol/messages.ts';
import type { CodeCounts } from '../../workers/protocol/report.ts';
import { type Inspection, inspectFile } from '../../workers/run/inspect.ts';
import { headerKey, headerNames } from '../../workers/template/file-columns.ts';
import type { Template } from '../../workers/template/template.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { ColumnProfile, DigestBudget, type RepeatCounter, type SampleCell } from './column-profile.ts';
import type { DraftProgress } from './draft-progress.ts';
import { compiledForms, DECIMAL_MARKS, type SumPoint } from './typed-cells.ts';

// Recognises footer rows, which are not data: total rows (a word such as "Total", an amount, and little else) and
// notes (rows with a single filled cell).

interface FooterRow {
  readonly cells: readonly SampleCell[];
}

/** Matches whole words only. Uses a lookahead because \b knows ASCII letters only. */
const SUM_WORD =
  /^(?:grand total|(?:sub|sous)[- ]?tota(?:l|le|al)|totals?|sum|summe|gesamt(?:summe|betrag)?|zwischen(?:summe|total)|total général|somme|totales?|totaal|suma|total general|итого)(?![\p{L}\p{N}_])/iu;

/** A number with its separators, optionally with a currency before or after it. */
const AMOUNT = /^[-+(]?\s*(?:\p{Sc}|[A-Z]{3})?\s*[-+]?\d[\d.,'\u2019\s]*(?:\p{Sc}|[A-Z]{3}|%)?\s*[-)]?$/u;
const CURRENCY = /^(?:\p{Sc}|[A-Z]{3}|kr\.?|zł|Kč|Fr\.?|Ft)$/u;

/** With fewer columns, a row with one filled cell may be data, so it is not treated as a note. */
const NOTED_COLUMNS_MIN = 3;

/** The cell that identifies a footer row. */
export interface FooterCell {
  readonly column: number;
  readonly text: string;
}

/**
 * Returns the rows from the first total row on. If there is no total row, returns the trailing notes.
 * A total row starts with a word for a total, and either at most half of its cells are filled (or two of two), or all
 * cells except the word are amounts and currencies.
 * A note is the only cell of its row, and most cells of the row above the notes are filled.
 *
 * @param last the last rows of the sample
 * @param above the row above them; null: there is no such row. A table that consists only of a total row has no
 * footer.
 */
function footersOf(
  last: readonly (readonly SampleCell[])[],
  above: readonly SampleCell[] | null,
): readonly (readonly SampleCell[])[] {
  const sum = last.findIndex((row, index) => (index > 0 || above !== null) && sumWord(row) !== null);
  return last.slice(sum < 0 ? firstNote(last, above) : sum);
}

function firstNote(last: readonly (readonly SampleCell[])[], above: readonly SampleCell[] | null): number {
  const body = last.findLastIndex((row) => row.some(isFilled) && noteCell(row) === null);
  const row = body < 0 ? above : last[body]!;
  if (row === null || row.filter(isFilled).length * 2 <= row.length) return last.length;
  const note = last.findIndex((each, index) => index > body && noteCell(each) !== null);
  return note < 0 ? last.length : note;
}

/** The only filled cell of a row; null: the row has no or several filled cells. */
export function noteCell(row: readonly SampleCell[]): FooterCell | null {
  const [column, ...others] = filledColumns(row);
  if (column === undefined || others.length > 0 || row.length < NOTED_COLUMNS_MIN) return null;
  const cell = row[column];
  return typeof cell === 'string' ? { column, text: cell.trim() } : null;
}

/** The cell with the word for a total; null: not a total row. */
export function sumWord(row: readonly SampleCell[]): FooterCell | null {
  const [column, ...others] = filledColumns(row);
  if (column === undefined || others.length === 0) return null;
  const cell = row[column];
  if (typeof cell !== 'string' || !SUM_WORD.test(cell.trim())) return null;
  const isSparse = others.length < Math.max(2, (row.length + 1) / 2);
  return isSparse ||
    isWordAlone(
      cell,
      others.map((at) => row[at]!),
    )
    ? { column, text: cell.trim() }
    : null;
}

/**
 * True if the rest of the row consists of amounts and currencies only. Such a row is a total row however many of its
 * cells are filled.
 */
function isWordAlone(word: string, others: readonly SampleCell[]): boolean {
  return (
    word.trim().replace(SUM_WORD, '').replace(':', '').trim() === '' &&
    others.some(isAmount) &&
    others.every((cell) => isAmount(cell) || isCurrency(cell))
  );
}

export function isAmount(cell: SampleCell): boolean {
  return typeof cell !== 'string' || AMOUNT.test(cell.trim());
}

function isCurrency(cell: SampleCell): boolean {
  return typeof cell === 'string' && CURRENCY.test(cell.trim());
}

function filledColumns(row: readonly SampleCell[]): number[] {
  return row.flatMap((cell, column) => (isFilled(cell) ? [column] : []));
}

function isFilled(cell: SampleCell): boolean {
  return cell !== null && (typeof cell !== 'string' || cell.trim() !== '');
}

/** Words for a total at the end of a text, such as `North Total`. */
const SUM_WORD_LAST =
  /(?<![\p{L}\p{N}_])(?:sub-?total|totals?|sum|summe|gesamt|zwischensumme|somme|totale|totaal|suma|итого):?$/iu;

/** The cell with the word for a total, or with a name before it; null: not a total row. */
function totalCell(row: SampleRow): FooterCell | null {
  const first = row.findIndex(isFilled);
  const cell = row[first];
  if (typeof cell !== 'string') return null;
  const text = cell.trim();
  if (!SUM_WORD.test(text) && !SUM_WORD_LAST.test(text)) return null;
  const others = filledColumns(row).slice(1);
  const isSparse = others.length < Math.max(2, (row.length + 1) / 2);
  const isOfAmounts = others.every((at) => isAmount(row[at]!) || isCurrency(row[at]!));
  return others.some((at) => isAmount(row[at]!)) && (isSparse || isOfAmounts) ? { column: first, text } : null;
}

/** True if a text consists of a word for a total, so that it is not a value of its column. */
export function isSumWord(text: string): boolean {
  return text.replace(SUM_WORD, '').replace(':', '').trim() === '';
}

// Runs Templates on the sample while a draft is made: takes the text of a Template, returns rows and the report.

/** Result of a Run. Its output file must be read before the next Run, which overwrites it. */
export interface SampleOutcome {
  readonly outcome: RunOutcome;
  /** Path of the output if it is not in `outcome.output.bytes`. */
  readonly outputPath: string;
}

/** Applies a Template to the sample. */
export type RunSample = (template: TemplateText) => Promise<SampleOutcome>;

export function templateText(source: string, format: 'json' | 'yaml'): TemplateText {
  return { source, format, sha256: createHash('sha256').update(source).digest('hex') };
}

/** Streams the lines of an output, so that its size does not matter. */
function outputLines({ outcome, outputPath }: SampleOutcome): AsyncIterable<string> {
  const bytes = outcome.output?.bytes ?? null;
  const input = bytes === null ? createReadStream(outputPath) : Readable.from([Buffer.from(bytes)]);
  return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
}

// Reads a whole sample and collects what a draft needs to know: how the file is read, its rows and its columns. The
// last rows are held back until the end, because a total or a note in the footer is not a value of its column.

export type SampleRow = readonly SampleCell[];

export interface SampleProfile {
  readonly head: Inspection['head'];
  /** The names by which a Template finds the columns: duplicates are numbered, blank headers are named by position. */
  readonly headers: readonly string[];
  readonly explanation: Inspection['explanation'];
  /** Settings with which the sample was read. They are part of the draft. */
  readonly reading: SampleReading;
  /** Why the sample was read with these settings. */
  readonly readingEvidence: string;
  readonly rows: number;
  /** Over the body rows, without blank rows, repeated headers, totals and the footer. */
  readonly columns: readonly ColumnProfile[];
  /** Rows that were profiled; fewer than `rows` in a large sample. */
  readonly profiledRows: number;
  /** Number of rows of data among the profiled rows. */
  readonly bodyRows: number;
  /** Counted in all rows. */
  readonly blankRows: number;
  /** Counted in all rows. */
  readonly repeatedHeaders: number;
  /** Total rows above the footer; null: there are none. */
  readonly subtotals: Subtotals | null;
  /**
   * Exact sums of the columns over all rows of a large sample, by position. Null: all rows were profiled, so the columns
   * know their sums.
   */
  readonly sums: ReadonlyMap<number, string> | null;
  /** Rows equal to an earlier row; null: too many distinct rows to count. */
  readonly repeatedRows: number | null;
  readonly footer: readonly FooterRow[];
  /** Columns to fill down: wherever `column` is blank, column `by` has the same cell as in the row above. */
  readonly fills: readonly { readonly column: number; readonly by: number }[];
  /** Irregularities found while reading: rows of another length, quotes in unexpected places. */
  readonly oddities: CodeCounts;
}

/** How a sample is read: settings of a Template's `input` without its columns. Empty: everything is detected. */
export type SampleReading = Readonly<Record<string, unknown>>;

/** The part of a Template that says how a file is read. */
export interface DeclaredReading {
  readonly template: Template;
  readonly settings: SampleReading;
  /** Why the sample is read with these settings. */
  readonly evidence: string;
}

/** Evidence of settings that the user declares. */
export const DECLARED = 'declared for the sample';

/** Rows above the footer that contain the sums of the rows above them. */
export interface Subtotals {
  /** Column with the word. */
  readonly column: number;
  /** Distinct texts in this column, in the order of the rows. */
  readonly words: readonly string[];
  readonly rows: number;
  /** Rows whose amounts are the sums of the rows above them; null: the amounts were not compared. */
  readonly provenRows: number | null;
}

/** The sample itself cannot be read. */
export class SampleRefusedError extends Error {
  readonly code: Failure['code'];

  constructor({ code, message }: Failure) {
    super(message);
    this.name = 'SampleRefusedError';
    this.code = code;
  }
}

/** Number of last rows that are searched for a total row or notes. */
const FOOTER_ROWS_MAX = 5;

/** Number of leftmost columns that are considered as keys which group rows. */
const KEY_COLUMNS_MAX = 8;

/** Rows between two reports of the progress. */
const PROGRESS_ROWS = 1_000;

/** Formats whose rows cannot change what the head says. The rows of a CSV file can: they decide about the encoding. */
const HEAD_ONLY_FORMATS: readonly string[] = ['xlsx', 'parquet'];

/** @param progress receives the share of the rows that are profiled */
export async function profileSample(
  path: string,
  run: RunSample,
  progress: DraftProgress | null = null,
  declared: DeclaredReading | null = null,
): Promise<SampleProfile> {
  const reading = declared?.settings ?? {};
  const options = declared === null ? {} : { template: declared.template };
  const { head, explanation } = await inspectFile(path, {
    formats: inputFormats,
    explains: true,
    headOnly: HEAD_ONLY_FORMATS,
    describesSheets: false,
    ...options,
  });
  const result = await run(templateText(JSON.stringify(bareTemplate(head, reading)), 'json'));
  const { failure, report } = result.outcome;
  if (failure !== null) throw new SampleRefusedError(failure);
  const counter = new RowCounter(head.headers);
  const isProfiled = rowChoice(report.rows_read, head.headers.length);
  let rows = 0;
  for await (const line of outputLines(result)) {
    if (line === '') continue;
    if (isProfiled(rows)) counter.add(rowOf(line));
    else counter.skip(line);
    if (++rows % PROGRESS_ROWS === 0) progress?.profiled(Math.min(1, rows / Math.max(1, report.rows_read)));
  }
  progress?.profiled(1);
  return {
    head,
    headers: headerNames(head.headers),
    explanation,
    reading,
    readingEvidence: declared?.evidence ?? DECLARED,
    rows: report.rows_read,
    oddities: report.input.errors,
    sums: null,
    ...counter.end(),
  };
}

/**
 * Maximum number of cells of a profile: about a second of work. A larger sample is profiled in part: the rows at its
 * start, and blocks of rows from all other parts, because many facts need neighbouring rows.
 */
const PROFILED_CELLS_MAX = 400_000;
/** So that the profile of a very wide sample has enough rows. */
const PROFILED_ROWS_MIN = 2_000;
const BLOCK_ROWS = 50;

/** The last rows are always profiled, because they may contain a footer. */
const LAST_ROWS = 50;

/** Returns a function that says whether a row is profiled, by its index. It depends only on the size of the sample. */
function rowChoice(rows: number, columns: number): (row: number) => boolean {
  const profiled = Math.max(PROFILED_ROWS_MIN, Math.floor(PROFILED_CELLS_MAX / Math.max(1, columns)));
  if (rows <= profiled) return () => true;
  const first = Math.floor(profiled / 2);
  const blocks = Math.floor((profiled - first) / BLOCK_ROWS);
  const period = Math.max(BLOCK_ROWS, Math.floor((rows - first) / blocks));
  return (row) => row < first || row >= rows - LAST_ROWS || (row - first) % period < BLOCK_ROWS;
}

function rowOf(line: string): SampleRow {
  return Object.values(JSON.parse(line) as Record<string, SampleCell>);
}

/** Start of each row in NDJSON, before the first cell. */
const ROW_START = '{"c1":';

/** Returns the names of the sheets of a workbook, and an empty list for another file. */
export async function sheetNames(path: string): Promise<readonly string[]> {
  const { sheets } = await inspectFile(path, { formats: inputFormats, headOnly: true });
  return (sheets ?? []).map(({ name }) => name);
}

/** Reads columns by position, so that any header works. */
function bareTemplate({ headers }: Inspection['head'], reading: SampleReading): object {
  return {
    format: 1,
    input: inputAt(reading, [...headers.keys()]),
    operations: [],
    output: { format: 'ndjson', formula_guard: 'off', json: { nulls: 'include' } },
  };
}

/**
 * The input of a Template that reads columns by position, so that any header works.
 *
 * @param positions from 0; the column at position 0 has the name c1
 */
export function inputAt(reading: SampleReading, positions: readonly number[]): object {
  return {
    ...reading,
    ...(reading['fixed'] === undefined && { csv: { encoding: 'auto', ...(reading['csv'] as object | undefined) } }),
    columns: positions.map((at) => ({ name: `c${at + 1}`, match: [{ position: at + 1 }] })),
    other_columns: 'drop',
  };
}

/** Maximum number of total rows that are held in memory until all rows are known. Further ones are ordinary rows. */
const TOTAL_ROWS_MAX = 10_000;

/** Maximum number of places that are kept, besides the start: each total row is compared with the sums since each place. */
const PLACES_MAX = 100;

/** Share of the total rows whose amounts must be sums. With fewer, the word for a total is probably ordinary data. */
const PROVEN_SHARE = 0.8;

/** A row with a word for a total, above the footer. */
interface TotalRow {
  readonly row: SampleRow;
  readonly cell: FooterCell;
  readonly isProven: boolean;
}

/** A place between two rows, with the sums of the columns up to it. */
interface Place {
  readonly bodyRows: number;
  readonly sums: readonly SumPoint[];
}

/** The parts of a profile that the rows do not determine. */
type Unprofiled = 'head' | 'headers' | 'explanation' | 'reading' | 'readingEvidence' | 'rows' | 'oddities' | 'sums';

class RowCounter {
  readonly #headers: readonly string[];
  readonly #columns: readonly ColumnProfile[];
  readonly #held: SampleRow[] = [];
  readonly #fills: Map<number, Set<number>> = new Map();
  readonly #repeats: RepeatCounter;
  readonly #totals: TotalRow[] = [];
  /** The start of the sample, and the place below each total row that is no part of a later total. */
  #places: Place[] = [];
  #before: SampleRow = [];
  #rows = 0;
  #bodyRows = 0;
  #blankRows = 0;
  #repeatedHeaders = 0;
  #isPartial = false;

  constructor(headers: readonly string[]) {
    this.#headers = headers.map((header) => headerKey(header, 'normal'));
    const forms = compiledForms();
    const budget = new DigestBudget();
    this.#repeats = budget.counter();
    this.#columns = headers.map(() => new ColumnProfile(forms, budget));
    this.#places.push(this.#place);
  }

  add(row: SampleRow): void {
    this.#rows++;
    this.#held.push(row);
    if (this.#held.length > FOOTER_ROWS_MAX) this.#take(this.#held.shift()!);
  }

  /** Counts a row that is not profiled if it is blank, a repeated header or a total row. */
  skip(line: string): void {
    this.#isPartial = true;
    for (const row of this.#held.splice(0)) this.#take(row);
    this.#before = [];
    const start = line.charCodeAt(ROW_START.length + 1);
    if (line[ROW_START.length] === '"') {
      // Spaces, quotes and escapes begin cells that must be read first.
      const isPlain = start > SPACE && start !== QUOTE && start !== ESCAPE;
      const first = isPlain ? line.slice(ROW_START.length + 1, line.indexOf('"', ROW_START.length + 1)) : '';
      if (isPlain && !SUM_TEXT.test(first) && headerKey(first, 'normal') !== this.#headers[0]) return;
    } else if (line[ROW_START.length] !== 'n') return;
    const row = rowOf(line);
    const total = totalCell(row);
    if (row.every(isBlank)) this.#blankRows++;
    else if (this.#isHeader(row)) this.#repeatedHeaders++;
    else if (total !== null) this.#holdTotal(row, total);
  }

  end(): Omit<SampleProfile, Unprofiled> {
    const footer = this.#footer();
    const subtotals = this.#subtotals();
    if (subtotals === null) {
      for (const { row } of this.#totals.splice(0)) {
        // The row above this row is no longer known.
        this.#before = [];
        this.#count(row);
      }
    }
    return {
      columns: this.#columns,
      profiledRows: this.#rows,
      bodyRows: this.#bodyRows,
      blankRows: this.#blankRows,
      repeatedHeaders: this.#repeatedHeaders,
      repeatedRows: this.#repeats.repeats,
      subtotals,
      footer: footer.map((cells) => ({ cells })),
      fills: [...this.#fills].flatMap(([column, keys]) => this.#key(keys).map((by) => ({ column, by }))),
    };
  }

  /** Takes the last rows except the footer, and returns the footer. A subtotal above the footer is not part of it. */
  #footer(): readonly SampleRow[] {
    for (;;) {
      const found = footersOf(this.#held, this.#before.length === 0 ? null : this.#before);
      for (const row of this.#held.splice(0, this.#held.length - found.length)) this.#take(row);
      const [first, ...below] = found;
      if (first === undefined) return [];
      const total = sumWord(first);
      const start = total === null ? null : this.#sumStart(first, total);
      const next = below.findIndex((row) => sumWord(row) !== null);
      const isKnown = this.#totals.some(({ cell }) => cell.text === total?.text);
      const hasRowsBelow = below.slice(0, Math.max(0, next)).some((row) => !row.every(isBlank));
      // A sum of all rows is the grand total if there is no total below it.
      const isSubtotal =
        total !== null &&
        (next >= 0
          ? start !== null || isKnown || hasRowsBelow
          : start !== null && start > 0 && below.every((row) => row.every(isBlank)));
      if (!isSubtotal) {
        if (!this.#isCell(first)) return found;
        for (const row of this.#held.splice(0)) this.#take(row);
        return [];
      }
      this.#take(this.#held.shift()!);
    }
  }

  /** Returns null if there are no total rows above the footer, or if they are ordinary rows. */
  #subtotals(): Subtotals | null {
    const [first] = this.#totals;
    if (first === undefined) return null;
    const { column } = first.cell;
    const rows = this.#totals.length;
    const proven = this.#totals.filter(({ isProven }) => isProven).length;
    const isSure = this.#isPartial ? rows > 1 : proven >= rows * PROVEN_SHARE;
    if (!isSure || this.#totals.some(({ cell }) => cell.column !== column)) return null;
    const words = [...new Set(this.#totals.map(({ cell }) => cell.text))];
    return { column, words, rows, provenRows: this.#isPartial ? null : proven };
  }

  /**
   * True if a supposed note is data, because its text also occurs in the column. Ending the table at this text would
   * cut the data off.
   */
  #isCell(row: SampleRow): boolean {
    const note = sumWord(row) !== null ? null : noteCell(row);
    return note !== null && this.#columns[note.column]!.has(note.text);
  }

  /** The first key column that distinguishes rows; a column with one constant value does not. */
  #key(keys: ReadonlySet<number>): number[] {
    return [...keys].filter((by) => this.#columns[by]!.values?.size !== 1).slice(0, 1);
  }

  #take(row: SampleRow): void {
    if (row.every(isBlank)) {
      this.#blankRows++;
      return;
    }
    if (this.#isHeader(row)) {
      this.#repeatedHeaders++;
      return;
    }
    const cell = totalCell(row);
    if (cell === null) this.#count(row);
    else this.#holdTotal(row, cell);
  }

  #count(row: SampleRow): void {
    this.#bodyRows++;
    for (const [at, cell] of row.entries()) this.#columns[at]?.add(cell);
    this.#repeats.add(JSON.stringify(row));
    if (this.#before.length > 0) this.#followFills(row);
    this.#before = row;
  }

  #holdTotal(row: SampleRow, cell: FooterCell): void {
    if (this.#totals.length >= TOTAL_ROWS_MAX) {
      this.#count(row);
      return;
    }
    const start = this.#isPartial ? null : this.#sumStart(row, cell);
    this.#totals.push({ row, cell, isProven: start !== null });
    const [first, ...others] = start === null ? this.#places : this.#places.slice(0, start + 1);
    this.#places = [first!, ...others.slice(-PLACES_MAX), this.#place];
  }

  /** Returns the index of the latest place since which the rows add up to the amounts of this row; null if there is none. */
  #sumStart(row: SampleRow, { column }: FooterCell): number | null {
    const amounts = row.flatMap((cell, at) =>
      at !== column && !isBlank(cell) && isAmount(cell) && this.#columns[at] !== undefined ? [at] : [],
    );
    const isSumSince = ({ sums }: Place, at: number): boolean =>
      DECIMAL_MARKS.some((mark) => this.#columns[at]!.numbers.isSum(String(row[at]), mark, sums[at]!));
    const start = this.#places.findLastIndex((place) => {
      const rows = this.#bodyRows - place.bodyRows;
      const summed = amounts.filter((at) => isSumSince(place, at));
      return (
        rows > 0 && summed.length > 0 && amounts.every((at) => summed.includes(at) || String(row[at]) === String(rows))
      );
    });
    return start < 0 ? null : start;
  }

  get #place(): Place {
    return { bodyRows: this.#bodyRows, sums: this.#columns.map(({ numbers }) => numbers.point) };
  }

  /** A file with a single named column never has repeated headers, because such a row could be a value. */
  #isHeader(row: SampleRow): boolean {
    if (this.#headers.filter((header) => header !== '').length < 2) return false;
    return row.every((cell, at) => headerKey(String(cell ?? ''), 'normal') === this.#headers[at]);
  }

  #followFills(row: SampleRow): void {
    const kept: number[] = [];
    for (let at = 0; at < Math.min(KEY_COLUMNS_MAX, row.length); at++) {
      if (!isBlank(row[at]!) && row[at] === this.#before[at]) kept.push(at);
    }
    for (const [column, cell] of row.entries()) {
      if (!isBlank(cell)) continue;
      const known = this.#fills.get(column);
      this.#fills.set(column, new Set(known === undefined ? kept : kept.filter((at) => known.has(at))));
    }
  }
}

const [SPACE, QUOTE, ESCAPE] = [0x20, 0x22, 0x5c];

/** Matches each first cell that may belong to a total row, before the row is parsed. */
const SUM_TEXT = /total|sum|gesamt|totaal|somme|итого|\\/i;

export function isBlank(cell: SampleCell | undefined): boolean {
  return cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '');
}
