// Collects the rows that operations reject (`on_error: reject`) and writes them to a second output file of the Run.
// Each line contains the source row, the operation, the column and the code, and the row's cells at that operation.
// Lines are collected by operation and joined at the end, so that the file does not depend on batch boundaries.

import type { Batch } from '../batch/batch.ts';
import type { Schema } from '../batch/schema.ts';
import { textOfValue } from '../execution/cells/value-cells.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { rejectsRagged } from '../input/csv/selected-rows.ts';
import { csvCell, type FormulaGuard, type PlainCsvRules } from '../kernel/plain/emit-csv.ts';
import { SpillFile, type SpillFolder } from '../memory/spill-file.ts';
import { FileSink } from '../output/sink/file-sink.ts';
import type { PlannedStep, RunPlan } from '../plan/plan.ts';
import { REJECTS_SUFFIX, type RunOutcomeOutput, type RunTask } from '../protocol/messages.ts';
import { type RowErrorCode, type RunReport, rowOfFile } from '../protocol/report.ts';
import type { Template } from '../template/template.ts';

/** Columns before the columns of the rejected row. */
const HEAD_COLUMNS = ['_row', '_operation', '_column', '_code'];

/** Column after those of the rejected row, if rows may be rejected because of their length: their additional cells. */
const EXTRA_COLUMN = '_extra';

/** Step number for rows that are rejected before the first operation because of their length. */
export const INPUT_STEP = -1;

/** Maximum size of a step's lines in memory, in bytes. More lines go to a spill file. */
const PENDING_BYTES_MAX = 65_536;

/** A cell that CSV writes unchanged under all rules. Most cells match and skip the conversion to bytes. */
const PLAIN_CELL = /^[A-Za-z0-9](?:[A-Za-z0-9 .:@_/-]*[A-Za-z0-9])?$/;

const PIECE_BYTES = 65_536;

/** The columns of a step that may reject rows. The output counts as a step, too. */
export type RejectingStep = Pick<PlannedStep, 'input' | 'output'>;

export interface RejectedRowsSettings {
  readonly task: RunTask;
  readonly spill: SpillFolder;
  readonly guard: FormulaGuard;
  /** The steps that may reject rows, by their index in the plan. */
  readonly steps: ReadonlyMap<number, RejectingStep>;
}

export interface Rejection {
  readonly step: number;
  /** Number, name and id of the operation. */
  readonly operation: string;
  readonly column: string | null;
  readonly code: RowErrorCode;
  /** Text of the row after its last column, see RaggedRow. */
  readonly extra?: string | null;
}

/** Lines that one step has rejected. */
interface StepLines {
  pending: Buffer[];
  pendingBytes: number;
  file: SpillFile | null;
}

export class RejectedRows {
  readonly #settings: RejectedRowsSettings;
  /** Names of the columns of all steps, without duplicates. */
  readonly #columns: readonly string[];
  readonly #hasExtra: boolean;
  readonly #rules: PlainCsvRules;
  readonly #lines: ReadonlyMap<number, StepLines>;
  readonly #sink: FileSink;
  readonly #readers = new Map<Schema, readonly (CellReader | null)[]>();
  #isTaken = false;
  rows = 0;
  /** If true, new lines stay in memory because they may be removed again by `restore`. */
  isHeld = false;

  constructor(settings: RejectedRowsSettings) {
    const { task, steps, guard } = settings;
    this.#settings = settings;
    this.#hasExtra = steps.has(INPUT_STEP);
    this.#columns = [...new Set([...steps.values()].flatMap(({ input }) => input.map(({ name }) => name)))];
    this.#rules = { delimiter: Buffer.from(','), guard, quote: false, quoteEmpty: true };
    this.#lines = new Map([...steps.keys()].map((step) => [step, { pending: [], pendingBytes: 0, file: null }]));
    const { path, memoryBytesMax } = task.output;
    const bytesMax = task.limits.outputBytesMax;
    this.#sink = new FileSink({ path: path + REJECTS_SUFFIX, memoryBytesMax, bytesMax, digest: false });
  }

  /** @param batch has the step's input or output columns */
  add(batch: Batch, row: number, { step, operation, column, code, extra = null }: Rejection): void {
    const lines = this.#lines.get(step);
    const known = this.#settings.steps.get(step);
    if (lines === undefined || known === undefined) throw new Error('a step that may not reject rows rejected a row');
    const isBehind = batch.columns.length === known.output.length && known.output.length !== known.input.length;
    const cells = this.#cellsOf(batch, isBehind ? known.output : known.input, row);
    const number = rowOfFile(batch.sourceRow(row));
    const tail = this.#hasExtra ? [extra] : [];
    const line = this.#line([number === null ? null : String(number), operation, column, code, ...cells, ...tail]);
    lines.pending.push(line);
    lines.pendingBytes += line.length;
    this.rows++;
    if (!this.isHeld) this.#settle(lines);
  }

