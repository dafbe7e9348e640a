// Rows that operations reject (`on_error: reject`): each becomes a line of a second file of the Run, with its source row, the
// operation, the column and the code, and the cells that it had there. Lines are kept by operation, so that the file does not
// depend on where batches are cut, and come together at the end.
import type { Batch } from '../batch/batch.ts';
import { CellReader } from '../batch/cell-values.ts';
import type { Schema } from '../batch/schema.ts';
import { textOfValue } from '../execution/cells/text-of-value.ts';
import { SpillFile } from '../execution/spill/spill-file.ts';
import type { SpillFolder } from '../execution/spill/spill-folder.ts';
import { csvCell, type PlainCsvRules } from '../kernel/plain/emit-csv.ts';
import type { FormulaGuard } from '../kernel/plain/formula.ts';
import { FileSink } from '../output/sink/file-sink.ts';
import type { PlannedStep, RunPlan } from '../plan/plan.ts';
import { REJECTS_SUFFIX, type RunOutcomeOutput, type RunTask } from '../protocol/messages.ts';
import type { Template, TemplateDefaults } from '../template/template.ts';
import type { RowErrorCode, RunReport } from './report.ts';

/** Of a step whose rows may be rejected, before the columns of its rows. */
const HEAD_COLUMNS = ['_row', '_operation', '_column', '_code'];

/** Lines of a step in memory: more of them go to a spill file. */
const PENDING_BYTES_MAX = 65_536;

/** What stands in a CSV as it is, whatever its rules: most cells, which need not become bytes by themselves. */
const PLAIN_CELL = /^[A-Za-z0-9](?:[A-Za-z0-9 .:@_/-]*[A-Za-z0-9])?$/;

const PIECE_BYTES = 65_536;

/** A step as far as its rejected rows go; the output is one, too. */
export type RejectingStep = Pick<PlannedStep, 'input' | 'output'>;

export interface RejectedRowsParts {
  readonly task: RunTask;
  readonly spill: SpillFolder;
  readonly guard: FormulaGuard;
  /** Those that may reject rows, by their places in the Template. */
  readonly steps: ReadonlyMap<number, RejectingStep>;
}

export interface Rejection {
  readonly step: number;
  /** Its number, name and id. */
  readonly operation: string;
  readonly column: string | null;
  readonly code: RowErrorCode;
}

/** What one step has rejected. */
interface StepLines {
  pending: Buffer[];
  pendingBytes: number;
  file: SpillFile | null;
}

export class RejectedRows {
  readonly #parts: RejectedRowsParts;
  /** Names of the columns of all steps, each once. */
  readonly #columns: readonly string[];
  readonly #rules: PlainCsvRules;
  readonly #lines: ReadonlyMap<number, StepLines>;
  readonly #sink: FileSink;
  readonly #readers = new Map<Schema, readonly (CellReader | null)[]>();
  #isTaken = false;
  rows = 0;
  /** Whether what is rejected now may be taken back. */
  isHeld = false;

  constructor(parts: RejectedRowsParts) {
    const { task, steps, guard } = parts;
    this.#parts = parts;
    this.#columns = [...new Set([...steps.values()].flatMap(({ input }) => input.map(({ name }) => name)))];
    this.#rules = { delimiter: Buffer.from(','), guard, quote: false, quoteEmpty: true };
    this.#lines = new Map([...steps.keys()].map((step) => [step, { pending: [], pendingBytes: 0, file: null }]));
    const { path, memoryBytesMax } = task.output;
    const bytesMax = task.limits.outputBytesMax;
    this.#sink = new FileSink({ path: path + REJECTS_SUFFIX, memoryBytesMax, bytesMax, digest: false });
  }

  /** @param batch with the columns of the step, before or behind it */
  add(batch: Batch, row: number, { step, operation, column, code }: Rejection): void {
    const lines = this.#lines.get(step);
    const known = this.#parts.steps.get(step);
    if (lines === undefined || known === undefined) throw new Error('a row is rejected by a step that may not');
    const isBehind = batch.columns.length === known.output.length && known.output.length !== known.input.length;
    const cells = this.#cellsOf(batch, isBehind ? known.output : known.input, row);
    const line = this.#line([String(batch.sourceRow(row)), operation, column, code, ...cells]);
    lines.pending.push(line);
    lines.pendingBytes += line.length;
    this.rows++;
    if (!this.isHeld) this.#settle(lines);
  }

  #settle(lines: StepLines): void {
    if (lines.pendingBytes < PENDING_BYTES_MAX) return;
    lines.file ??= new SpillFile(this.#parts.spill);
    lines.file.append(Buffer.concat(lines.pending));
    lines.pending = [];
    lines.pendingBytes = 0;
  }

  /** How many lines a step has that may be taken back, for `restore`. */
  mark(step: number): number {
    return this.#lines.get(step)?.pending.length ?? 0;
  }

  /** Takes back what the step has rejected since. */
  restore(step: number, mark: number): void {
    const lines = this.#lines.get(step);
    if (lines === undefined) return;
    for (const line of lines.pending.splice(mark)) {
      lines.pendingBytes -= line.length;
      this.rows--;
    }
  }

  /** Once all rows have gone through. Throws Failed. */
  finish(report: RunReport): void {
    this.#sink.write(this.#line([...HEAD_COLUMNS, ...this.#columns.map((name) => this.#headerOf(name))]));
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

  /** A column that is called as one of the head's is found apart, as `_row_2`. */
  #headerOf(name: string): string {
    let free = name;
    for (let number = 2; HEAD_COLUMNS.includes(free) || (free !== name && this.#columns.includes(free)); number++)
      free = `${name}_${number}`;
    return free;
  }

  /** The texts of a row, for each column of the file; null where the row has no such column. */
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

  /** Null and the empty text stay apart: `""` is the text. */
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

/** Those of one Run; null where no operation of its Template rejects rows. */
export function rejectedRows(parts: Omit<RejectedRowsParts, 'guard' | 'steps'> & PlannedTemplate): RejectedRows | null {
  const { plan, template, task, spill } = parts;
  const steps = rejectingSteps(plan, template.defaults);
  return steps.size === 0 ? null : new RejectedRows({ task, spill, guard: template.output.formulaGuard, steps });
}

interface PlannedTemplate {
  readonly plan: RunPlan;
  readonly template: Template;
}

/** Steps of a plan that may reject rows, by their places. */
export function rejectingSteps(plan: RunPlan, { onError }: TemplateDefaults): ReadonlyMap<number, RejectingStep> {
  const found = new Map<number, RejectingStep>();
  for (let index = 0; index < plan.steps.length; index++) {
    const step = plan.steps[index]!;
    const { operation, definition } = step;
    if (operation.onError === 'reject' || definition.rejects?.(operation.parameters) === true) found.set(index, step);
  }
  // A file that cannot hold all texts is a step of its own.
  const last = plan.steps.at(-1)?.output ?? plan.schema;
  if (onError === 'reject' && plan.output.planned.file.limits !== undefined)
    found.set(plan.steps.length, { input: last, output: last });
  return found;
}
