// The plan of one Run, made before its first row, and the limit on its size.

import { type Column, columnsShown, finderIn, type Schema, storedTypes } from '../batch/schema.ts';
import type { StreamPlan } from '../execution/keys/row-streams.ts';
import type { TableColumns } from '../execution/tables/run-tables.ts';
import { AUTO, encodingName, SUGGESTED_NAMES } from '../input/encoding/encoding.ts';
import { operationTable } from '../operations/index.ts';
import { outputFormats } from '../output/index.ts';
import { PlannedOutput } from '../output/planned-output.ts';
import { Failed } from '../protocol/failure.ts';
import { PAUSE, type Sliced } from '../scheduling/time-slices.ts';
import { type FileColumns, fileColumns } from '../template/file-columns.ts';
import type { TemplateLanguage } from '../template/language.ts';
import { effectOf, type OperationDefinition } from '../template/operation.ts';
import {
  operationLabel,
  outputColumns,
  retypedColumns,
  type StepCondition,
  splitColumns,
  stepCondition,
} from '../template/scan.ts';
import { metaVariables, type Template, type TemplateOperation } from '../template/template.ts';
import { TemplateScope } from '../template/template-scope.ts';

// Limits the size of a Run's plan and accounts for its memory. The plan grows with the number of file columns times
// the number of operations, so that a header of 80 KB could require gigabytes. Therefore the size is counted step by
// step while the plan is made.

/**
 * Maximum number of columns, summed over all steps: 32 operations on the widest file, or 1,000 operations on 524
 * columns. This needs about 200 MB of the budget and seconds of work. Typical files have a few dozen columns, and
 * typical Templates a few dozen operations.
 */
export const PLAN_COLUMNS_MAX = 524_288;

/**
 * Memory of one column of one step in the plan, in the operators and in the batches, in bytes. Measured: 25 to 120 if
 * the operation treats all columns alike, 400 to 600 if each column has its own reader and builder.
 */
const COLUMN_BYTES = 600;

/**
 * Memory of one column of the file: its header, its names, and its places in input and output, in bytes (670
 * measured).
 */
const FILE_COLUMN_BYTES = 800;

/** Length of a name, in UTF-16 units, that is included in the above. */
const NAME_LENGTH = 64;

/** Memory of each further unit of a new name, in bytes: the name, and its place in the header of the output. */
const NAME_UNIT_BYTES = 2;

/** Bytes that a plan may use without a reservation: enough for 32 columns and 32 operations. */
const PLAN_BYTES_FREE = 512 * 1024;

/** Bytes that are reserved at a time, because the budget is shared with other threads. */
const STEP_BYTES = 256 * 1024;

/** Reserves `bytes` more for the plan, or throws the error that ends the plan. */
type TakeForPlan = (bytes: number) => void;

class PlanSize {
  readonly #take: TakeForPlan;
  #columns = 0;
  #bytes = 0;
  #takenBytes = PLAN_BYTES_FREE;

  constructor(take: TakeForPlan) {
    this.#take = take;
  }

  /** Call this before anything is made from the file's columns. */
  addFile(headers: readonly string[], rowNames: readonly string[]): void {
    this.#add((headers.length + rowNames.length) * FILE_COLUMN_BYTES);
    for (const name of headers) this.#addName(name);
  }

  /**
   * Call this before storing the columns of a step.
   * @throws Failed RUN_RESOURCE_LIMIT
   */
  addStep(columns: number): void {
    this.#columns += columns;
    if (this.#columns > PLAN_COLUMNS_MAX) throw new Failed('RUN_RESOURCE_LIMIT', TOO_LARGE);
    this.#add(columns * COLUMN_BYTES);
  }

  /** Call this after a step that gave columns new names. */
  addNames(before: Schema, after: Schema): void {
    if (before === after || !after.some(({ name }) => name.length > NAME_LENGTH)) return;
    const known = new Set(before.map(({ name }) => name));
    for (const { name } of after) if (!known.has(name)) this.#addName(name);
  }

  #addName(name: string): void {
    if (name.length > NAME_LENGTH) this.#add((name.length - NAME_LENGTH) * NAME_UNIT_BYTES);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > this.#takenBytes) {
      this.#take(STEP_BYTES);
      this.#takenBytes += STEP_BYTES;
    }
  }
}