  #settle(lines: StepLines): void {
    if (lines.pendingBytes < PENDING_BYTES_MAX) return;
    lines.file ??= new SpillFile(this.#settings.spill);
    lines.file.append(Buffer.concat(lines.pending));
    lines.pending = [];
    lines.pendingBytes = 0;
  }

  /** Returns the number of lines in memory, for `restore`. */
  mark(step: number): number {
    return this.#lines.get(step)?.pending.length ?? 0;
  }

  /** Removes the lines that the step has rejected since `mark`. */
  restore(step: number, mark: number): void {
    const lines = this.#lines.get(step);
    if (lines === undefined) return;
    for (const line of lines.pending.splice(mark)) {
      lines.pendingBytes -= line.length;
      this.rows--;
    }
  }

  /** Writes the file after all rows were processed. Throws Failed. */
  finish(report: RunReport): void {
    const names = this.#columns.map((name) => this.#headerOf(name));
    this.#sink.write(this.#line([...HEAD_COLUMNS, ...names, ...(this.#hasExtra ? [EXTRA_COLUMN] : [])]));
    const piece = new Uint8Array(PIECE_BYTES);
    for (const [, { file, pending }] of [...this.#lines].sort(([a], [b]) => a - b)) {
      for (let at = 0; file !== null && at < file.sizeBytes; ) {
        const bytes = file.read(piece, at);
        this.#sink.write(piece.subarray(0, bytes));
        at += bytes;
      }
      for (const line of pending) this.#sink.write(line);
    }
    report.rejects = { rows: this.rows, size_bytes: this.#sink.sizeBytes };
  }

  take(): RunOutcomeOutput {
    this.#isTaken = true;
    return { ...this.#sink.finish(), mimeType: 'text/csv', ending: 'csv' };
  }

  close(): void {
    if (!this.#isTaken) this.#sink.abandon();
  }

  /** A column with the name of a head column gets a suffix, such as `_row_2`. */
  #headerOf(name: string): string {
    let free = name;
    const isOwn = (header: string): boolean =>
      HEAD_COLUMNS.includes(header) || (this.#hasExtra && header === EXTRA_COLUMN);
    for (let number = 2; isOwn(free) || (free !== name && this.#columns.includes(free)); number++)
      free = `${name}_${number}`;
    return free;
  }

  /** The texts of a row, one for each column of the file; null if the row does not have the column. */
  #cellsOf(batch: Batch, schema: Schema, row: number): (string | null)[] {
    const known = this.#readers.get(schema);
    const readers = known ?? this.#columns.map((name) => readerOf(schema, name));
    if (known === undefined) this.#readers.set(schema, readers);
    return readers.map((reader) => {
      reader?.bind(batch);
      const value = reader?.read(row) ?? null;
      return typeof value === 'string' || value === null ? value : textOfValue(value);
    });
  }

  /** Null is written as an empty cell and the empty text as `""`, so that both remain distinct. */
  #line(cells: readonly (string | null)[]): Buffer {
    const written = cells.map((cell) => {
      if (cell === null || PLAIN_CELL.test(cell)) return cell ?? '';
      return csvCell(Buffer.from(cell), this.#rules).bytes.toString();
    });
    return Buffer.from(`${written.join(',')}\n`);
  }
}

function readerOf(schema: Schema, name: string): CellReader | null {
  const index = schema.findIndex((column) => column.name === name);
  return index < 0 ? null : new CellReader(schema[index]!.type, index);
}

/** Creates the collector of one Run; null if no operation of its Template rejects rows. */
export function rejectedRows(
  settings: Omit<RejectedRowsSettings, 'guard' | 'steps'> & PlannedTemplate,
): RejectedRows | null {
  const { plan, template, task, spill } = settings;
  const steps = rejectingSteps(plan, template);
  return steps.size === 0 ? null : new RejectedRows({ task, spill, guard: template.output.formulaGuard, steps });
}

interface PlannedTemplate {
  readonly plan: RunPlan;
  readonly template: Template;
}

/** Steps of a plan that may reject rows, by their index. */
export function rejectingSteps(
  plan: RunPlan,
  { defaults: { onError }, input }: Pick<Template, 'defaults' | 'input'>,
): ReadonlyMap<number, RejectingStep> {
  const found = new Map<number, RejectingStep>();
  const first = plan.steps[0]?.input ?? plan.schema;
  if (rejectsRagged(input.csv)) found.set(INPUT_STEP, { input: first, output: first });
  for (let index = 0; index < plan.steps.length; index++) {
    const step = plan.steps[index]!;
    const { operation, definition } = step;
    if (operation.onError === 'reject' || definition.rejects?.(operation.parameters) === true) found.set(index, step);
  }
  // An output format that limits the length of texts may reject rows as well. It gets the index after the last step.
  const last = plan.steps.at(-1)?.output ?? plan.schema;
  if (onError === 'reject' && plan.output.planned.file.limits !== undefined)
    found.set(plan.steps.length, { input: last, output: last });
  return found;
}
