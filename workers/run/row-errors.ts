// Handling of row errors, the same for all operations, and the names of columns and operations in failures.

import type { Batch } from '../batch/batch.ts';
import { nameShown, type Schema } from '../batch/schema.ts';
import type { RaggedRow } from '../input/csv/selected-rows.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { PlannedStep, RunPlan } from '../plan/plan.ts';
import { Failed, type Failure } from '../protocol/failure.ts';
import { areTooMany } from '../protocol/part-turns.ts';
import { type CodeCounts, countCode, type RowErrorCode, rowOfFile, rowPhrase } from '../protocol/report.ts';
import type { RowErrorAction, RowErrorRule, RowErrors } from '../template/operation.ts';
import { operationHead } from '../template/scan.ts';
import type { Template, TemplateDefaults, TemplateOperation } from '../template/template.ts';
import { INPUT_STEP, type RejectedRows, type Rejection } from './rejected-rows.ts';

// The name by which a service response refers to a column of an operation. Names from the Template are shown. Headers
// of the file are never shown; such a column is identified by its position.

/**
 * The column's name if it occurs in the Template, otherwise "column 3 of the file", or "column 3 of the rows" for a
 * column that an operation made from the file's content.
 * @param step index of the operation, starting at 0; the number of operations stands for the output
 */
export function publicColumn(plan: RunPlan, template: Template, step: number, name: string): string {
  if (namesOf(template).has(name)) return name;
  const planned = plan.steps[step];
  const schema: Schema = planned?.input ?? plan.output.schema;
  const at = schema.findIndex((column) => column.name === name);
  if (at < 0) {
    const made = planned?.output.findIndex((column) => column.name === name) ?? -1;
    return made < 0 ? 'a column' : `column ${made + 1} of the rows`;
  }
  const first = plan.schema.findIndex(({ id }) => id === schema[at]!.id);
  const field = first < 0 ? null : (plan.columns[first] ?? null);
  return field === null ? `column ${at + 1} of the rows` : `column ${field + 1} of the file`;
}

/** All strings of a Template that may be column names. */
function namesOf({ fileColumns, operations, output, flagColumn }: Template): ReadonlySet<string> {
  const names = new Set(fileColumns.map(({ name }) => name));
  if (flagColumn !== null) names.add(flagColumn);
  collect([output.columns, ...operations.map(({ parameters }) => parameters)], names);
  return names;
}

function collect(written: unknown, names: Set<string>): void {
  if (typeof written === 'string') names.add(written);
  if (typeof written !== 'object' || written === null) return;
  for (const [key, part] of Object.entries(written)) {
    names.add(key);
    collect(part, names);
  }
}

// Adds the name of the operation to failures that an operation throws.

/** A failure whose message already names its operation. */
class StepFailed extends Failed {}

/** Adds the operation's name to a TEMPLATE_ROW_ERROR; returns every other error unchanged. */
function withOperation(error: unknown, operation: TemplateOperation): unknown {
  if (!(error instanceof Failed) || error instanceof StepFailed) return error;
  const { code, message } = error.failure;
  return code === 'TEMPLATE_ROW_ERROR' ? new StepFailed(code, `${operationHead(operation)}: ${message}`) : error;
}

/**
 * Runs the slices of an operation and names the operation in its failures. Needed for sums and joined texts that do
 * not fit into a cell, which end the Run at once.
 */
export function* naming<T>({ operation }: PlannedStep, slices: Iterable<T>): Iterable<T> {
  try {
    yield* slices;
  } catch (error) {
    throw withOperation(error, operation);
  }
}

// Counts row errors, decides what happens to the row, and keeps the error that ends the Run: the error of the lowest
// source row, and among these the error of the earliest operation.

/** The first error of a step with `on_error: fail`, by source row. */
export interface FatalRow {
  readonly sourceRow: number;
  readonly step: number;
  /** Name of the operation in messages. */
  readonly operation: string;
  readonly column: string | null;
  readonly code: RowErrorCode;
  /** The Template's message for this error, if any. */
  readonly message: string | null;
}

/** Errors of one step so far. */
interface StepState {
  fatal: FatalRow | null;
  count: number;
}

interface StepMark extends StepState {
  readonly rejected: number;
}

/**
 * Returns the public name of an operation's column: the name itself if the Template contains it, otherwise a position
 * such as "column 3".
 */