const TOO_LARGE =
  `The file has too many columns for so many operations: a Run has at most ${PLAN_COLUMNS_MAX} columns. ` +
  'Drop columns first, with other_columns: drop or select.';

// The plan of one Run, made before its first row: the fields of the Template's columns in the file, and the names,
// types and order of the columns at every step. Deterministic: the same Template and headers give the same plan.

export interface PlannedStep {
  readonly operation: TemplateOperation;
  readonly definition: OperationDefinition;
  /** Result of the operation's `effect` on the columns of this file. */
  readonly plan: unknown;
  /** The common parameter `where`; null: all rows. */
  readonly where: StepCondition | null;
  readonly input: Schema;
  readonly output: Schema;
  /** For each output column, its index in `input`, or -1 for a new column. */
  readonly layout: readonly number[];
  /** True if the operation emits no row before it has received the last one. */
  readonly needsAllRows: boolean;
  /** Ids of the columns whose cells the operation changes in place; null if unknown (OperationDefinition.edits). */
  readonly edits: readonly number[] | null;
  /** True if the operation keeps no state from one row to the next. */
  readonly rowLocal: boolean;
  /** True if each row is treated alone, so that each thread may process some rows (OperationDefinition.worksInParts). */
  readonly inParts: boolean;
}

export interface RunPlan {
  /** The columns at the first step: those of `columns`, then the flag column, if any. */
  readonly schema: Schema;
  /**
   * For each column at the first step except the flag column: the index of the file's field, or null for a column of
   * nulls.
   */
  readonly columns: readonly (number | null)[];
  /** Header texts of the file, by column id. */
  readonly headers: ReadonlyMap<number, string>;
  /** True if the last column at every step is the flag column, whose cells are null at first. */
  readonly flagColumn: boolean;
  readonly steps: readonly PlannedStep[];
  /** True if an expression reads `run.row`, the number of a row in the file. */
  readonly usesRunRow: boolean;
  readonly output: {
    /** The columns of the output, in order. */
    readonly schema: Schema;
    /** For each output column, its index in the columns after the last step. */
    readonly columns: readonly number[];
    /** The output file and its writers. */
    readonly planned: PlannedOutput;
    /** Columns after the last step whose cells choose the file of a row; empty if the output is one file. */
    readonly splitBy: readonly Column[];
  };
}

/**
 * Index of the first step that needs rows of other parts, or -1. If several threads process a file, each runs the steps
 * before this one on its own parts. At this step, the threads exchange groups, sorted rows, or rows by key. Steps that
 * the parts pass in their order (isOrdered) exchange nothing.
 */
export function exchangeStep({ steps }: Pick<RunPlan, 'steps'>): number {
  return steps.findIndex((step) => !step.inParts && !isOrdered(step));
}

/** True if the parts of a file can pass the step in their order (OperationDefinition.inOrder). */
export function isOrdered({ definition, operation }: PlannedStep): boolean {
  return (definition.inOrder?.(operation.parameters) ?? null) !== null;
}

/** True if several threads can group the rows for the step, and one thread merges their groups. */
export function mergesGroups({ operation, definition, plan }: PlannedStep): boolean {
  return definition.merges?.(operation.parameters) === true && definition.mergesColumns?.(plan) === true;
}

/** A step whose rows several threads process by key, with what they exchange. */
export interface KeyedStep {
  readonly step: PlannedStep;
  readonly streams: StreamPlan;
  /** The columns that the threads read for the step. */
  readonly reads: Schema;
  /** The new columns of the step. */
  readonly made: Schema;
  readonly compared: readonly Column[];
}

