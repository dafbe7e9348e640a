// Judges rows by rules. Every rule sees the row as it came in; what rules find is settled in their order, up to the one
// that drops the row. Which rows repeat a key is known before (DuplicateMarker): it stands in columns behind the others.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import type { RowErrorCode } from '../../run/report.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { PAUSE, type Slices } from '../../run/time-slices.ts';
import { withoutRows } from '../cells/cell-operator.ts';
import { CellFault } from '../cells/value-cells.ts';
import { RowExpression } from '../expressions/row-expression.ts';
import { MISSING } from '../join/table-probe.ts';
import { MARK_AGAIN } from '../keys/duplicate-marker.ts';
import { AcceptedCells, markEmptyCells } from './accepted-cells.ts';
import { isStaged, type PlannedRule } from './plan-rules.ts';

/** One rule at work. */
interface RunningRule {
  readonly planned: PlannedRule;
  /** Index of the column that is judged, or -1. */
  readonly column: number;
  bind(batch: Batch): void;
  judge(row: number): RowErrorCode | null;
  readonly where: RowExpression | null;
  /** Marks the live rows that the rule may not hold for (bytes by physical row); false when no kernel can tell. */
  markDoubtful(batch: Batch, marks: number): boolean;
}

/** What became of the rows of a batch. */
interface Outcome {
  readonly dropped: Set<number>;
  /** Rows to blank, by column. */
  readonly blanks: Map<number, Set<number>>;
}

export class Validator implements Operator {
  readonly #context: OperatorContext;
  readonly #rules: readonly RunningRule[];

  /** @param context its `input` is without the columns of marks; these are in the order of the rules that keep keys */
  constructor(context: OperatorContext, rules: readonly PlannedRule[]) {
    this.#context = context;
    let marks = context.input.length;
    this.#rules = rules.map((rule) => runningRule(rule, context, isStaged(rule) ? marks++ : -1));
  }

