// Answers questions about a watched Run: the columns and counts after each operation, windows of rows, the
// history of a cell, and rows with unusual cells.

import { utf8Text } from '../batch/ascii-text.ts';
import type { Batch } from '../batch/batch.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { PlannedStep } from '../plan/plan.ts';
import { type CodeCounts, rowOfFile } from '../protocol/report.ts';
import type { RunWatch } from '../run/run-job.ts';
import { ASCII_SHAPES, RUNS, SHAPE_CHARACTERS_MAX, shapeOf } from './column-profile.ts';
import type { KeptRow } from './kept-rows.ts';
import type { KeptError, RunSnapshot } from './run-snapshot.ts';
import type {
  CellFilter,
  RowFilter,
  RowsRequest,
  SourceRows,
  TracedCell,
  TraceRequest,
  ValueRange,
  WatchedError,
  WatchedRow,
  WatchedRows,
  WatchedStep,
} from './watch-messages.ts';

/** Maximum number of rows with errors that are reported for the next Run over a large file. */
const ROWS_WITH_ERRORS_MAX = 1_000;

/** Answers about one complete snapshot. Results are cached. */
export class SnapshotAnswers {
  readonly #snapshot: RunSnapshot;
  /** The rows that match a filter, by step and filter. */
  readonly #filtered = new Map<string, readonly KeptRow[]>();
  readonly #errorsByRow = new Map<number, ReadonlyMap<number, readonly KeptError[]>>();

  constructor(snapshot: RunSnapshot) {
    this.#snapshot = snapshot;
  }

  /** Empty if the Run did not reach its first row. */
  get steps(): readonly WatchedStep[] {
    const { plan, report } = this.#snapshot;
    if (plan === null || report === null) return [];
    const inputRows = report.operations[0]?.rows_in ?? this.#snapshot.rowsSeen;
    const input = this.#step(0, null, { rows: inputRows, cellsChanged: 0, errors: report.input.errors });
    const others = plan.steps.map((step, index) => {
      const { rows_out: rows, cells_changed: cellsChanged, errors } = report.operations[index]!;
      return this.#step(index + 1, step, { rows, cellsChanged, errors });
    });
    return [input, ...others];
  }

  /** Headers of the file's columns. Excludes columns of nulls and the flag column, which the Template adds. */
  get headers(): readonly string[] {
    const { plan } = this.#snapshot;
    if (plan === null) return [];
    return this.#ownColumns().map((index) => plan.headers.get(plan.schema[index]!.id) ?? plan.schema[index]!.name);
  }