/** Returns the step at which threads exchange rows, if they can process its rows by key. */
export function keyedStep(plan: RunPlan): KeyedStep | null {
  const index = exchangeStep(plan);
  const step = plan.steps[index];
  if (step === undefined || plan.flagColumn || plan.usesRunRow || step.where !== null) return null;
  if (plan.steps.some(isOrdered)) return null;
  const isLast = plan.steps.slice(index + 1).every(({ inParts }) => inParts);
  const { definition, operation, input, output, layout } = step;
  if (!isLast || !plan.output.planned.file.splittable || definition.hasKeys?.(operation.parameters) !== true)
    return null;
  const rows = definition.byKey?.(step.plan, input) ?? null;
  if (rows === null) return null;
  const reads = [...new Set([...rows.key, ...rows.reads])];
  const find = finderIn(input);
  const streams = {
    reads: reads.map(find),
    types: storedTypes(reads),
    keys: new Set(rows.key).size,
    isExamined: rows.compared.some(({ type }) => type === 'text'),
  };
  return { step, streams, reads, made: output.filter((_, at) => layout[at]! < 0), compared: rows.compared };
}

export interface PlanSettings {
  /** The language in which the Template was checked; defaults to the language of this version. */
  readonly language?: TemplateLanguage;
  /** Columns of the reference tables, by the Template's names for the tables. */
  readonly tables?: TableColumns;
  /** See FileHead. */
  readonly hasKinds?: readonly boolean[];
  /** Column names that come from rows, if an earlier attempt of the Run has found them (Scope.columnsOfRows). */
  readonly rowNames?: readonly string[] | null;
  /** Called before the plan grows. Without it, a plan may be as large as PLAN_COLUMNS_MAX allows. */
  readonly take?: TakeForPlan;
}

/**
 * Maximum number of attempts. Names that appear only after a rename by style or pattern are looked up in the file in
 * a second attempt.
 */
const TRIES_MAX = 3;

/**
 * Makes the plan. Pauses between headers and between operations, because a file may have thousands of columns and a
 * Template a thousand operations.
 *
 * @param headers header texts of the file by position; blank if a column has no header
 * @throws Failed TEMPLATE_COLUMNS_MISSING; MALFORMED_FILE for equal headers that the Template refuses
 */
export function* planInSlices(
  template: Template,
  headers: readonly string[],
  { language = templateLanguage, tables = new Map(), hasKinds, rowNames = null, take = () => {} }: PlanSettings = {},
): Sliced<RunPlan> {
  const nullColumns: string[] = [];
  const size = new PlanSize(take);
  size.addFile(headers, rowNames ?? []);
  for (let left = TRIES_MAX; ; left--) {
    const file = yield* fileColumns(template, headers, nullColumns, hasKinds);
    yield PAUSE;
    const planner = new Planner(template, headers, file, { language, tables, rowNames, size });
    const plan = yield* planner.plan();
    const { missing, optional } = planner.lacks();
    if (missing.length === 0 && optional.length === 0) return plan;
    if (missing.length > 0 || left === 1) {
      const names = [...missing, ...optional];
      const listed = names.map((name) => JSON.stringify(name)).join(', ');
      throw new Failed('TEMPLATE_COLUMNS_MISSING', `The file lacks columns that the Template needs: ${listed}.`, {
        columns: names,
      });
    }
    nullColumns.push(...optional);
  }
}

/** Message for two columns whose names come from the file. */
const SAME_NAME = 'two would have the same name. Rename or drop one of them before this operation.';

/** Reasons why the file's columns do not fit a valid Template, by the code of the problem. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['TOO_MANY_COLUMNS', 'it would make too many columns'],
  [
    'WHERE_TYPE',
    'one of them would get another type, but the rows that "where" leaves out contain cells of its present type (WHERE_TYPE). ' +
      'Leave "where" out, or write the result to a new column',
  ],
]);

/**
 * Codes of problems with reference tables and expected columns. They appear only in a Run, and their messages contain
 * nothing from the file.
 */
const CHECK_CODES: ReadonlySet<string> = new Set(['EXPR_UNKNOWN_TABLE', 'UNKNOWN_TABLE_COLUMN', 'UNEXPECTED_COLUMNS']);

