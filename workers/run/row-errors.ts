// The one model of errors in rows: counts them, says what becomes of the row, and keeps
// the error that ends the Run: the lowest source row, then the earliest operation.
import type { Batch } from '../batch/batch.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { RowErrorAction, RowErrorRule, RowErrors } from '../operations/operation.ts';
import { operationHead } from '../plan/scan.ts';
import type { Failure } from '../protocol/failure.ts';
import type { TemplateDefaults, TemplateOperation } from '../template/template.ts';
import type { RejectedRows, Rejection } from './rejected-rows.ts';
import type { CodeCounts, RowErrorCode } from './report.ts';
import { countCode } from './report.ts';

/** The first error that `on_error: fail` met, by source row and step. */
interface FatalRow {
  readonly sourceRow: number;
  readonly step: number;
  /** How messages call it. */
  readonly operation: string;
  readonly column: string | null;
  readonly code: RowErrorCode;
  /** What the Template says of it. */
  readonly message: string | null;
}

/** What one step has met so far. */
interface StepState {
  fatal: FatalRow | null;
  count: number;
}

interface StepMark extends StepState {
  readonly rejected: number;
}

/** Row errors of one Run, over all its operations. */
export class RunErrors {
  /** Of steps that have met an error; null: none has. */
  #steps: Map<number, StepState> | null = null;
  readonly rejected: RejectedRows | null;
  readonly #gathers: boolean;
  #failedCheck: { readonly step: number; readonly message: string } | null = null;

  /**
   * @param rejected null: no operation rejects rows
   * @param gathers a row that ends the Run keeps nobody from going on
   */
  constructor(rejected: RejectedRows | null = null, gathers = false) {
    this.rejected = rejected;
    this.#gathers = gathers;
  }

  /** True once a row has ended the Run: what follows is only read for its syntax. */
  get fatal(): boolean {
    if (this.#gathers || this.#steps === null) return false;
    for (const { fatal } of this.#steps.values()) if (fatal !== null) return true;
    return false;
  }

  /** The error that ends the Run: of the lowest source row, then of the earliest operation; null when none does. */
  get first(): FatalRow | null {
    if (this.#steps === null) return null;
    const fatals = [...this.#steps.values()].flatMap(({ fatal }) => fatal ?? []);
    return fatals.sort((a, b) => a.sourceRow - b.sourceRow || a.step - b.step)[0] ?? null;
  }

  /** Counts an error; with `fatal` it ends the Run, unless an earlier row does. */
  note(step: number, fatal: FatalRow | null): void {
    const state = this.#state(step);
    state.count++;
    if (fatal !== null && (state.fatal === null || fatal.sourceRow < state.fatal.sourceRow)) state.fatal = fatal;
    this.#keep(step, state);
  }

  /** The first check of the earliest step counts. */
  failCheck(step: number, message: string): void {
    if (this.#failedCheck === null || step < this.#failedCheck.step) this.#failedCheck = { step, message };
  }

  /** What a step has met so far, for `restore`. Only while rejected rows are held. */
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

  /** What the errors make of the Run once its last row was seen; null = nothing. */
  verdict(defaults: TemplateDefaults, rowsRead: number): Failure | null {
    const { first } = this;
    if (first !== null) return rowFailure(first);
    if (this.#failedCheck !== null) return { code: 'TEMPLATE_CHECK_FAILED', message: this.#failedCheck.message };
    if (this.#steps === null) return null;
    const count = [...this.#steps.values()].reduce((sum, state) => sum + state.count, 0);
    const { maxErrors, maxErrorRatio } = defaults;
    const tooMany =
      (maxErrors !== null && count > maxErrors) || (maxErrorRatio !== null && count / rowsRead > maxErrorRatio);
    if (!tooMany) return null;
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

  /** What a rejected row is told to come from: as the report numbers operations. */
  #rejection(column: string | null, code: RowErrorCode): Rejection {
    const { name, id, place } = this.#operation;
    const label = place === null ? name : `${this.#step + 1} ${name}`;
    return { step: this.#step, operation: id === null ? label : `${label} (${id})`, column, code };
  }
}

const NO_RULE: RowErrorRule = { onError: null, message: null };

function rowFailure({ sourceRow, step, operation, column, code, message }: FatalRow): Failure {
  const place = column === null ? '' : `, column "${column}"`;
  return {
    code: 'TEMPLATE_ROW_ERROR',
    message: `${operation}${place}: ${code} in row ${sourceRow} of the data.${message === null ? '' : ` ${message}`}`,
    place: { row: sourceRow, step, column },
  };
}

/** Separator between two codes of one row. */
const FLAG_SEPARATOR = ' ';

/** The flag column is the last of the schema, as views, whenever an operation has `on_error: flag`. */
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
