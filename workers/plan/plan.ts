// What one Run needs to know before its first row: where the Template's columns are in the file, and names, types and
// order of the columns at every step. Pure: the same Template and headers give the same plan.
import type { Schema } from '../batch/schema.ts';
import type { TableColumns } from '../execution/tables/run-tables.ts';
import type { OperationDefinition } from '../operations/operation.ts';
import { PlannedOutput } from '../output/planned-output.ts';
import { Failed } from '../protocol/failure.ts';
import { PAUSE, type Sliced } from '../run/time-slices.ts';
import type { TemplateLanguage } from '../template/language.ts';
import { metaVariables } from '../template/meta-variables.ts';
import type { Template, TemplateOperation } from '../template/template.ts';
import { type FileColumns, fileColumns } from './file-columns.ts';
import { PlanSize, type TakeForPlan } from './plan-size.ts';
import { operationLabel, outputColumns, retypedColumns } from './scan.ts';
import { type StepCondition, stepCondition } from './step-condition.ts';
import { templateLanguage } from './template-language.ts';
import { TemplateScope } from './template-scope.ts';

export interface PlannedStep {
  readonly operation: TemplateOperation;
  readonly definition: OperationDefinition;
  /** What the operation's `effect` made of this file's columns. */
  readonly plan: unknown;
  /** The common parameter `where`, null: all rows. */
  readonly where: StepCondition | null;
  readonly input: Schema;
  readonly output: Schema;
  /** For each output column its index in `input`, or -1 for a new column. */
  readonly layout: readonly number[];
  /** True for an operation that hands on nothing before it has seen the last row. */
  readonly needsAllRows: boolean;
  /** Ids of the columns whose cells it changes in place, null when nobody knows (OperationDefinition.edits). */
  readonly edits: readonly number[] | null;
  /** True for an operation that keeps nothing from one row to the next. */
  readonly rowLocal: boolean;
}

export interface RunPlan {
  /** The columns at the first step: those of `columns`, then the flag column if there is one. */
  readonly schema: Schema;
  /** For each column at the first step but the flag column: the file's field, from 0, or null for a column of nulls. */
  readonly columns: readonly (number | null)[];
  /** The file's header texts, by the id of the column. */
  readonly headers: ReadonlyMap<number, string>;
  /** True when the last column at every step is the flag column, which starts as nulls. */
  readonly flagColumn: boolean;
  readonly steps: readonly PlannedStep[];
  /** An expression reads `run.row`, the place of a row in the file. */
  readonly usesRunRow: boolean;
  readonly output: {
    /** The columns of the output in their order. */
    readonly schema: Schema;
    /** Index of each of them in the columns behind the last step. */
    readonly columns: readonly number[];
    /** Its file and its writers. */
    readonly planned: PlannedOutput;
  };
}

export interface PlanSettings {
  /** The one that the Template was checked in; this version's unless given. */
  readonly language?: TemplateLanguage;
  /** Columns of the reference tables, by the Template's names for them. */
  readonly tables?: TableColumns;
  /** See FileHead. */
  readonly hasKinds?: readonly boolean[];
  /** Of the columns that rows name, where an earlier try of the Run has found them (Scope.columnsOfRows). */
  readonly rowNames?: readonly string[] | null;
  /** Asked before the plan grows; without it a plan may be as large as PLAN_COLUMNS_MAX allows. */
  readonly take?: TakeForPlan;
}

/** Tries at most: names that appear only after a rename by style or pattern are looked for in a second one. */
const TRIES_MAX = 3;

/**
 * May pause behind each header that is looked for and each operation: a file may have thousands of columns, a Template a
 * thousand operations.
 *
 * @param headers header texts of the file by position; blank for columns without one
 * @throws Failed TEMPLATE_COLUMNS_MISSING; MALFORMED_FILE for equal headers that the Template refuses
 */
export function* planInSlices(
  template: Template,
  headers: readonly string[],
  { language = templateLanguage, tables = new Map(), hasKinds, rowNames = null, take = () => {} }: PlanSettings = {},
): Sliced<RunPlan> {
  const nullColumns: string[] = [];
  const size = new PlanSize(take);
  size.addFile(headers.length + (rowNames?.length ?? 0));
  for (let left = TRIES_MAX; ; left--) {
    const file = yield* fileColumns(template, headers, nullColumns, hasKinds);
    const planner = new Planner(template, headers, file, { language, tables, rowNames, size });
    const plan = yield* planner.plan();
    const { missing, optional } = planner.lacks();
    if (missing.length === 0 && optional.length === 0) return plan;
    if (missing.length > 0 || left === 1) {
      const names = [...missing, ...optional];
      const listed = names.map((name) => JSON.stringify(name)).join(', ');
      throw new Failed('TEMPLATE_COLUMNS_MISSING', `The file lacks columns that the Template needs: ${listed}.`, names);
    }
    nullColumns.push(...optional);
  }
}