export type PublicName = (step: number, name: string) => string;
const ROW_NUMBER_BYTES = 4;

/** Row errors of one Run, over all its operations. */
export class RunErrors {
  /** State of each step that has reported an error; null if there was no error. */
  #steps: Map<number, StepState> | null = null;
  readonly rejected: RejectedRows | null;
  readonly #continuesAfterFailure: boolean;
  readonly #publicName: PublicName;
  #failedCheck: { readonly step: number; readonly message: string } | null = null;

  /**
   * @param rejected null: no operation rejects rows
   * @param continuesAfterFailure whether rows after the one that ends the Run are still processed
   * @param publicName how messages name a column to people who must not see headers of the file
   */
  constructor(
    rejected: RejectedRows | null = null,
    continuesAfterFailure = false,
    publicName: PublicName = (_, name) => name,
  ) {
    this.rejected = rejected;
    this.#continuesAfterFailure = continuesAfterFailure;
    this.#publicName = publicName;
  }

  /** True after a row has ended the Run. The rest of the file is then only checked for valid syntax. */
  get fatal(): boolean {
    if (this.#continuesAfterFailure || this.#steps === null) return false;
    for (const { fatal } of this.#steps.values()) if (fatal !== null) return true;
    return false;
  }

  /**
   * The error that ends the Run: the error of the lowest source row, and among these of the earliest operation. Null if
   * no error ends the Run.
   */
  get first(): FatalRow | null {
    if (this.#steps === null) return null;
    const fatals = [...this.#steps.values()].flatMap(({ fatal }) => fatal ?? []);
    return fatals.sort((a, b) => a.sourceRow - b.sourceRow || a.step - b.step)[0] ?? null;
  }

  /** Counts an error. If `fatal` is not null, the error ends the Run unless an earlier row does. */
  note(step: number, fatal: FatalRow | null): void {
    const state = this.#state(step);
    state.count++;
    if (fatal !== null && (state.fatal === null || fatal.sourceRow < state.fatal.sourceRow)) state.fatal = fatal;
    this.#keep(step, state);
  }

  /** Reports a failed check. The first failed check of the earliest step ends the Run. */
  failCheck(step: number, message: string): void {
    if (this.#failedCheck === null || step < this.#failedCheck.step) this.#failedCheck = { step, message };
  }

  /** Rejects rows whose number of fields differs from the number of columns. @returns the batch without these rows */
  rejectRagged(batch: Batch, ragged: readonly RaggedRow[]): Batch {
    const rejected = new Map(ragged.map((row) => [row.row, row]));
    const at = batch.arena.take(batch.live * ROW_NUMBER_BYTES);
    let live = 0;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const found = rejected.get(row);
      if (found === undefined) batch.heap.u32[(at >>> 2) + live++] = row;
      else
        this.rejected!.add(batch, row, {
          step: INPUT_STEP,
          operation: 'input',
          column: null,
          code: found.code,
          extra: found.extra,
        });
    }
    return batch.withSelection(at, live);
  }

  /** State of a step, for `restore`. Valid only while rejected rows are held in memory. */
  state(step: number): StepMark {
    return { ...this.#state(step), rejected: this.rejected?.mark(step) ?? 0 };
  }

  restore(step: number, { fatal, count, rejected }: StepMark): void {
    this.#keep(step, { fatal, count });
    this.rejected?.restore(step, rejected);
  }

  #keep(step: number, state: StepState): void {
    this.#steps ??= new Map();
    this.#steps.set(step, state);
  }

  #state(step: number): StepState {
    const { fatal, count } = this.#steps?.get(step) ?? { fatal: null, count: 0 };
    return { fatal, count };
  }

  /** Number of errors that count for the limits of the Template. */
  get count(): number {
    return [...(this.#steps?.values() ?? [])].reduce((sum, state) => sum + state.count, 0);
  }

  /**
   * The failure that the errors cause after the last row; null if they cause none.
   * @param fatal ends the Run if no row of this attempt does
   * @param errorsBefore errors in rows that other threads have counted
   */
  verdict(
    limits: Pick<TemplateDefaults, 'maxErrors' | 'maxErrorRatio'>,
    rowsRead: number,
    fatal: FatalRow | null = null,
    errorsBefore = 0,
  ): Failure | null {
    const first = this.first ?? fatal;
    if (first !== null) return rowFailure(first, this.#publicName);
    if (this.#failedCheck !== null) return { code: 'TEMPLATE_CHECK_FAILED', message: this.#failedCheck.message };
    if (this.#steps === null) return null;
    const count = this.count + errorsBefore;
    const { maxErrors, maxErrorRatio } = limits;
    if (!areTooMany(count, rowsRead, limits)) return null;
    const bound = maxErrors !== null && count > maxErrors ? `${maxErrors}` : `${maxErrorRatio} of the rows`;
    return {
      code: 'TEMPLATE_TOO_MANY_ERRORS',
      message: `${count} errors in rows, the Template allows ${bound}. The report counts them by operation and code.`,
    };
  }
}

/** The errors of one step. */
export class StepErrors implements RowErrors {
  readonly counts: CodeCounts;
  readonly #run: RunErrors;
  readonly #step: number;
  readonly #operation: TemplateOperation;

  constructor(run: RunErrors, step: number, operation: TemplateOperation, counts: CodeCounts) {
    this.#run = run;
    this.#step = step;
    this.#operation = operation;
    this.counts = counts;
  }

  report(
    batch: Batch,
    physicalRow: number,
    column: string | null,
    code: RowErrorCode,
    rule: RowErrorRule = NO_RULE,
  ): RowErrorAction {
    const sourceRow = batch.sourceRow(physicalRow);
    countCode(this.counts, code, sourceRow);
    if (rule.onError === 'count') return 'counted';
    const onError = rule.onError ?? this.#operation.onError;
    const operation = operationHead(this.#operation);
    const { message } = rule;
    const fatal = onError === 'fail' ? { sourceRow, step: this.#step, operation, column, code, message } : null;
    this.#run.note(this.#step, fatal);
    if (onError === 'flag') {
      appendFlag(batch, physicalRow, `${column ?? this.#operation.name}:${code}`);
      return 'blank';
    }
    if (onError === 'reject') this.#run.rejected!.add(batch, physicalRow, this.#rejection(column, code));
    return onError === 'fail' || onError === 'reject' ? 'drop_row' : onError;
  }

  failCheck(message: string): void {
    this.#run.failCheck(this.#step, `${operationHead(this.#operation)}: ${message}`);
  }

  /** Describes a rejected row. Operations are numbered as in the report. */
  #rejection(column: string | null, code: RowErrorCode): Rejection {
    const { name, id, place } = this.#operation;
    const label = place === null ? name : `${this.#step + 1} ${name}`;
    return { step: this.#step, operation: id === null ? label : `${label} (${id})`, column, code };
  }
}

const NO_RULE: RowErrorRule = { onError: null, message: null };

function rowFailure({ sourceRow, step, operation, column, code, message }: FatalRow, publicName: PublicName): Failure {
  const textOf = (place: string): string =>
    `${operation}${place}: ${code} in ${rowPhrase(sourceRow)}.${message === null ? '' : ` ${message}`}`;
  const failure = { code: 'TEMPLATE_ROW_ERROR', place: { row: rowOfFile(sourceRow), step, column } } as const;
  if (column === null) return { ...failure, message: textOf('') };
  const named = publicName(step, column);
  if (named === column) return { ...failure, message: textOf(`, column ${nameShown(column)}`) };
  return { ...failure, message: textOf(`, ${named}`), localMessage: textOf(`, column ${nameShown(column)}`) };
}

/** Separator between two codes in the flag cell of a row. */
const FLAG_SEPARATOR = ' ';

/**
 * Adds a flag to a row. If an operation has `on_error: flag`, the last column of the schema is the flag column, and
 * it consists of views.
 */
function appendFlag(batch: Batch, physicalRow: number, flag: string): void {
  const index = batch.columns.length - 1;
  const column = batch.columns[index];
  if (column?.kind !== 'views') throw new Error('the flag column is missing');
  const known = batch.text(column, physicalRow);
  const length = batch.arena.write(known === null ? flag : known + FLAG_SEPARATOR + flag);
  const at = (column.at + physicalRow * VIEW_BYTES) >>> 2;
  const { u32 } = batch.heap;
  u32[at] = batch.arena.next - length;
  u32[at + 1] = length;
}
