// Forward scan over a Template's operations, with the columns whose names are doubtful after a problem.

import type { Column, ColumnType } from '../batch/schema.ts';
import type { CheckedExpression } from '../expression/check/resolution.ts';
import { done } from '../scheduling/time-slices.ts';
import { columnName, columnSet } from './base-parameters.ts';
import { checkCondition, namesUsed } from './check-expression.ts';
import type { ColumnPatterns } from './column-pattern.ts';
import { effectOf, type OperationDefinition } from './operation.ts';
import type { ColumnSet, Scope } from './scope.ts';
import { isMapping, pointerSegments } from './source-node.ts';
import type { IfMissing, ReportProblem, TemplateOperation } from './template.ts';
import { TemplateScope } from './template-scope.ts';

// Tracks which column names are doubtful after an operation with a problem. Later problems about the type or absence
// of these columns are only consequences; reporting them would hide the cause.

/** A problem inside a step: pointer, code, message. */
type StepProblem = readonly [pointer: string, code: string, message: string];

/** Codes of problems that may be consequences of another problem. */
const FOLLOWING: ReadonlySet<string> = new Set(['EXPR_TYPE', 'WRONG_TYPE', 'UNKNOWN_COLUMN']);

/** Matches the first quoted name in a message. */
const QUOTED = /"(?:[^"\\]|\\.)*"/;

class DoubtfulNames {
  readonly #names = new Set<string>();

  /** Adds an operation that cannot be read. Every name in it may be a column that it makes. */
  addBroken(written: unknown): void {
    const parts = partsOf(written);
    const [only, ...others] = parts;
    // The parameters are either the values themselves or, in the form {name: {...parameters}}, one level deeper.
    const parameters = others.length === 0 && isMapping(only) ? partsOf(only) : parts;
    for (const name of parameters.flatMap(wholeNames)) this.#names.add(name);
  }

