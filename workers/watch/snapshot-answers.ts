// Answers questions about a watched Run: what stands behind each operation, windows of rows, the way of a cell.
import type { PlannedStep } from '../plan/plan.ts';
import type { CodeCounts } from '../run/report.ts';
import type { RunSnapshot, Trouble } from './run-snapshot.ts';
import type { StepRows } from './step-rows.ts';
import type {
  RowFilter,
  RowsRequest,
  SourceRows,
  SourceRowsRequest,
  TracedCell,
  TraceRequest,
  WatchedRow,
  WatchedRows,
  WatchedStep,
  WatchedTrouble,
} from './watch-messages.ts';

/** Of one snapshot that is complete: what was found out of it once is kept. */
export class SnapshotAnswers {
  readonly #snapshot: RunSnapshot;
  /** Places of the rows that a filter lets through, by step and filter. */
  readonly #filtered = new Map<string, readonly number[]>();
  readonly #troublesByRow = new Map<number, ReadonlyMap<number, readonly Trouble[]>>();

  constructor(snapshot: RunSnapshot) {
    this.#snapshot = snapshot;
  }

  /** Nothing where the Run did not come to its first row. */
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

  /** Those that the file has: columns of nulls, and the flag column, are the Template's. */
  get headers(): readonly string[] {
    const { plan } = this.#snapshot;
    if (plan === null) return [];
    return this.#ownColumns().map((index) => plan.headers.get(plan.schema[index]!.id) ?? plan.schema[index]!.name);
  }

  rows({ step, filter, from, count }: RowsRequest): WatchedRows {
    const places = this.#places(step, filter);
    const rows = places.slice(from, from + count).map((place) => this.#row(step, place, filter));
    return { count: places.length, from, rows };
  }

  trace({ sourceRow, repeat, columnId }: TraceRequest): readonly TracedCell[] {
    const { plan } = this.#snapshot;
    if (plan === null) return [];
    let before: string | null | undefined;
    return Array.from({ length: plan.steps.length + 1 }, (_, step): TracedCell => {
      const rows = this.#snapshot.step(step)!;
      const column = rows.columnOf(columnId);
      const place = rows.find(sourceRow, repeat);
      const isThere = place >= 0 && column >= 0;
      const text = isThere ? rows.cells(place)[column]! : null;
      const isChanged = isThere && before !== undefined && before !== text;
      if (isThere) before = text;
      return {
        operation: step === 0 ? null : plan.steps[step - 1]!.operation.name,
        column: column < 0 ? null : rows.schema[column]!.name,
        isThere,
        text,
        isChanged,
        troubles: step === 0 ? [] : this.#troublesOf(step, sourceRow),
      };
    });
  }

  sourceRows({ rows }: SourceRowsRequest): SourceRows {
    const input = this.#snapshot.step(0);
    if (input === null) return { headers: [], rows: [] };
    const places = rows.map((row) => input.find(row, 0)).filter((place) => place >= 0);
    const own = this.#ownColumns();
    return {
      headers: this.headers,
      rows: places.map((place) => own.map((index) => input.cells(place)[index]!)),
    };
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
      changedRows: this.#places(step, 'changed').length,
      keptRows: rows.count,
    };
  }

  #places(step: number, filter: RowFilter): readonly number[] {
    const key = `${step} ${filter}`;
    const known = this.#filtered.get(key);
    if (known !== undefined) return known;
    const found = this.#find(step, filter);
    this.#filtered.set(key, found);
    return found;
  }

  #find(step: number, filter: RowFilter): readonly number[] {
    const rows = this.#shownRows(step, filter);
    if (rows === null) return [];
    const all = Array.from({ length: rows.count }, (_, place) => place);
    if (filter === 'all') return all;
    if (filter === 'errors') return all.filter((place) => this.#troublesOf(step, rows.sourceRow(place)).length > 0);
    const before = this.#snapshot.step(step - 1);
    return before === null ? [] : all.filter((place) => rows.changes(place, before).length > 0);
  }

  /** Rows in trouble are shown as they came to the operation: behind it many are gone. */
  #shownRows(step: number, filter: RowFilter): StepRows | null {
    return this.#snapshot.step(filter === 'errors' ? Math.max(0, step - 1) : step);
  }

  #row(step: number, place: number, filter: RowFilter): WatchedRow {
    const rows = this.#shownRows(step, filter)!;
    const before = filter === 'errors' ? null : this.#snapshot.step(step - 1);
    const sourceRow = rows.sourceRow(place);
    return {
      sourceRow,
      repeat: rows.repeat(place),
      cells: rows.cells(place),
      changed: before === null ? [] : rows.changes(place, before),
      troubles: this.#troublesOf(step, sourceRow),
    };
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
