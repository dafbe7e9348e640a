// Finds the end of a Run's rows if an operator may end them in the middle of a batch: by a preview, by a trial, by
// counting a batch twice, or from the result of an earlier attempt.
import type { Batch } from '../batch/batch.ts';
import type { Schema } from '../batch/schema.ts';
import { Failed } from '../protocol/failure.ts';
import type { CodeCounts, OperationReport } from '../protocol/report.ts';
import { DONE, type Sliced, type Slices } from '../scheduling/time-slices.ts';
import type { Next, Operator } from '../template/operation.ts';
import { INPUT_STEP } from './rejected-rows.ts';
import type { FatalRow, RunErrors } from './row-errors.ts';

// Finds in advance the row at which a later operator (stop_when) may end the Run's rows, so that rows can be
// processed in batches up to that row instead of one by one. This is possible if the cells that the operator examines
// reach it unchanged, and if no step delays rows. Rows after the end then never reach an earlier operator.

/** The properties of a step that the preview needs. */
export interface PreviewedStep {
  readonly operator: Operator;
  readonly needsAllRows: boolean;
  readonly input: Schema;
  /** Ids of the columns whose cells the step changes. Null if unknown, or if the step may hold rows back. */
  readonly edits: readonly number[] | null;
}

export class EndPreview {
  /** Index of the operator that may end the rows. */
  readonly index: number;
  readonly #endsAhead: NonNullable<Operator['endsAhead']>;
  /**
   * For each column of the operator, its index in the batches that the preview receives; -1 if it is missing there.
   */
  readonly #layout: readonly number[];

  /**
   * Returns null if the first operator that may end the rows does not support the preview.
   * @param columns columns of the batches that arrive at the first step
   * @param flagColumn id of the column to which any step may write, or null
   */
  static of(steps: readonly PreviewedStep[], columns: Schema, flagColumn: number | null): EndPreview | null {
    const index = steps.findIndex(({ operator }) => operator.rowsWanted !== undefined);
    const ahead = index < 0 ? undefined : steps[index]!.operator.endsAhead;
    if (ahead === undefined) return null;
    const before = steps.slice(0, index);
    if (before.some(({ edits, needsAllRows }) => edits === null || needsAllRows)) return null;
    const reads = ahead.columns.map((place) => steps[index]!.input[place]!.id);
    const isFree = (id: number): boolean =>
      id !== flagColumn &&
      columns.some((column) => column.id === id) &&
      before.every(({ edits }) => edits?.includes(id) === false);
    if (!reads.every(isFree)) return null;
    const layout = steps[index]!.input.map(({ id }) => columns.findIndex((column) => column.id === id));
    return new EndPreview(index, ahead, layout);
  }

  constructor(index: number, endsAhead: NonNullable<Operator['endsAhead']>, layout: readonly number[]) {
    this.index = index;
    this.#endsAhead = endsAhead;
    this.#layout = layout;
  }

