// Judges the rows of batches by rules, after kernels have found the cells that a check certainly accepts. A validation
// has one stage for each rule that needs more than the row.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { Column } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import type { GreedyPattern } from '../../expression/patterns/linear-pattern.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Heap } from '../../memory/heap.ts';
import type { RowErrorCode } from '../../protocol/report.ts';
import { checkMask, done, PAUSE, type Sliced, type Slices } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { withoutRows } from '../cells/cell-operator.ts';
import { placePattern } from '../cells/pattern-matcher.ts';
import { CellFault, UNFINISHED } from '../cells/value-cells.ts';
import { ExpressionEvaluator } from '../expressions/expression-evaluator.ts';
import { rowCondition } from '../expressions/row-condition.ts';
import { RowExpression } from '../expressions/row-expression.ts';
import type { StatePlan } from '../expressions/vector-plan.ts';
import { TableIndex } from '../join/table-index.ts';
import { MISSING, TableJoin, TableProbe } from '../join/table-join.ts';
import { DuplicateMarker, MARK_AGAIN } from '../keys/duplicate-marker.ts';
import { RowKeys } from '../keys/row-keys.ts';
import type { PlannedCheck } from './checks.ts';
import { isStaged, type PlannedRule, type RuleTest } from './plan-rules.ts';

// Finds with kernels the cells of a batch that a check certainly accepts: cells that match its pattern or fulfil its
// condition, and empty cells. The check itself judges the other cells.

/**
 * Marks, by physical row, the live rows whose cell is accepted. Returns false if the kernel cannot process this batch.
 */
type Accept = (batch: Batch, marks: number) => boolean;

class AcceptedCells {
  readonly #context: OperatorContext;
  readonly #column: number;
  readonly #accept: Accept;
  /** Address of one byte per physical row, or 0 while nothing is known. */
  #marks = 0;

  /**
   * Returns null if no kernel supports the check.
   * @param column index in the batches
   */
  static of(context: OperatorContext, column: number, { passes, condition }: PlannedCheck): AcceptedCells | null {
    const accept = passes ? byPattern(context, column, passes) : condition ? byCondition(context, condition) : null;
    return accept === null ? null : new AcceptedCells(context, column, accept);
  }

  private constructor(context: OperatorContext, column: number, accept: Accept) {
    this.#context = context;
    this.#column = column;
    this.#accept = accept;
  }