  /** Source rows with an error at any operation, ascending. */
  get rowsWithErrors(): readonly number[] {
    const operations = this.#snapshot.plan?.steps ?? [];
    const rows = new Set(operations.flatMap((_, operation) => this.#snapshot.errors(operation).map(({ row }) => row)));
    return [...rows].sort((a, b) => a - b).slice(0, ROWS_WITH_ERRORS_MAX);
  }

  rows({ step, filter, cell = null, from, count }: RowsRequest): WatchedRows {
    const rows = this.#rows(step, filter, cell);
    const shown = rows.slice(from, from + count);
    return { count: rows.length, from, rows: shown.map((row) => this.#shown(step, row)) };
  }

  /**
   * @param alone answers of a Run of this row alone, for a row that was not kept. They are valid up to the first
   * operation whose result depends on other rows.
   */
  trace({ sourceRow, repeat, columnId }: TraceRequest, alone: SnapshotAnswers | null = null): readonly TracedCell[] {
    const { plan } = this.#snapshot;
    if (plan === null) return [];
    let before: string | null | undefined;
    let isAlone = alone !== null;
    return Array.from({ length: plan.steps.length + 1 }, (_, step): TracedCell => {
      const planned = step === 0 ? null : plan.steps[step - 1]!;
      isAlone &&= planned?.rowLocal !== false;
      const snapshot = isAlone ? alone!.#snapshot : this.#snapshot;
      const rows = this.#snapshot.step(step)!;
      const column = rows.columnOf(columnId);
      const row = column < 0 ? null : snapshot.row(step, sourceRow, repeat);
      const text = row === null ? null : row.cells[column]!;
      const isChanged = row !== null && before !== undefined && before !== text;
      if (row !== null) before = text;
      return {
        operation: planned?.operation.name ?? null,
        column: column < 0 ? null : rows.schema[column]!.name,
        isThere: row !== null,
        text,
        isChanged,
        errors: step === 0 ? [] : (isAlone ? alone! : this).#errorsOf(step, sourceRow),
      };
    });
  }

  /** Returns false if another Run is needed to find out how the row arrived at the first operation. */
  hasSourceRow(row: number): boolean {
    return this.#snapshot.row(0, row, 0) !== null;
  }

  sourceRows(rows: readonly number[]): SourceRows {
    const own = this.#ownColumns();
    const found = rows.flatMap((row) => this.#snapshot.row(0, row, 0) ?? []);
    return { headers: this.headers, rows: found.map(({ cells }) => own.map((index) => cells[index]!)) };
  }

  #ownColumns(): readonly number[] {
    const columns = this.#snapshot.plan?.columns ?? [];
    return columns.flatMap((field, index) => (field === null ? [] : [index]));
  }

  #step(
    step: number,
    planned: PlannedStep | null,
    counts: { readonly rows: number; readonly cellsChanged: number; readonly errors: CodeCounts },
  ): WatchedStep {
    const rows = this.#snapshot.step(step)!;
    const operation = planned?.operation;
    return {
      operation: operation?.name ?? null,
      id: operation?.id ?? null,
      pointer: operation?.pointer ?? null,
      line: operation?.place?.line ?? null,
      isExact: planned === null || planned.rowLocal,
      columns: rows.schema.map(({ id, name, type }) => ({ id, name, type })),
      ...counts,
      changedRows: this.#snapshot.changed(step).length,
      hasMoreChanged: this.#snapshot.hasMoreChanged(step),
      keptRows: rows.count,
    };
  }

  #rows(step: number, filter: RowFilter, cell: CellFilter | null): readonly KeptRow[] {
    const key = `${step} ${filter} ${JSON.stringify(cell)}`;
    const known = this.#filtered.get(key);
    if (known !== undefined) return known;
    const all = this.#find(step, filter);
    const found = cell === null ? all : all.filter(({ cells }) => hasValue(cells[cell.column], cell));
    this.#filtered.set(key, found);
    return found;
  }

  #find(step: number, filter: RowFilter): readonly KeptRow[] {
    if (filter === 'changed') return this.#snapshot.changed(step);
    if (filter === 'all') return this.#firstRows(step);
    // Rows with errors are shown as they arrived at the operation, because the operation may have dropped them.
    if (step === 0) return [];
    const rowsWithErrors = this.#snapshot.rowsWithErrors(step - 1);
    const known = new Set(rowsWithErrors.map(({ sourceRow }) => sourceRow));
    // The operation reported errors of rows that it had held back. These rows are available if they are among the
    // first rows.
    const held = this.#firstRows(step - 1)
      .filter(({ sourceRow }) => !known.has(sourceRow) && this.#errorsOf(step, sourceRow).length > 0)
      .map((row) => ({ ...row, changed: [] }));
    return [...held, ...rowsWithErrors].sort((a, b) => a.sourceRow - b.sourceRow);
  }

  #firstRows(step: number): readonly KeptRow[] {
    const rows = this.#snapshot.step(step);
    if (rows === null) return [];
    return Array.from(
      { length: rows.count },
      (_, place) => this.#snapshot.row(step, rows.sourceRow(place), rows.repeat(place))!,
    );
  }

  #shown(step: number, row: KeptRow): WatchedRow {
    return { ...row, fileRow: rowOfFile(row.sourceRow), errors: this.#errorsOf(step, row.sourceRow) };
  }

  #errorsOf(step: number, sourceRow: number): readonly WatchedError[] {
    let byRow = this.#errorsByRow.get(step);
    if (byRow === undefined) {
      const made = new Map<number, KeptError[]>();
      for (const error of this.#snapshot.errors(step - 1)) {
        made.set(error.row, [...(made.get(error.row) ?? []), error]);
      }
      byRow = made;
      this.#errorsByRow.set(step, byRow);
    }
    return (byRow.get(sourceRow) ?? []).map(({ column, code }) => ({ column, code }));
  }
}

function hasValue(text: string | null | undefined, { text: wanted, range }: CellFilter): boolean {
  if (range !== null) return isInRange(text, range);
  return wanted === null ? text === null || text?.trim() === '' : text === wanted;
}

function isInRange(text: string | null | undefined, { from, to }: ValueRange): boolean {
  const value = orderOfText(text);
  // NaN: the cell has no value.
  return value >= (from === null ? value : orderOfText(from)) && (to === null || value < orderOfText(to));
}

/** The number, or the moment of the date. */
function orderOfText(text: string | null | undefined): number {
  if (text === null || text === undefined || text.trim() === '') return Number.NaN;
  const value = Number(text);
  return Number.isNaN(value) ? Date.parse(text) : value;
}

// Finds rows with cells of a shape that is new in their column.

// Hash of the shape of a cell, computed from its bytes. Fast enough to search millions of cells in seconds.