  /** Row counts, in ascending order, after which the rows of the batch may end. Each must be the end of a slice. */
  *ends(batch: Batch): Sliced<readonly number[]> {
    const { arena } = batch;
    const { columns, of } = this.#endsAhead;
    for (const place of columns) {
      const index = this.#layout[place]!;
      if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    }
    const mark = arena.next;
    // The operator does not examine the columns that are missing here, so any other column can replace them.
    const ends = yield* of(batch.withColumns(this.#layout.map((index) => batch.columns[Math.max(0, index)]!)));
    arena.release(mark);
    return ends;
  }
}

// The number of rows that the steps of a chain may receive at once.

/**
 * Maximum number of rows that the operators may receive at once. Operators after one that needs all rows are ignored.
 * Accounts for operators that make several rows from one.
 * @param seenAhead a step that may receive more rows than it needs
 * @param onTrial ignores operators that may end the rows at any row (see EndTrial) until they have done so
 */
function wantedBy(
  links: readonly PreviewedStep[],
  seenAhead: { readonly index: number } | null = null,
  onTrial = false,
): number {
  let wanted = Number.POSITIVE_INFINITY;
  let rowsMost = 1;
  for (const [index, { operator, needsAllRows }] of links.entries()) {
    const rows = operator.rowsWanted?.() ?? Number.POSITIVE_INFINITY;
    if (rows === 0) return 0;
    const isLimit = index !== seenAhead?.index && !(onTrial && operator.endsAhead !== undefined);
    if (rows < Number.POSITIVE_INFINITY && isLimit) wanted = Math.min(wanted, Math.max(1, Math.floor(rows / rowsMost)));
    if (needsAllRows) break;
    rowsMost *= operator.rowsMost ?? 1;
  }
  return wanted;
}

// Pushes whole batches through steps of which one (stop_when) may end the rows at any row, because pushing single rows
// is many times slower. If the end turns out to be inside such a batch, rows after it have already reached earlier
// steps. The attempt is then discarded, and the next attempt pushes whole batches up to the row of the end only.

/**
 * Thrown by an attempt that pushed rows after the end in a whole batch. The next attempt pushes rows one by one from the
 * given row on. Neither a failure nor a fault.
 */
export class EndPassed extends Error {
  /** Index of the first step that received the batch. */
  readonly step: number;
  /** Number of rows that the step received before the row of the end. */
  readonly rows: number;

  constructor(step: number, rows: number) {
    super('end passed');
    this.name = 'EndPassed';
    this.step = step;
    this.rows = rows;
  }
}

/** `trial`: whole batches. `exact`: no row after the end. */
type PushMode = 'trial' | 'exact';

/** Shared by all trials of a chain: the mode of the push in progress, which the earliest step decides; otherwise null. */
export interface PushInProgress {
  mode: PushMode | null;
}

export interface TrialSettings {
  /** Index of the first of the steps. */
  readonly step: number;
  readonly steps: readonly PreviewedStep[];
  /** The step whose end is found in advance or is corrected afterwards, so that it needs no trial. Null if none. */
  readonly seenAhead: { readonly index: number } | null;
  /** Number of rows before the end, as an earlier attempt has found it; Infinity if unknown. */
  readonly rowsBefore: number;
  readonly inProgress: PushInProgress;
}

export class EndTrial {
  readonly #settings: TrialSettings;
  /** Number of rows pushed so far. */
  #rows = 0;

  constructor(settings: TrialSettings) {
    this.#settings = settings;
  }

  /** Maximum number of rows that the steps may receive at once; 0 = they need no more rows. */
  wanted(): number {
    const { steps, seenAhead, rowsBefore, inProgress } = this.#settings;
    if (inProgress.mode === 'trial') return wantedBy(steps, seenAhead, true);
    const exact = wantedBy(steps, seenAhead);
    if (exact === 0 || inProgress.mode === 'exact' || this.#rows >= rowsBefore) return exact;
    return Math.min(rowsBefore - this.#rows, wantedBy(steps, seenAhead, true));
  }

  /** Throws EndPassed. */
  *push(batch: Batch, push: Next): Slices {
    const { rowsBefore, inProgress } = this.#settings;
    const first = this.#rows;
    this.#rows += batch.live;
    if (inProgress.mode !== null) return yield* push(batch);
    const before = Math.min(batch.live, Math.max(0, rowsBefore - first));
    if (before > 0) yield* this.#try(before < batch.live ? batch.slice(0, before) : batch, first, push);
    if (before < batch.live) yield* this.#pushIn('exact', batch.slice(before, batch.live), push);
  }

  *#try(batch: Batch, first: number, push: Next): Slices {
    const { step, steps, seenAhead } = this.#settings;
    const exact = wantedBy(steps, seenAhead);
    const isTrial = batch.live > exact && exact < wantedBy(steps, seenAhead, true);
    if (!isTrial) return yield* this.#pushIn('exact', batch, push);
    try {
      yield* this.#pushIn('trial', batch, push);
    } catch (error) {
      // The row that failed may be after the end.
      throw error instanceof Failed ? new EndPassed(step, first) : error;
    }
    const last = this.#lastRow();
    if (last !== null) throw new EndPassed(step, first + positionOf(batch, last));
  }

  *#pushIn(mode: PushMode, batch: Batch, push: Next): Slices {
    const { inProgress } = this.#settings;
    inProgress.mode = mode;
    try {
      yield* push(batch);
    } finally {
      inProgress.mode = null;
    }
  }

  /** Source row at which a step ended the rows in a trial; null if no step ended them. */
  #lastRow(): number | null {
    const { steps, seenAhead } = this.#settings;
    for (const [index, { operator, needsAllRows }] of steps.entries()) {
      const isTried = operator.endsAhead !== undefined && index !== seenAhead?.index;
      if (isTried && operator.rowsWanted?.() === 0) return operator.lastRow!();
      if (needsAllRows) return null;
    }
    return null;
  }
}

/** Position of the first row of a source row in the batch; 0 if the batch contains no such row. */
function positionOf(batch: Batch, sourceRow: number): number {
  for (let position = 0; position < batch.live; position++) {
    if (batch.sourceRow(batch.physicalRow(position)) === sourceRow) return position;
  }
  return 0;
}

// Limits how many rows the steps of a chain receive at once. Once an operator (slice, stop_when) has enough rows, the
// steps before it must stop too. Rows that still arrive are passed on in portions, so that no row after the end is
// counted.

/** Passes a batch on in portions of the size that the later steps need. */
export function inPortions(trial: EndTrial, preview: EndPreview | null, next: Next): Next {
  return function* (batch) {
    const ends = preview === null ? [] : yield* preview.ends(batch);
    let passed = 0;
    for (let from = 0; from < batch.live; ) {
      const wanted = trial.wanted();
      if (wanted === 0) return;
      while (passed < ends.length && ends[passed]! <= from) passed++;
      const to = Math.min(batch.live, from + wanted, ends[passed] ?? batch.live);
      yield* next(batch.slice(from, to));
      from = to;
    }
  };
}

// The end of a Run's rows at one operation, as an earlier attempt of the Run has found it. An operator that lacks
// memory holds rows back until the input ends. A later slice or stop_when then gets enough rows only after further
// rows have already reached the earlier operations. Such an attempt is discarded; the next attempt knows the last row
// and ends there.

/** Ends that earlier attempts have found. */
export interface KnownEnds {
  /** For each step, by its index: the source row of the last row that reaches it (see EndFound). */
  readonly lastRows: ReadonlyMap<number, number>;
  /** For each step, by its index: the number of rows that reach it before the end (see EndPassed). */
  readonly rowsBefore: ReadonlyMap<number, number>;
}

export const NO_ENDS: KnownEnds = { lastRows: new Map(), rowsBefore: new Map() };

/**
 * Thrown by an attempt that processed rows after the end. The next attempt knows the end. Neither a failure nor a
 * fault.
 */
export class EndFound extends Error {
  readonly step: number;
  readonly sourceRow: number;