  *push(batch: Batch): Slices {
    const { arena, clock, input, next } = this.#context;
    const mark = arena.next;
    const outcome: Outcome = { dropped: new Set(), blanks: new Map() };
    for (const rule of this.#rules) rule.bind(batch);
    const rows = batch.withColumns(batch.columns.slice(0, input.length));
    const doubtful = this.#doubtful(batch);
    for (let position = 0; position < doubtful.live; position++) {
      this.#judge(rows, doubtful.physicalRow(position), outcome);
      if ((position & LOOK_MASK) === LOOK_MASK && clock.isDue()) yield PAUSE;
    }
    const kept = outcome.dropped.size === 0 ? rows : withoutRows(rows, outcome.dropped);
    if (kept.live > 0) yield* next(kept.withColumns(this.#blanked(rows, outcome)));
    arena.release(mark);
  }

  /** The rows that not all rules are known to hold for. */
  #doubtful(batch: Batch): Batch {
    const { arena, kernel } = this.#context;
    const marks = arena.take(batch.rows);
    arena.heap.u8.fill(0, marks, marks + batch.rows);
    if (!this.#rules.every((rule) => rule.markDoubtful(batch, marks))) return batch;
    const list = arena.take(batch.live * 4);
    arena.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
    return batch.withSelection(list, kernel.exports.keepMarked(marks, list, batch.live));
  }

  #judge(batch: Batch, row: number, { dropped, blanks }: Outcome): void {
    for (const { planned, column, where, judge } of this.#rules) {
      const holds = where === null ? true : where.holds(row);
      const code = holds === true ? judge(row) : holds instanceof CellFault ? holds.code : null;
      if (code === null) continue;
      const action = this.#context.errors.report(batch, row, planned.column?.name ?? null, code, planned.outcome);
      if (action === 'drop_row') {
        dropped.add(row);
        return;
      }
      if (action !== 'blank' || column < 0 || holds !== true) continue;
      const known = blanks.get(column);
      if (known === undefined) blanks.set(column, new Set([row]));
      else known.add(row);
    }
  }

  #blanked(batch: Batch, { dropped, blanks }: Outcome): ColumnData[] {
    const { report } = this.#context;
    return batch.columns.map((column, index) => {
      const rows = blanks.get(index);
      if (rows === undefined) return column;
      const { made, changed } = withNulls(batch, column, rows, dropped);
      report.cells_changed += changed;
      return made;
    });
  }
}

/** @param mark index of the rule's column of marks, or -1 */
function runningRule(planned: PlannedRule, context: OperatorContext, mark: number): RunningRule {
  const { column, test } = planned;
  const index = column === null ? -1 : context.indexOf(column);
  const reader = column === null ? null : new CellReader(column.type, index);
  const where = planned.where === null ? null : new RowExpression(planned.where, context.input, context);
  const { bind, judge, markDoubtful } = judgeOf(test, { reader, index }, context, mark);
  return {
    planned,
    column: index,
    where,
    bind(batch) {
      reader?.bind(batch);
      where?.bind(batch);
      bind(batch);
    },
    judge,
    // A condition that cannot be computed is told of rows too that the check passes.
    markDoubtful: where === null ? markDoubtful : () => false,
  };
}

type Judging = Pick<RunningRule, 'bind' | 'judge' | 'markDoubtful'>;

function judgeOf(
  test: PlannedRule['test'],
  { reader, index }: { readonly reader: CellReader | null; readonly index: number },
  context: OperatorContext,
  mark: number,
): Judging {
  const bind = (): void => undefined;
  switch (test.kind) {
    case 'required':
      return {
        bind,
        judge: (row) => (isEmpty(reader!.read(row)) ? 'REQUIRED_EMPTY' : null),
        markDoubtful(batch, marks) {
          markEmptyCells(context.kernel.exports, batch, index, marks);
          return true;
        },
      };
    case 'value': {
      const judge = test.check.judge(context);
      const accepted = AcceptedCells.of(context, index, test.check);
      return {
        bind: (batch) => accepted?.bind(batch),
        judge(row) {
          if (accepted?.has(row)) return null;
          const value = reader!.read(row);
          return isEmpty(value) ? null : judge(value);
        },
        markDoubtful: (batch, marks) => accepted?.markOthers(batch, marks) ?? false,
      };
    }
    case 'expression': {
      const expression = new RowExpression(test.expression, context.input, context, reader ?? undefined);
      return {
        bind: (batch) => expression.bind(batch),
        judge(row) {
          if (reader !== null && isEmpty(reader.read(row))) return null;
          const holds = expression.holds(row);
          return holds instanceof CellFault ? holds.code : holds === false ? 'OUT_OF_RANGE' : null;
        },
        markDoubtful: () => false,
      };
    }
    case 'unique':
      return judgeOfMarks(context, mark, MARK_AGAIN, 'NOT_UNIQUE', null);
    case 'exists':
      return judgeOfMarks(context, mark, MISSING, 'LOOKUP_MISS', reader);
  }
}

/** @param reader null: the mark is enough; else it only counts where the cell is not empty */
function judgeOfMarks(
  { kernel }: OperatorContext,
  index: number,
  found: number,
  code: RowErrorCode,
  reader: CellReader | null,
): Judging {
  let heap: Heap;
  let meta = 0;
  return {
    bind(batch) {
      const column = batch.columns[index]!;
      if (column.kind !== 'typed') throw new Error('the marks of a rule are missing');
      heap = batch.heap;
      meta = column.meta;
    },
    judge(row) {
      if (heap.u8[meta + row] !== found) return null;
      return reader !== null && isEmpty(reader.read(row)) ? null : code;
    },
    markDoubtful({ selection, live }, marks) {
      kernel.exports.markMeta(meta, selection, live, found, marks);
      return true;
    },
  };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '';
}

/** The column with nulls in some rows; `changed` counts those that had a value and are not dropped. */
function withNulls(
  { arena, rows: count, heap }: Batch,
  column: ColumnData,
  rows: ReadonlySet<number>,
  dropped: ReadonlySet<number>,
): { made: ColumnData; changed: number } {
  if (column.kind === 'raw') throw new Error('a column that was judged has views');
  let changed = 0;
  if (column.kind === 'views') {
    const at = arena.take(count * VIEW_BYTES);
    const { u8, u32 } = heap;
    u8.copyWithin(at, column.at, column.at + count * VIEW_BYTES);
    for (const row of rows) {
      if (u32[(at >>> 2) + row * 2] !== 0 && !dropped.has(row)) changed++;
      u32.fill(0, (at >>> 2) + row * 2, (at >>> 2) + row * 2 + 2);
    }
    const { kinds } = column;
    return { made: kinds === undefined ? { kind: 'views', at } : { kind: 'views', at, kinds }, changed };
  }
  const meta = arena.take(count);
  const { u8 } = heap;
  u8.copyWithin(meta, column.meta, column.meta + count);
  for (const row of rows) {
    if (u8[meta + row] !== META_NULL && !dropped.has(row)) changed++;
    u8[meta + row] = META_NULL;
  }
  const { type, at, big } = column;
  return { made: { kind: 'typed', type, at, meta, big }, changed };
}