class Planner {
  readonly #template: Template;
  readonly #language: TemplateLanguage;
  readonly #size: PlanSize;
  readonly #scope: TemplateScope;
  readonly #fields: readonly (number | null)[];
  readonly #headers: readonly string[];
  readonly #tables: TableColumns;
  #label = '';
  /** Parameters of the current operation. Names that occur in them may be reported. */
  #parameters: unknown = null;
  /** The layout of the last step that left all columns in place. Reused by later such steps. */
  #inPlace: readonly number[] = [];

  constructor(
    template: Template,
    headers: readonly string[],
    { columns, fields }: FileColumns,
    {
      language,
      tables,
      rowNames,
      size,
    }: Required<Pick<PlanSettings, 'language' | 'tables' | 'rowNames'>> & {
      readonly size: PlanSize;
    },
  ) {
    this.#template = template;
    this.#language = language;
    this.#tables = tables;
    this.#size = size;
    this.#fields = fields;
    this.#headers = headers;
    this.#scope = new TemplateScope({
      columns,
      flagColumn: template.flagColumn,
      open: false,
      patterns: template.patterns,
      tables,
      tableTypes: template.tables,
      variables: metaVariables(template.input),
      rowNames,
      problem: (_pointer, code, message, name) => this.#refuse(code, message, name),
    });
  }

  *plan(): Sliced<RunPlan> {
    yield PAUSE;
    const first = snapshot(this.#scope);
    const steps: PlannedStep[] = [];
    let input = first;
    for (const operation of this.#template.operations) {
      const step = yield* this.#step(operation, input);
      steps.push(step);
      input = step.output;
      yield PAUSE;
    }
    yield PAUSE;
    this.#label = 'output.split_by';
    this.#parameters = this.#template.output.splitBy;
    const splitBy = splitColumns(this.#scope, this.#template.output.splitBy);
    this.#label = 'output.columns';
    this.#parameters = this.#template.output.columns;
    // Columns that are not known yet cannot be selected.
    const listed = this.#scope.endsUnknown ? null : this.#template.output.columns;
    yield* this.#scope.matchPatterns([listed]);
    const schema = [...outputColumns(this.#scope, listed)];
    yield PAUSE;
    const columns = layoutOf(input, schema, this.#inPlace);
    const flagColumn = this.#template.flagColumn !== null;
    const headers = this.#headersOf(first);
    const { output: settings, input: read } = this.#template;
    const { outputFormats } = this.#language;
    yield PAUSE;
    const planned = new PlannedOutput(outputFormats, { output: settings, schema, nullValues: read.nullValues });
    const output = { schema, columns, planned, splitBy };
    const usesRunRow = this.#scope.uses.has('run_row');
    return { schema: first, columns: this.#fields, headers, flagColumn, steps, usesRunRow, output };
  }

  #headersOf(first: Schema): ReadonlyMap<number, string> {
    const named = this.#fields.flatMap((field, index): [number, string][] => {
      return field === null ? [] : [[first[index]!.id, this.#headers[field]!]];
    });
    return new Map(named);
  }

  /** Names that the operations did not find, split by whether the Run can continue with columns of nulls. */
  lacks(): { readonly missing: readonly string[]; readonly optional: readonly string[] } {
    const reads = [...this.#scope.derivedReads];
    const names = (mode: string) => reads.filter(([, ifMissing]) => ifMissing === mode).map(([name]) => name);
    return { missing: names('fail'), optional: names('null') };
  }

  *#step(operation: TemplateOperation, input: Schema): Sliced<PlannedStep> {
    const definition = this.#language.operations.get(operation.name);
    if (definition === undefined) throw new Error('an operation of a checked Template is not in the table');
    this.#label = operationLabel(operation);
    this.#parameters = operation.parameters;
    this.#size.addStep(input.length);
    this.#scope.begin({ label: this.#label, ifMissing: operation.ifMissing });
    yield* this.#scope.matchPatterns(operation.parameters);
    const where = stepCondition(definition, operation, this.#scope);
    const plan = yield* effectOf(definition, operation.parameters, this.#scope);
    yield PAUSE;
    const output = snapshot(this.#scope, input);
    this.#size.addNames(input, output);
    if (where !== null && retypedColumns(input, output).length > 0) this.#refuse('WHERE_TYPE', '');
    const { memory } = definition;
    const memoryClass = typeof memory === 'function' ? memory(operation.parameters) : memory;
    const needsAllRows = memoryClass === 'B' || definition.emitsAtEnd?.(operation.parameters) === true;
    const rowLocal = memoryClass === 'R';
    const inParts = rowLocal || worksInParts(definition, operation.parameters, plan);
    yield PAUSE;
    const layout = layoutOf(input, output, this.#inPlace);
    if (output === input) this.#inPlace = layout;
    const edits = definition.edits?.(plan) ?? null;
    return { operation, definition, plan, where, input, output, layout, needsAllRows, edits, rowLocal, inParts };
  }

  /**
   * Refuses the file: the Template is valid, so the file's own columns are the cause. Their names must not be
   * reported, except for a name that the operation itself contains.
   */
  #refuse(code: string, problem: string, name?: string): never {
    if (CHECK_CODES.has(code)) throw new Failed('TEMPLATE_CHECK_FAILED', `${problem} (${this.#label})`);
    const because = (reason: string): string =>
      `The columns of the file do not fit the Template at ${this.#label}: ${reason}`;
    const details = { columns: [] };
    if (code === 'NO_COLUMNS') {
      const localMessage = because(`${problem} ${columnsShown(this.#scope.columns, 'The columns there')}`);
      throw new Failed('TEMPLATE_COLUMNS_MISSING', because(problem), { ...details, localMessage });
    }
    if (code !== 'COLUMN_EXISTS' || name === undefined) {
      const reason = REASONS.get(code) ?? 'the operation cannot be applied to these columns';
      throw new Failed('TEMPLATE_COLUMNS_MISSING', because(`${reason}.`), details);
    }
    const localMessage = because(this.#sameName(name));
    const isPublic = spells(this.#parameters, name) || this.#tableWith(name) !== null;
    const message = isPublic ? localMessage : because(SAME_NAME);
    throw new Failed('TEMPLATE_COLUMNS_MISSING', message, { ...details, localMessage });
  }

  #sameName(name: string): string {
    const table = this.#tableWith(name);
    const quoted = JSON.stringify(name);
    if (table === null) return `two would be called ${quoted}. Rename or drop one of them before this operation.`;
    const origin = `one exists already, the other is in the table ${JSON.stringify(table)}`;
    return `two would be called ${quoted}: ${origin}. Set "prefix", or list only other columns in "columns".`;
  }

  /** Name of a table that the operation names and that has such a column. */
  #tableWith(name: string): string | null {
    for (const [table, columns] of this.#tables) {
      if (columns?.includes(name) && spells(this.#parameters, table)) return table;
    }
    return null;
  }
}

/** True if the name is a value in the Template's settings. */
function spells(written: unknown, name: string): boolean {
  if (typeof written === 'string') return written === name;
  if (typeof written !== 'object' || written === null) return false;
  return Object.values(written).some((part) => spells(part, name));
}

function worksInParts(definition: OperationDefinition, parameters: TemplateOperation['parameters'], plan: unknown) {
  return definition.worksInParts?.(parameters) === true && definition.columnsInParts?.(plan) !== false;
}

/**
 * The columns of a step. Shares the array of the previous step if the columns are the same, to keep long plans small.
 */
function snapshot(scope: TemplateScope, before: Schema = []): Schema {
  const { columns } = scope;
  const isSame = columns.length === before.length && columns.every((column, index) => column === before[index]);
  return isSame ? before : [...columns];
}

function layoutOf(input: Schema, output: Schema, inPlace: readonly number[]): readonly number[] {
  const isInPlace = output.length === input.length && output.every(({ id }, index) => id === input[index]!.id);
  if (isInPlace && inPlace.length === output.length) return inPlace;
  const indices = new Map(input.map(({ id }, index) => [id, index]));
  return output.map(({ id }) => indices.get(id) ?? -1);
}

// The Template language of this version: its operations and formats, for the checker, the schema and the plans.

export const templateLanguage: TemplateLanguage = {
  operations: operationTable,
  outputFormats,
  encodings: { nameOf: encodingName, suggested: SUGGESTED_NAMES, auto: AUTO },
};