  constructor(step: number, sourceRow: number) {
    super('end found');
    this.name = 'EndFound';
    this.step = step;
    this.sourceRow = sourceRow;
  }
}

/** Wraps the operator so that it accepts no rows after those of the given source row, if one is given. */
export function endedAt(operator: Operator, sourceRow: number | undefined): Operator {
  if (sourceRow === undefined) return operator;
  let isOver = false;
  return {
    push(batch): Slices {
      if (isOver) return DONE;
      const end = endIn(batch, sourceRow);
      isOver = end > 0;
      return operator.push(isOver ? batch.slice(0, end) : batch);
    },
    ...(operator.finish === undefined ? {} : { finish: () => operator.finish!() }),
    ...(operator.rowNames === undefined ? {} : { rowNames: () => operator.rowNames!() }),
    ...(operator.rowsMost === undefined ? {} : { rowsMost: operator.rowsMost }),
    rowsWanted: () => (isOver ? 0 : (operator.rowsWanted?.() ?? 1)),
    lastRow: () => (isOver ? sourceRow : null),
    endsAhead: {
      columns: [],
      // biome-ignore lint/correctness/useYield: it has nothing to wait for
      *of(batch) {
        const end = endIn(batch, sourceRow);
        return end === 0 ? [] : [end];
      },
    },
  };
}

/** Number of leading rows of a batch up to and including the rows of a source row; 0 if the batch has no row of it. */
function endIn(batch: Batch, sourceRow: number): number {
  for (let position = 0; position < batch.live; position++) {
    if (batch.sourceRow(batch.physicalRow(position)) !== sourceRow) continue;
    let end = position + 1;
    while (end < batch.live && batch.sourceRow(batch.physicalRow(end)) === sourceRow) end++;
    return end;
  }
  return 0;
}

/** The properties of a step that the search for its end needs. */
export interface EndingStep {
  readonly operator: Operator;
  readonly needsAllRows: boolean;
  /** True if the operator holds rows back because it lacks memory. */
  readonly defersRows: boolean;
}

/**
 * Finds the step that must end earlier, and its last row. This is the nearest step that held rows back before an
 * operator that has enough rows. Null if no step received rows after the end.
 */
export function lateEnd(steps: readonly EndingStep[], known: KnownEnds): EndFound | null {
  for (const [index, { operator }] of steps.entries()) {
    if (operator.rowsWanted?.() !== 0) continue;
    const sourceRow = operator.lastRow?.() ?? null;
    if (sourceRow === null) continue;
    for (let before = index - 1; before >= 0; before--) {
      const step = steps[before]!;
      if (step.needsAllRows || step.operator.rowsWanted?.() === 0 || known.lastRows.has(before)) break;
      if (step.defersRows) return new EndFound(before, sourceRow);
    }
  }
  return null;
}

// Finds the exact end of a Run's rows if an operator may end them anywhere in a batch (slice, stop_when) and all
// steps before it are row-local. Each batch passes through whole. Only the batch that contains the end is counted a
// second time, without the rows after the end, so that the counts of earlier operations do not include these rows.

/** The properties of a step that this count needs. */
export interface CountedStep {
  readonly operator: Operator;
  readonly report: OperationReport;
  readonly rowLocal: boolean;
}

interface StepCounts {
  readonly rowsIn: number;
  readonly rowsOut: number;
  readonly cellsChanged: number;
  readonly errors: CodeCounts;
  readonly state: ReturnType<RunErrors['state']>;
}

export class ExactEnd {
  /** Index of the operator that may end the rows. */
  readonly index: number;
  readonly #steps: readonly CountedStep[];
  readonly #errors: RunErrors;

