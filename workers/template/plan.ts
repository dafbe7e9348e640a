// What one Run needs to know before its first row: where the Template's columns are in the file, and names, types and
// order of the columns at every step. Pure: the same Template and headers give the same plan.
import { Failed } from '../failure.ts';
import { operationTable } from '../operations/index.ts';
import type { OperationDefinition } from '../operations/operation.ts';
import type { KeptForm } from '../output/writer.ts';
import type { Schema } from '../schema.ts';
import type { TableColumns } from '../tables/run-tables.ts';
import { fileColumns } from './file-columns.ts';
import { operationLabel, outputColumns } from './scan.ts';
import type { OperationTable } from './schema.ts';
import { type StepCondition, stepCondition } from './step-condition.ts';
import type { Template, TemplateOperation } from './template.ts';
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
  readonly output: {
    /** The columns of the output in their order. */
    readonly schema: Schema;
    /** Index of each of them in the columns behind the last step. */
    readonly columns: readonly number[];
    /** What its writers keep from one Run to the next: it follows from the rest of the plan alone. */
    readonly kept: KeptForm;
  };
}

export interface PlanSettings {
  readonly table?: OperationTable;
  /** Columns of the reference tables, by the Template's names for them. */
  readonly tables?: TableColumns;
}

/** Tries at most: names that appear only after a rename by style or pattern are looked for in a second one. */
const TRIES_MAX = 3;

/**
 * @param headers header texts of the file by position; blank for columns without one
 * @throws Failed TEMPLATE_COLUMNS_MISSING; MALFORMED_FILE for equal headers that the Template refuses
 */
export function planRun(
  template: Template,
  headers: readonly string[],
  { table = operationTable, tables = new Map() }: PlanSettings = {},
): RunPlan {
  const nullColumns: string[] = [];
  for (let left = TRIES_MAX; ; left--) {
    const planner = new Planner(template, headers, nullColumns, { table, tables });
    const plan = planner.plan();
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

/** Problems of reference tables and of expected columns show only in a Run, and name nothing of the file. */
const CHECK_CODES: ReadonlySet<string> = new Set(['EXPR_UNKNOWN_TABLE', 'UNKNOWN_TABLE_COLUMN', 'UNEXPECTED_COLUMNS']);

class Planner {
  readonly #template: Template;
  readonly #table: OperationTable;
  readonly #scope: TemplateScope;
  readonly #fields: readonly (number | null)[];
  readonly #headers: readonly string[];
  #label = '';

  constructor(
    template: Template,
    headers: readonly string[],
    nullColumns: readonly string[],
    { table, tables }: Required<PlanSettings>,
  ) {
    const { columns, fields } = fileColumns(template, headers, nullColumns);
    this.#template = template;
    this.#table = table;
    this.#fields = fields;
    this.#headers = headers;
    this.#scope = new TemplateScope({
      columns,
      flagColumn: template.flagColumn,
      open: false,
      patterns: template.patterns,
      tables,
      problem: (_pointer, code, message) => this.#refuse(code, message),
    });
  }

  plan(): RunPlan {
    const first = snapshot(this.#scope);
    const steps: PlannedStep[] = [];
    let input = first;
    for (const operation of this.#template.operations) {
      const step = this.#step(operation, input);
      steps.push(step);
      input = step.output;
    }
    this.#label = 'output.columns';
    const schema = [...outputColumns(this.#scope, this.#template.output.columns)];
    const columns = layoutOf(input, schema);
    const flagColumn = this.#template.flagColumn !== null;
    const headers = this.#headersOf(first);
    const output = { schema, columns, kept: { csv: null } };
    return { schema: first, columns: this.#fields, headers, flagColumn, steps, output };
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
    const definition = this.#table.get(operation.name);
    if (definition === undefined) throw new Error('an operation of a checked Template is not in the table');
    this.#label = operationLabel(operation);
    this.#scope.begin({ label: this.#label, ifMissing: operation.ifMissing });
    const where = stepCondition(definition, operation, this.#scope);
    const plan = definition.effect(operation.parameters, this.#scope);
    const output = snapshot(this.#scope);
    const { memory } = definition;
    const memoryClass = typeof memory === 'function' ? memory(operation.parameters) : memory;
    const needsAllRows = memoryClass === 'B' || definition.handsOnAtEnd?.(operation.parameters) === true;
    const rowLocal = memoryClass === 'R';
    const layout = layoutOf(input, output);
    const edits = definition.edits?.(plan) ?? null;
    return { operation, definition, plan, where, input, output, layout, needsAllRows, edits, rowLocal };
  }

  /** The Template is sound, so this file's own columns are in its way. Their names may not be told. */
  #refuse(code: string, problem: string): never {
    if (CHECK_CODES.has(code)) throw new Failed('TEMPLATE_CHECK_FAILED', `${problem} (${this.#label})`);
    const reason = code === 'COLUMN_EXISTS' ? 'two would have the same name' : 'it cannot be applied to them';
    const message = `The columns of the file do not fit the Template at ${this.#label}: ${reason}.`;
    throw new Failed('TEMPLATE_COLUMNS_MISSING', message, []);
  }
}

function snapshot(scope: TemplateScope): Schema {
  return [...scope.columns];
}

function layoutOf(input: Schema, output: Schema): number[] {
  const indices = new Map(input.map(({ id }, index) => [id, index]));
  return output.map(({ id }) => indices.get(id) ?? -1);
}