  /** Examines the live rows of a batch. The result is in the arena. */
  bind(batch: Batch): void {
    const { arena, kernel } = this.#context;
    const marks = arena.take(batch.rows);
    this.#marks = this.#accept(batch, marks) ? marks : 0;
    if (this.#marks !== 0) markEmptyCells(kernel.exports, batch, this.#column, marks);
  }

  has(row: number): boolean {
    return this.#marks !== 0 && this.#context.arena.heap.u8[this.#marks + row] === 1;
  }

  /** Adds marks to `open` for the live rows whose cell is not certainly accepted. Returns false if nothing is known. */
  markOthers({ selection, live }: Batch, open: number): boolean {
    if (this.#marks === 0) return false;
    this.#context.kernel.exports.markOthers(this.#marks, selection, live, open);
    return true;
  }
}

/** Also marks the live rows whose cell is null or an empty text. */
function markEmptyCells(
  kernel: OperatorContext['kernel']['exports'],
  batch: Batch,
  index: number,
  marks: number,
): void {
  const { selection, live } = batch;
  const column = batch.columns[index]!;
  if (column.kind === 'typed') kernel.markMeta(column.meta, selection, live, META_NULL, marks);
  else kernel.markEmpty(batch.views(index), selection, live, marks);
}

function byPattern({ arena, kernel }: OperatorContext, column: number, pattern: GreedyPattern): Accept | null {
  const program = placePattern(arena.heap, pattern, [], 1);
  if (program === 0) return null;
  const items = pattern.items.length;
  return (batch, marks) => {
    if (batch.columns[column]!.kind === 'typed') return false;
    const views = batch.views(column);
    const found = arena.take(batch.rows * VIEW_BYTES);
    const todo = arena.take((batch.live + 1) * 4);
    const { selection, live } = batch;
    kernel.exports.findPattern(views, selection, live, program, 0, items, 0, found, todo);
    kernel.exports.markFound(found, selection, live, marks);
    return true;
  };
}

function byCondition(context: OperatorContext, condition: StatePlan): Accept {
  const evaluator = new ExpressionEvaluator(context.input, context, condition);
  return (batch, marks) => {
    const { selection, live } = batch;
    // The condition has no node for closures, which would need pauses between rows.
    const states = done(evaluator.states.fresh(condition, { batch, rows: selection, count: live }));
    if (states < 0) return false;
    context.kernel.exports.markTrue(states, selection, live, marks);
    return true;
  };
}

// Judges rows by rules. Every rule sees the original row. Findings are handled in the order of the rules, up to the
// first one that drops the row. Repeated keys have been found before (DuplicateMarker); the result is in columns after
// the others.

/** A rule in use. */
interface RunningRule {
  readonly planned: PlannedRule;
  /** Index of the column that is judged, or -1. */
  readonly column: number;
  bind(batch: Batch): void;
  judge(row: number): RowErrorCode | null | typeof UNFINISHED;
  /** Called after `judge` returned UNFINISHED. */
  finish?(row: number): Sliced<RowErrorCode | null>;
  readonly where: RowExpression | null;
  /**
   * Marks the live rows that may violate the rule (one byte per physical row). Returns false if no kernel supports the
   * rule.
   */
  markDoubtful(batch: Batch, marks: number): boolean;
}

/** Results for the rows of a batch. */
interface Outcome {
  readonly dropped: Set<number>;
  /** Rows whose cell must be cleared, by column. */
  readonly blanks: Map<number, Set<number>>;
}

class Validator implements Operator {
  readonly #context: OperatorContext;
  readonly #rules: readonly RunningRule[];

  /** @param context its `input` excludes the columns of marks, which are in the order of the rules that store keys */
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
    const mask = checkMask(doubtful.live);
    for (let position = 0; position < doubtful.live; position++) {
      const row = doubtful.physicalRow(position);
      for (const rule of this.#rules) {
        const { where } = rule;
        let holds = where === null ? true : where.holds(row);
        if (holds === UNFINISHED) holds = yield* where!.finish(() => where!.holds(row));
        let code = holds === true ? rule.judge(row) : holds instanceof CellFault ? holds.code : null;
        if (code === UNFINISHED) code = yield* rule.finish!(row);
        if (code !== null && this.#settle(rows, row, rule, code, holds === true, outcome)) break;
      }
      if ((position & mask) === mask && clock.isDue()) yield PAUSE;
    }
    const kept = outcome.dropped.size === 0 ? rows : withoutRows(rows, outcome.dropped);
    if (kept.live > 0) yield* next(kept.withColumns(this.#blanked(rows, outcome)));
    arena.release(mark);
  }

  /** Returns the rows that may violate a rule. */
  #doubtful(batch: Batch): Batch {
    const { arena, kernel } = this.#context;
    const marks = arena.take(batch.rows);
    arena.heap.u8.fill(0, marks, marks + batch.rows);
    if (!this.#rules.every((rule) => rule.markDoubtful(batch, marks))) return batch;
    const list = arena.take(batch.live * 4);
    arena.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
    return batch.withSelection(list, kernel.exports.keepMarked(marks, list, batch.live));
  }

  /**
   * Handles a row that violates a rule. Returns true if the row is dropped.
   * @param isJudged false if the condition of the rule could not be computed
   */
  #settle(
    batch: Batch,
    row: number,
    { planned, column }: RunningRule,
    code: RowErrorCode,
    isJudged: boolean,
    { dropped, blanks }: Outcome,
  ): boolean {
    const action = this.#context.errors.report(batch, row, planned.column?.name ?? null, code, planned.outcome);
    if (action === 'drop_row') {
      dropped.add(row);
      return true;
    }
    if (action !== 'blank' || column < 0 || !isJudged) return false;
    const known = blanks.get(column);
    if (known === undefined) blanks.set(column, new Set([row]));
    else known.add(row);
    return false;
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
  const where = planned.where === null ? null : new RowExpression(planned.where, context.input, context).withPauses();
  const { bind, judge, finish, markDoubtful } = judgeOf(test, { reader, index }, context, mark);
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
    ...(finish === undefined ? {} : { finish }),
    // A condition that cannot be computed is also reported for rows that the check accepts.
    markDoubtful: where === null ? markDoubtful : () => false,
  };
}

type Judging = Pick<RunningRule, 'bind' | 'judge' | 'finish' | 'markDoubtful'>;

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
      let long: ReturnType<NonNullable<PlannedCheck['judgeLong']>> = null;
      return {
        bind: (batch) => accepted?.bind(batch),
        judge(row) {
          if (accepted?.has(row)) return null;
          const value = reader!.read(row);
          if (isEmpty(value)) return null;
          long = test.check.judgeLong?.(value) ?? null;
          return long === null ? judge(value) : UNFINISHED;
        },
        *finish() {
          const work = long!;
          long = null;
          for (;;) {
            const step = work.next();
            if (step.done) return step.value;
            if (context.clock.isDue()) yield PAUSE;
          }
        },
        markDoubtful: (batch, marks) => accepted?.markOthers(batch, marks) ?? false,
      };
    }
    case 'expression': {
      const expression = new RowExpression(test.expression, context.input, context, reader ?? undefined).withPauses();
      const codeOf = (holds: boolean | null | CellFault): RowErrorCode | null =>
        holds instanceof CellFault ? holds.code : holds === false ? 'OUT_OF_RANGE' : null;
      return {
        bind: (batch) => expression.bind(batch),
        judge(row) {
          if (reader !== null && isEmpty(reader.read(row))) return null;
          const holds = expression.holds(row);
          return holds === UNFINISHED ? UNFINISHED : codeOf(holds);
        },
        *finish(row) {
          return codeOf(yield* expression.finish(() => expression.holds(row)));
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

/** @param reader reader of the cells if the mark counts only for non-empty cells; null if the mark alone decides */
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

/** Returns the column with nulls in some rows. `changed` counts those rows that had a value and are not dropped. */
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

// The stages of a validation: one for each rule that needs more than the row (its key, a reference table), which adds a
// column of marks, and a last one that judges the rows and removes the marks.

export function startValidation(rules: readonly PlannedRule[], context: OperatorContext): Operator {
  const judge = new Validator(context, rules);
  const keyed = rules.filter(isStaged);
  const stages: Operator[] = [judge];
  for (let index = keyed.length - 1; index >= 0; index--) {
    const after = stages[0]!;
    const marks = keyed.slice(0, index).map((_, mark) => ({ id: -1 - mark, name: '', type: 'boolean' as const }));
    const input = [...context.input, ...marks];
    stages.unshift(stageOf(keyed[index]!, { ...context, input, next: (batch) => after.push(batch) }));
  }
  return {
    push: (batch) => stages[0]!.push(batch),
    *finish() {
      for (const stage of stages) if (stage.finish !== undefined) yield* stage.finish();
    },
  };
}

function stageOf(rule: PlannedRule, context: OperatorContext): Operator {
  if (rule.test.kind === 'unique') return uniqueStage(rule.test, rule.where, context);
  if (rule.test.kind === 'exists') return existsStage(rule.test, rule.column!, context);
  throw new Error('this rule has no stage');
}

function uniqueStage(
  test: Extract<RuleTest, { kind: 'unique' }>,
  where: PlannedRule['where'],
  context: OperatorContext,
): Operator {
  const columns = test.columns.map((column) => context.indexOf(column));
  const condition = where === null ? null : rowCondition(where, context.input, context);
  return new DuplicateMarker(context, new RowKeys(context, columns, test.match), function* (batch, rows, count, fail) {
    const filled = keepFilled(batch, columns, rows, count);
    return condition === null ? filled : yield* condition(batch, rows, filled, fail);
  });
}

/** Keeps the rows of a list that have no null in the columns. */
const keepFilled = (batch: Batch, columns: readonly number[], rows: number, count: number): number => {
  const { u8, u32 } = batch.heap;
  const first = rows >>> 2;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[first + i]!;
    const isFilled = columns.every((index) => {
      const column = batch.columns[index]!;
      if (column.kind === 'raw') throw new Error('key columns have views');
      if (column.kind === 'typed') return u8[column.meta + row] !== META_NULL;
      return u32[(column.at >>> 2) + row * 2] !== 0 && u32[(column.at >>> 2) + row * 2 + 1] !== 0;
    });
    if (isFilled) u32[first + kept++] = row;
  }
  return kept;
};

/** Marks all rows. The last stage ignores rows without a value and rows that `where` excludes. */
function existsStage(
  { table: name, key, declared, match }: Extract<RuleTest, { kind: 'exists' }>,
  column: Column,
  context: OperatorContext,
): Operator {
  const table = context.tables.get(name);
  if (table === undefined) throw new Error('a planned table is not there');
  const tableKey = { column: table.columns.indexOf(key), type: column.type, declared, match };
  const index = new TableIndex(context, table.columns.length, [tableKey]);
  const probed = { columns: [context.indexOf(column)], levels: [match] };
  const probe = new TableProbe(context, probed, [], 'first');
  return new TableJoin(context, { table, index, probe, payload: 0, rowsMost: 1, settle: context.next });
}