  /** Returns null if the first operator that may end the rows does not support this. */
  static of(steps: readonly CountedStep[], errors: RunErrors): ExactEnd | null {
    const index = steps.findIndex(({ operator }) => operator.rowsWanted !== undefined);
    if (index < 0 || steps[index]!.operator.lastRow === undefined) return null;
    return steps.slice(0, index).every(({ rowLocal }) => rowLocal) ? new ExactEnd(index, steps, errors) : null;
  }

  constructor(index: number, steps: readonly CountedStep[], errors: RunErrors) {
    this.index = index;
    this.#steps = steps.slice(0, index + 1);
    this.#errors = errors;
  }

  /** Pushes a batch so that no row after the last one is counted. `muted`: the operator must not receive the rows. */
  *push(batch: Batch, push: (batch: Batch, muted: boolean) => Slices): Slices {
    const { operator } = this.#steps[this.index]!;
    if (operator.lastRow!() !== null) return;
    const { rejected } = this.#errors;
    if (rejected !== null) rejected.isHeld = true;
    const ragged = rejected?.mark(INPUT_STEP) ?? 0;
    const before = this.#steps.map((step, index) => this.#countsOf(step, index));
    yield* push(batch, false);
    const isSeen = this.#steps[this.index]!.report.rows_in > before[this.index]!.rowsIn;
    // Without a row, the operator does not know whether another thread has found the end in an earlier part.
    if (!isSeen && operator.seeEnd !== undefined) yield* operator.seeEnd();
    const last = operator.lastRow!();
    if (last !== null) {
      for (const [index, counts] of before.entries()) this.#restore(index, counts);
      rejected?.restore(INPUT_STEP, ragged);
      let rows = 0;
      while (rows < batch.live && batch.sourceRow(batch.physicalRow(rows)) <= last) rows++;
      yield* push(batch.slice(0, rows), true);
    }
    if (rejected !== null) rejected.isHeld = false;
  }

  #countsOf({ report }: CountedStep, index: number): StepCounts {
    return {
      rowsIn: report.rows_in,
      rowsOut: report.rows_out,
      cellsChanged: report.cells_changed,
      errors: copyOf(report.errors),
      state: this.#errors.state(index),
    };
  }

  /** Restores the counts of a step. The operator that ends the rows has counted only rows_in beyond the end. */
  #restore(index: number, counts: StepCounts): void {
    const { report } = this.#steps[index]!;
    report.rows_in = counts.rowsIn;
    if (index === this.index) return;
    report.rows_out = counts.rowsOut;
    report.cells_changed = counts.cellsChanged;
    for (const code of Object.keys(report.errors)) delete report.errors[code as keyof CodeCounts];
    Object.assign(report.errors, counts.errors);
    this.#errors.restore(index, counts.state);
  }
}

/** Copies field by field, because structuredClone is many times slower and this runs for every batch. */
function copyOf(errors: CodeCounts): CodeCounts {
  const copy: CodeCounts = {};
  for (const [code, entry] of Object.entries(errors)) {
    copy[code as keyof CodeCounts] = { count: entry.count, rows: entry.rows.slice() };
  }
  return copy;
}

// Ends an attempt of a Run that could find its column names only after the last row.

/** Thrown by such an attempt. The next attempt starts with the names. Neither a failure nor a fault. */
export class RowsNamed extends Error {
  /** See Operator.rowNames. */
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    super('rows named');
    this.name = 'RowsNamed';
    this.names = names;
  }
}

// Decides between an error in a row and a failure of an operation or the output, such as a full disk. Rows after the one
// with the error may have been in the same batch, so the failure may be theirs.

/**
 * Thrown by an attempt that ended with an error in a row. The next attempt processes only the rows before it: if these
 * fail, their failure counts, otherwise the error. So the outcome does not depend on the batches. Neither a failure nor
 * a fault.
 */
export class RowsCut extends Error {
  readonly row: FatalRow;

  constructor(row: FatalRow) {
    super('rows cut');
    this.name = 'RowsCut';
    this.row = row;
  }
}
