// Answers questions about a watched Run: the columns and counts after each operation, windows of rows, and the
// history of a cell.

import type { PlannedStep } from '../plan/plan.ts';
import { type CodeCounts, rowOfFile } from '../protocol/report.ts';
import type { KeptRow } from './kept-rows.ts';
import type { RunSnapshot, Trouble } from './run-snapshot.ts';
import type {
  RowFilter,
  RowsRequest,
  SourceRows,
  TracedCell,
  TraceRequest,
  WatchedRow,
  WatchedRows,
  WatchedStep,
  WatchedTrouble,
} from './watch-messages.ts';

/** Maximum number of rows with errors that are reported for the next Run over a large file. */
const TROUBLED_ROWS_MAX = 1_000;

/** Answers about one complete snapshot. Results are cached. */
export class SnapshotAnswers {
  readonly #snapshot: RunSnapshot;
  /** The rows that match a filter, by step and filter. */
  readonly #filtered = new Map<string, readonly KeptRow[]>();
  readonly #troublesByRow = new Map<number, ReadonlyMap<number, readonly Trouble[]>>();

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
  get troubledRows(): readonly number[] {
    const operations = this.#snapshot.plan?.steps ?? [];
    const rows = new Set(
      operations.flatMap((_, operation) => this.#snapshot.troubles(operation).map(({ row }) => row)),
    );
    return [...rows].sort((a, b) => a - b).slice(0, TROUBLED_ROWS_MAX);
  }

  rows({ step, filter, from, count }: RowsRequest): WatchedRows {
    const rows = this.#rows(step, filter);
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
        troubles: step === 0 ? [] : (isAlone ? alone! : this).#troublesOf(step, sourceRow),
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

  #rows(step: number, filter: RowFilter): readonly KeptRow[] {
    const key = `${step} ${filter}`;
    const known = this.#filtered.get(key);
    if (known !== undefined) return known;
    const found = this.#find(step, filter);
    this.#filtered.set(key, found);
    return found;
  }

  #find(step: number, filter: RowFilter): readonly KeptRow[] {
    if (filter === 'changed') return this.#snapshot.changed(step);
    if (filter === 'all') return this.#firstRows(step);
    // Rows with errors are shown as they arrived at the operation, because the operation may have dropped them.
    if (step === 0) return [];
    const troubled = this.#snapshot.troubled(step - 1);
    const known = new Set(troubled.map(({ sourceRow }) => sourceRow));
    // The operation reported errors of rows that it had held back. These rows are available if they are among the
    // first rows.
    const held = this.#firstRows(step - 1)
      .filter(({ sourceRow }) => !known.has(sourceRow) && this.#troublesOf(step, sourceRow).length > 0)
      .map((row) => ({ ...row, changed: [] }));
    return [...held, ...troubled].sort((a, b) => a.sourceRow - b.sourceRow);
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
    return { ...row, fileRow: rowOfFile(row.sourceRow), troubles: this.#troublesOf(step, row.sourceRow) };
  }

  #troublesOf(step: number, sourceRow: number): readonly WatchedTrouble[] {
    let byRow = this.#troublesByRow.get(step);
    if (byRow === undefined) {
      const made = new Map<number, Trouble[]>();
      for (const trouble of this.#snapshot.troubles(step - 1)) {
        made.set(trouble.row, [...(made.get(trouble.row) ?? []), trouble]);
      }
      byRow = made;
      this.#troublesByRow.set(step, byRow);
    }
    return (byRow.get(sourceRow) ?? []).map(({ column, code }) => ({ column, code }));
  }
}