/**
 * FNV-1a with 32 bits. A column has at most a few thousand shapes, so collisions are rare; a collision only hides one
 * row.
 */
const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;

const PLUS = 0x2b;

/** @returns a hash of the shape (see shapeOf) of a UTF-8 text */
export function shapeHash(u8: Uint8Array, start: number, length: number): number {
  let hash = FNV_OFFSET;
  let last = 0;
  let run = 0;
  const end = start + Math.min(length, SHAPE_CHARACTERS_MAX);
  for (let at = start; at < end; at++) {
    const byte = u8[at]!;
    if (byte >= ASCII_SHAPES.length) return hashOf(shapeOf(utf8Text(u8, start, length)));
    const shape = ASCII_SHAPES[byte]!;
    run = shape === last && RUNS.has(shape) ? run + 1 : 1;
    last = shape;
    if (run <= 2) hash = Math.imul(hash ^ (run === 2 ? PLUS : shape), FNV_PRIME);
  }
  return hash;
}

function hashOf(shape: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < shape.length; index++) hash = Math.imul(hash ^ shape.charCodeAt(index), FNV_PRIME);
  return hash;
}

// The observer of a Run. In a file of millions of rows, unusual values are among the rows with new shapes.

/** Maximum number of rows noted. Each of them is processed again at every change of a Template. */
const ROWS_MAX = 1_000;

/**
 * Maximum number of new shapes noted per column. Free text has endless shapes and must not use up the capacity of
 * other columns.
 */
const SHAPES_OF_COLUMN_MAX = 100;

/** Maximum number of columns examined. Each remembers a few thousand shapes. */
const COLUMNS_MAX = 1_000;

/** Shape of a null. A text has this hash only by chance. */
const NULL_SHAPE = 0;

export class ShapeRows implements RunWatch {
  readonly continuesAfterFailure = false;
  readonly pickedRows = null;
  readonly #firstRows: number;
  #columns: ShapeColumn[] = [];
  #found: number[] = [];
  #rowsSeen = 0;

  /** @param firstRows number of leading rows: they are never noted, and later rows with their shapes are not new */
  constructor(firstRows: number) {
    this.#firstRows = firstRows;
  }

  /** Returns 0 if no further row would be noted. */
  get rowsMax(): number {
    const isFull = this.#found.length === ROWS_MAX || (this.#rowsSeen > 0 && this.#columns.length === 0);
    return isFull ? 0 : Number.POSITIVE_INFINITY;
  }

  begin(): void {
    this.#columns = [];
    this.#found = [];
    this.#rowsSeen = 0;
  }

  rows(step: number, batch: Batch): void {
    if (step > 0) return;
    if (this.#rowsSeen === 0)
      this.#columns = batch.columns.slice(0, COLUMNS_MAX).map((_, index) => new ShapeColumn(index));
    for (const column of this.#columns) column.bind(batch);
    for (let position = 0; position < batch.live && this.#found.length < ROWS_MAX; position++) {
      this.#rowsSeen++;
      const row = batch.physicalRow(position);
      const isNoted = this.#rowsSeen > this.#firstRows;
      let isNew = false;
      for (const column of this.#columns) if (column.add(row, isNoted)) isNew = true;
      if (isNew) this.#found.push(batch.sourceRow(row));
    }
    this.#columns = this.#columns.filter(({ isFull }) => !isFull);
  }

  passed(): void {}

  rowError(): void {}

  /** The Run has ended: drops all references to its memory. */
  close(): void {
    this.#columns = [];
  }

  get rowsSeen(): number {
    return this.#rowsSeen;
  }

  /** Source rows, ascending. */
  get found(): readonly number[] {
    return this.#found;
  }
}

class ShapeColumn {
  readonly #index: number;
  readonly #known = new Set<number>();
  #noted = 0;
  #batch!: Batch;
  #views = 0;

  constructor(index: number) {
    this.#index = index;
  }

  get isFull(): boolean {
    return this.#noted === SHAPES_OF_COLUMN_MAX;
  }

  /** @param batch owned by the observer */
  bind(batch: Batch): void {
    this.#views = batch.views(this.#index) >>> 2;
    this.#batch = batch;
  }

  /** @returns true if the row has a new shape that is to be noted */
  add(row: number, isNoted: boolean): boolean {
    const { u8, u32 } = this.#batch.heap;
    const at = this.#views + row * (VIEW_BYTES / 4);
    const start = u32[at]!;
    const shape = start === 0 ? NULL_SHAPE : shapeHash(u8, start, u32[at + 1]!);
    if (this.isFull || this.#known.has(shape)) return false;
    this.#known.add(shape);
    if (isNoted) this.#noted++;
    return isNoted;
  }
}