/** What is in the way of a sound Template, by the code of the problem. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['COLUMN_EXISTS', 'two would have the same name'],
  ['NO_COLUMNS', 'its pattern fits the name of none of them'],
  ['TOO_MANY_COLUMNS', 'it would make too many of them'],
  [
    'WHERE_TYPE',
    'one of them would get another type, but the rows that "where" leaves out hold cells of the type it has (WHERE_TYPE). ' +
      'Leave "where" out, or write the result to a new column',
  ],
]);

/** Problems of reference tables and of expected columns show only in a Run, and name nothing of the file. */
const CHECK_CODES: ReadonlySet<string> = new Set(['EXPR_UNKNOWN_TABLE', 'UNKNOWN_TABLE_COLUMN', 'UNEXPECTED_COLUMNS']);

class Planner {
  readonly #template: Template;
  readonly #language: TemplateLanguage;
  readonly #size: PlanSize;
  readonly #scope: TemplateScope;
  readonly #fields: readonly (number | null)[];
  readonly #headers: readonly string[];
  #label = '';
  /** Of the operation at hand: their words may be reported. */
  #parameters: unknown = null;
  /** The layout of the last step that left the columns where they were. */
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
    this.#size = size;
    this.#fields = fields;
    this.#headers = headers;
    this.#scope = new TemplateScope({
      columns,
      flagColumn: template.flagColumn,
      open: false,
      patterns: template.patterns,
      tables,
      variables: metaVariables(template.input),
      rowNames,
      problem: (_pointer, code, message, name) => this.#refuse(code, message, name),
    });
  }

  *plan(): Sliced<RunPlan> {
    const first = snapshot(this.#scope);
    const steps: PlannedStep[] = [];
    let input = first;
    for (const operation of this.#template.operations) {
      const step = this.#step(operation, input);
      steps.push(step);
      input = step.output;
      yield PAUSE;
    }
    this.#label = 'output.columns';
    this.#parameters = this.#template.output.columns;
    // What is not known yet cannot be looked for.
    const listed = this.#scope.endsUnknown ? null : this.#template.output.columns;
    const schema = [...outputColumns(this.#scope, listed)];
    const columns = layoutOf(input, schema, this.#inPlace);
    const flagColumn = this.#template.flagColumn !== null;
    const headers = this.#headersOf(first);
    const { output: settings, input: read } = this.#template;
    const { outputFormats } = this.#language;
    const planned = new PlannedOutput(outputFormats, { output: settings, schema, nullValues: read.nullValues });
    const output = { schema, columns, planned };
    const usesRunRow = this.#scope.uses.has('run_row');
    return { schema: first, columns: this.#fields, headers, flagColumn, steps, usesRunRow, output };
  }

  #headersOf(first: Schema): ReadonlyMap<number, string> {
    const named = this.#fields.flatMap((field, index): [number, string][] => {
      return field === null ? [] : [[first[index]!.id, this.#headers[field]!]];
    });
    return new Map(named);
  }

  /** Names that the operations did not find, by whether the Run can go on with columns of nulls. */
  lacks(): { readonly missing: readonly string[]; readonly optional: readonly string[] } {
    const reads = [...this.#scope.derivedReads];
    const names = (mode: string) => reads.filter(([, ifMissing]) => ifMissing === mode).map(([name]) => name);
    return { missing: names('fail'), optional: names('null') };
  }

  #step(operation: TemplateOperation, input: Schema): PlannedStep {
    const definition = this.#language.operations.get(operation.name);
    if (definition === undefined) throw new Error('an operation of a checked Template is not in the table');
    this.#label = operationLabel(operation);
    this.#parameters = operation.parameters;
    this.#size.addStep(input.length);
    this.#scope.begin({ label: this.#label, ifMissing: operation.ifMissing });
    const where = stepCondition(definition, operation, this.#scope);
    const plan = definition.effect(operation.parameters, this.#scope);
    const output = snapshot(this.#scope, input);
    if (where !== null && retypedColumns(input, output).length > 0) this.#refuse('WHERE_TYPE', '');
    const { memory } = definition;
    const memoryClass = typeof memory === 'function' ? memory(operation.parameters) : memory;
    const needsAllRows = memoryClass === 'B' || definition.handsOnAtEnd?.(operation.parameters) === true;
    const rowLocal = memoryClass === 'R';
    const layout = layoutOf(input, output, this.#inPlace);
    if (output === input) this.#inPlace = layout;
    const edits = definition.edits?.(plan) ?? null;
    return { operation, definition, plan, where, input, output, layout, needsAllRows, edits, rowLocal };
  }

  /**
   * The Template is sound, so this file's own columns are in its way. Their names may not be reported, but for one that the
   * operation itself spells.
   */
  #refuse(code: string, problem: string, name?: string): never {
    if (CHECK_CODES.has(code)) throw new Failed('TEMPLATE_CHECK_FAILED', `${problem} (${this.#label})`);
    const known = name !== undefined && spells(this.#parameters, name);
    const reason = known
      ? `two would be called ${JSON.stringify(name)}`
      : (REASONS.get(code) ?? 'it cannot be applied to them');
    const message = `The columns of the file do not fit the Template at ${this.#label}: ${reason}.`;
    throw new Failed('TEMPLATE_COLUMNS_MISSING', message, []);
  }
}

/** Whether a name stands in what the Template sets, as a value. */
function spells(written: unknown, name: string): boolean {
  if (typeof written === 'string') return written === name;
  if (typeof written !== 'object' || written === null) return false;
  return Object.values(written).some((part) => spells(part, name));
}

/** The columns of a step: those of the step before it where they are the same, so that a long plan is as small as it can be. */
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