  /**
   * The problems of a step that are not consequences of earlier problems.
   * @param step the parameters, and `where`
   */
  causes(step: Readonly<Record<string, unknown>>, problems: readonly StepProblem[]): readonly StepProblem[] {
    if (problems.length === 0) return problems;
    // Thousands of columns may have problems at the same pointer.
    const named = new Map<string, boolean>();
    const own = problems.filter(([pointer, code]) => {
      if (!FOLLOWING.has(code)) return true;
      if (!named.has(pointer)) named.set(pointer, this.#isNamed(valueAt(step, pointer), pointer));
      return !named.get(pointer);
    });
    // An unknown name is wrong at every place where it occurs, so it does not become doubtful and is reported again
    // at other places.
    const unknown = new Set(
      own.filter(([, code]) => code === 'UNKNOWN_COLUMN').map(([, , message]) => QUOTED.exec(message)?.[0]),
    );
    for (const name of partsOf(step).flatMap(wholeNames)) {
      if (!unknown.has(JSON.stringify(name))) this.#names.add(name);
    }
    return own;
  }

  #isNamed(value: unknown, pointer: string): boolean {
    if (this.#names.size === 0) return false;
    // In a mapping of columns, each key is a column name. The first segment is the name of the parameter, not a
    // column.
    const texts = [...wholeNames(value), ...pointerSegments(pointer).slice(1)];
    return texts.some((text) => this.#names.has(text) || wordsOf(text).some((word) => this.#names.has(word)));
  }
}

/** Names that an expression may read: its words, and names in backticks or row["..."], without string literals. */
function wordsOf(expression: string): string[] {
  const named = expression.replace(/\brow\[("|')(.*?)\1\]/g, '`$2`').replace(/"[^"]*"|'[^']*'/g, ' ');
  return (named.match(/`[^`]*`|[\p{L}_][\p{L}\p{N}_]*/gu) ?? []).map((word) => word.replaceAll('`', ''));
}

function valueAt(step: Readonly<Record<string, unknown>>, pointer: string): unknown {
  let value: unknown = step;
  for (const segment of pointerSegments(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[segment];
  }
  return value;
}

const partsOf = (value: unknown): unknown[] => (isMapping(value) ? Object.values(value) : []);

/** Keys that identify mappings whose keys are not columns, such as those of a metric. */
const FORM_KEYS = ['fn', 'column', 'check'];

/**
 * The strings and keys of a value, and the names of the columns that metrics without `as` make. Templates are limited
 * in depth and size.
 */
function wholeNames(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(wholeNames);
  if (!isMapping(value)) return [];
  const { fn, column } = value;
  const made = typeof fn === 'string' && typeof column === 'string' ? [`${fn}_${column}`] : [];
  const keys = FORM_KEYS.some((key) => key in value) ? [] : Object.keys(value);
  return [...made, ...keys, ...partsOf(value).flatMap(wholeNames)];
}

// The common parameter `where` of an operation on cells: one condition per row, or, if the condition uses `value`,
// one per cell that the operation edits.

export interface StepCondition {
  /** Condition for rows; null if the conditions are for cells. */
  readonly rows: CheckedExpression | null;
  /** Conditions for cells, by the id of the edited column. */
  readonly cells: ReadonlyMap<number, CheckedExpression>;
}

/** The condition of a step, before its effect. Null if the step has no condition, or an invalid one. */
export function stepCondition(
  definition: OperationDefinition,
  { where, parameters }: Pick<TemplateOperation, 'where' | 'parameters'>,
  scope: Scope,
): StepCondition | null {
  if (where === null) return null;
  const columns = namesUsed(where).value ? editedColumns(definition, parameters, scope) : null;
  if (columns === null) {
    const rows = checkCondition(scope, where, '/where');
    return rows === null ? null : { rows, cells: new Map() };
  }
  const byType = new Map<ColumnType, CheckedExpression | null>();
  // During the check, a pattern may match no column yet. File columns are text.
  for (const type of columns.length === 0 ? (['text'] as const) : columns.map((column) => column.type)) {
    if (!byType.has(type)) byType.set(type, checkCondition(scope, where, '/where', type));
  }
  const cells = new Map<number, CheckedExpression>();
  for (const { id, type } of columns) {
    const condition = byType.get(type)!;
    if (condition !== null) cells.set(id, condition);
  }
  return { rows: null, cells };
}

/** Returns null if the operation names no columns that it edits, so that no cell is available to the condition. */
function editedColumns(
  definition: OperationDefinition,
  parameters: Readonly<Record<string, unknown>>,
  scope: Scope,
): readonly Column[] | null {
  const names = definition.editedColumns?.(parameters as never);
  if (names === null) return null;
  if (names !== undefined) return names.flatMap((name) => scope.read(name, '/where') ?? []);
  const schema = definition.parameters as { readonly properties?: Readonly<Record<string, unknown>> };
  for (const [name, form] of [['columns', columnSet] as const, ['column', columnName] as const]) {
    const given = parameters[name];
    if (schema.properties?.[name] === form && given !== undefined) {
      return scope.resolve(given as ColumnSet, `/${name}`);
    }
  }
  return null;
}

// Forward scan over a Template's operations. Finds the columns that the file must have, and the columns at every
// step.

/** Maximum number of scans. Each scan finds more names of file columns than the one before; usually two are enough. */
const SCANS_MAX = 8;

export interface ScanStep {
  readonly operation: TemplateOperation;
  readonly definition: OperationDefinition;
  /** JSON pointer of the parameters in the file. */
  readonly base: string;
}

/** An operation that is itself invalid. */
export interface BrokenStep {
  /** The text of the operation as written. */
  readonly broken: unknown;
}

export interface ScanInput {
  readonly steps: readonly (ScanStep | BrokenStep)[];
  /** Names already known to be looked up in the file, in order. */
  readonly fileColumns: readonly string[];
  readonly flagColumn: string | null;
  readonly outputColumns: ColumnSet | null;
  /** See TemplateOutput. */
  readonly splitBy: readonly string[];
  readonly patterns: ColumnPatterns;
  /** Names of the reference tables. */
  readonly tables: Scope['tables'];
  /** Types of their columns. */
  readonly tableTypes: Scope['tableTypes'];
  /** See Scope. */
  readonly variables: Scope['variables'];
}

export interface ScanNote {
  /** JSON pointer in the file. */
  readonly pointer: string;
  readonly message: string;
}

export interface TemplateScan {
  /**
   * Names that are read from the file, including those known before, with the strictest `if_missing` of their
   * readers.
   */
  readonly reads: ReadonlyMap<string, IfMissing>;
  /** Names that the file's columns must have after a rename by pattern or style. */
  readonly derivedReads: ReadonlyMap<string, IfMissing>;
  /** The columns before each step, and finally before the output. */
  readonly columns: readonly (readonly Column[])[];
  /** For each step, whether its result depends on the day of the Run. */
  readonly dependsOnDay: readonly boolean[];
  readonly output: readonly Column[];
  /** Hints about things that are allowed but may be unintended. */
  readonly notes: readonly ScanNote[];
  /** True if file columns that the Template does not mention are kept after the first operation. */
  readonly takesOthers: boolean;
  /** True if the last operation adds columns whose names come from its rows. */
  readonly endsUnknown: boolean;
}

/**
 * Scans repeatedly until no new name is found. A name that a later operation reads is a column of the file from the
 * start, so that the patterns, styles and types of earlier operations apply to it too.
 */
export function scanOperations(input: ScanInput, report: ReportProblem): TemplateScan {
  const names = [...input.fileColumns];
  const known = new Set(names);
  for (let left = SCANS_MAX; ; left--) {
    const problems: Parameters<ReportProblem>[] = [];
    const scan = scanOnce(input, names, (...problem) => problems.push(problem));
    const found = [...scan.reads.keys()].filter((name) => !known.has(name));
    if (found.length === 0 || left === 1) {
      for (const problem of problems) report(...problem);
      return scan;
    }
    for (const name of found) {
      names.push(name);
      known.add(name);
    }
  }
}

function scanOnce(input: ScanInput, names: readonly string[], report: ReportProblem): TemplateScan {
  let problems: StepProblem[] = [];
  let base = '';
  const notes: ScanNote[] = [];
  const doubtful = new DoubtfulNames();
  const scope = new TemplateScope({
    columns: names.map((name) => ({ name, absent: false })),
    flagColumn: input.flagColumn,
    open: true,
    patterns: input.patterns,
    tables: input.tables,
    tableTypes: input.tableTypes,
    note: (pointer, message) => notes.push({ pointer: base + pointer, message }),
    variables: input.variables,
    problem: (pointer, code, message) => problems.push([pointer, code, message]),
  });
  const columns: (readonly Column[])[] = [];
  const dependsOnDay: boolean[] = [];
  let takesOthers = true;
  for (const [index, step] of input.steps.entries()) {
    columns.push([...scope.columns]);
    if ('broken' in step) {
      dependsOnDay.push(false);
      doubtful.addBroken(step.broken);
      scope.forgive();
      continue;
    }
    problems = [];
    base = step.base;
    scope.begin({ label: operationLabel(step.operation), ifMissing: step.operation.ifMissing });
    const { where, parameters } = step.operation;
    stepCondition(step.definition, step.operation, scope);
    const before = where === null ? [] : [...scope.columns];
    const { endsUnknown } = scope;
    done(effectOf(step.definition, parameters, scope));
    if (scope.endsUnknown && !endsUnknown && index < input.steps.length - 1) scope.problem('', 'NOT_LAST', NOT_LAST);
    if (index === 0) takesOthers = !scope.closed || scope.ranged;
    dependsOnDay.push(scope.uses.delete('started_at'));
    refuseRetyped(scope, before);
    for (const [pointer, code, message] of doubtful.causes(
      where === null ? parameters : { ...parameters, where },
      problems,
    )) {
      report(step.base + pointer, code, message);
    }
  }
  columns.push([...scope.columns]);
  problems = [];
  splitColumns(scope, input.splitBy);
  for (const [pointer, code, message] of doubtful.causes({ columns: input.splitBy }, problems)) {
    report(`/output/split_by${pointer}`, code, message);
  }
  problems = [];
  const output = outputColumns(scope, input.outputColumns);
  for (const [pointer, code, message] of doubtful.causes({ columns: input.outputColumns }, problems)) {
    report(`/output/columns${pointer}`, code, message);
  }
  const { reads, derivedReads, endsUnknown } = scope;
  return { reads, derivedReads, columns, dependsOnDay, output, notes, takesOthers, endsUnknown };
}

/** Returns the columns whose cells choose the file of a row. */
export function splitColumns(scope: TemplateScope, names: readonly string[]): readonly Column[] {
  if (names.length === 0) return [];
  scope.begin({ label: 'output', ifMissing: 'fail' });
  if (scope.endsUnknown) scope.problem('', 'NOT_LAST', SPLITS_UNKNOWN);
  return names.flatMap((name, index) => scope.read(name, `/${index}`) ?? []);
}

const SPLITS_UNKNOWN =
  'The rows name the columns of the last operation, so the output cannot be split by them. List the names (transpose: "columns", pivot: "values").';

const NOT_LAST =
  'The rows name the columns of this operation, so no later operation can know them. Put it last, or list the names (transpose: "columns", pivot: "values").';

/**
 * Columns whose type an operation changes, as they were before. With `where`, such a column would contain cells of
 * two types.
 */
export function retypedColumns(
  before: readonly Column[],
  after: readonly Column[],
): readonly (Column & { readonly made: ColumnType })[] {
  const types = new Map(after.map(({ id, type }) => [id, type]));
  return before.flatMap((column) => {
    const made = types.get(column.id) ?? column.type;
    return made === column.type ? [] : [{ ...column, made }];
  });
}

function refuseRetyped(scope: TemplateScope, before: readonly Column[]): void {
  for (const { name, type, made } of retypedColumns(before, scope.columns)) {
    scope.problem(
      '/where',
      'WHERE_TYPE',
      `The column ${JSON.stringify(name)} becomes ${made}, but the rows that "where" leaves out still contain ${type}. ` +
        'Leave "where" out, or write the result to a new column.',
    );
  }
}

/** Label of an operation in messages: `operation 3 parse_number "read_amount" (line 8, /operations/2)`. */
export function operationLabel({ name, id, pointer, place }: TemplateOperation): string {
  const called = id === null ? name : `${name} "${id}"`;
  return place === null ? called : `operation ${place.number} ${called} (line ${place.line}, ${pointer})`;
}

/** The same label for the start of a sentence. */
export function operationHead(operation: TemplateOperation): string {
  const label = operationLabel(operation);
  return label.charAt(0).toUpperCase() + label.slice(1);
}

/** The output columns in order. A list means exactly these columns; all other forms add the flag column at the end. */
export function outputColumns(scope: TemplateScope, set: ColumnSet | null): readonly Column[] {
  if (set === null) return scope.columns;
  scope.begin({ label: 'output', ifMissing: 'fail' });
  const columns = scope.resolve(set, '');
  const isList = Array.isArray(set) || (typeof set === 'string' && set !== '*');
  const flag = scope.flagColumn;
  return isList || flag === null || columns.includes(flag) ? columns : [...columns, flag];
}
