// Reads a whole sample and counts what a draft needs to know of it: how it is read, its rows, its columns. Rows at the foot are held
// back, as a sum or a note there is no cell of its column.
import { inputFormats } from '../../workers/input/index.ts';
import { headerNames } from '../../workers/plan/file-columns.ts';
import { headerKey } from '../../workers/plan/headers.ts';
import type { Failure } from '../../workers/protocol/failure.ts';
import { type Inspection, inspectFile } from '../../workers/run/inspect.ts';
import type { CodeCounts } from '../../workers/run/report.ts';
import { ColumnProfile, type SampleCell } from './column-profile.ts';
import { compiledForms } from './date-cells.ts';
import { DigestRoom, type RepeatCounter } from './digest-counts.ts';
import { type FootRow, footersOf, noteCell, sumWord } from './foot-rows.ts';
import { outputLines, type RunSample, templateText } from './sample-run.ts';

export type SampleRow = readonly SampleCell[];

export interface SampleProfile {
  readonly head: Inspection['head'];
  /** As a Template finds the columns: equal ones told apart by a number, blank ones named by their place. */
  readonly headers: readonly string[];
  readonly explanation: Inspection['explanation'];
  readonly rows: number;
  /** Of the rows that are neither blank nor a header again nor at the foot. */
  readonly columns: readonly ColumnProfile[];
  readonly bodyRows: number;
  readonly blankRows: number;
  readonly repeatedHeaders: number;
  /** Rows that are equal to one before; null: too many to tell. */
  readonly repeatedRows: number | null;
  readonly foot: readonly FootRow[];
  /** Columns whose blank cells all stand in rows that have the same cell in column `by` as the row above. */
  readonly fills: readonly { readonly column: number; readonly by: number }[];
  /** What was met on the way: rows of another length, quotes in odd places. */
  readonly oddities: CodeCounts;
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

/** Last rows among which a sum or notes are looked for. */
const FOOT_ROWS_MAX = 5;

/** Columns from the left that may say which rows belong together. */
const KEY_COLUMNS_MAX = 8;

export async function profileSample(path: string, run: RunSample): Promise<SampleProfile> {
  const { head, explanation } = await inspectFile(path, { formats: inputFormats, explains: true });
  const result = await run(templateText(JSON.stringify(bareTemplate(head)), 'json'));
  const { failure, report } = result.outcome;
  if (failure !== null) throw new SampleRefusedError(failure);
  const counter = new RowCounter(head.headers);
  for await (const line of outputLines(result)) {
    if (line !== '') counter.add(Object.values(JSON.parse(line) as Record<string, SampleCell>));
  }
  return {
    head,
    headers: headerNames(head.headers),
    explanation,
    rows: report.rows_read,
    oddities: report.input.errors,
    ...counter.end(),
  };
}

/** Columns by place, so that any header will do. */
function bareTemplate({ headers }: Inspection['head']): object {
  return {
    format: 1,
    input: {
      csv: { encoding: 'auto' },
      columns: headers.map((_, at) => ({ name: `draft column ${at + 1}`, match: [{ position: at + 1 }] })),
      other_columns: 'drop',
    },
    operations: [],
    output: { format: 'ndjson', formula_guard: 'off', json: { nulls: 'include' } },
  };
}

class RowCounter {
  readonly #headers: readonly string[];
  readonly #columns: readonly ColumnProfile[];
  readonly #held: SampleRow[] = [];
  readonly #fills: Map<number, Set<number>> = new Map();
  readonly #repeats: RepeatCounter;
  #before: SampleRow = [];
  #bodyRows = 0;
  #blankRows = 0;
  #repeatedHeaders = 0;

  constructor(headers: readonly string[]) {
    this.#headers = headers.map((header) => headerKey(header, 'normal'));
    const forms = compiledForms();
    const room = new DigestRoom();
    this.#repeats = room.counter();
    this.#columns = headers.map(() => new ColumnProfile(forms, room));
  }

  add(row: SampleRow): void {
    this.#held.push(row);
    if (this.#held.length > FOOT_ROWS_MAX) this.#take(this.#held.shift()!);
  }

  end(): Pick<
    SampleProfile,
    'columns' | 'bodyRows' | 'blankRows' | 'repeatedHeaders' | 'repeatedRows' | 'foot' | 'fills'
  > {
    const found = footersOf(this.#held, this.#before.length === 0 ? null : this.#before);
    for (const row of this.#held.slice(0, this.#held.length - found.length)) this.#take(row);
    const foot = this.#isCell(found[0]) ? [] : found;
    if (foot.length < found.length) for (const row of found) this.#take(row);
    return {
      columns: this.#columns,
      bodyRows: this.#bodyRows,
      blankRows: this.#blankRows,
      repeatedHeaders: this.#repeatedHeaders,
      repeatedRows: this.#repeats.repeats,
      foot: foot.map((cells) => ({ cells })),
      fills: [...this.#fills].flatMap(([column, keys]) => this.#key(keys).map((by) => ({ column, by }))),
    };
  }

  /** Whether the row is no note: what it has for one is a cell of the table, too, and would end it there. */
  #isCell(row: SampleRow | undefined): boolean {
    const note = row === undefined || sumWord(row) !== null ? null : noteCell(row);
    return note !== null && this.#columns[note.column]!.has(note.text);
  }

  /** The first that tells rows apart: what is the same throughout does not. */
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
    this.#bodyRows++;
    for (const [at, cell] of row.entries()) this.#columns[at]?.add(cell);
    this.#repeats.add(JSON.stringify(row));
    if (this.#before.length > 0) this.#followFills(row);
    this.#before = row;
  }

  /** Of a single column it could be a cell like others. */
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

export function isBlank(cell: SampleCell | undefined): boolean {
  return cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '');
}
