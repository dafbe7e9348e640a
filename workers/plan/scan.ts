// The forward scan over a Template's operations: which columns the file must have, and the columns at every step.
import type { Column, ColumnType } from '../batch/schema.ts';
import type { OperationDefinition } from '../operations/operation.ts';
import type { ColumnPatterns } from '../template/column-pattern.ts';
import type { ColumnSet, Scope } from '../template/scope.ts';
import type { IfMissing, ReportProblem, TemplateOperation } from '../template/template.ts';
import { DoubtfulNames, type StepProblem } from './doubtful-names.ts';
import { stepCondition } from './step-condition.ts';
import { TemplateScope } from './template-scope.ts';

/** Scans at most: each one knows more names of the file than the one before, mostly two are enough. */
const SCANS_MAX = 8;

export interface ScanStep {
  readonly operation: TemplateOperation;
  readonly definition: OperationDefinition;
  /** JSON pointer of the parameters in the file. */
  readonly base: string;
}

/** An operation that is broken itself. */
export interface BrokenStep {
  /** What stands in its place. */
  readonly broken: unknown;
}

export interface ScanInput {
  readonly steps: readonly (ScanStep | BrokenStep)[];
  /** Names that are known to be looked for in the file, in their order. */
  readonly fileColumns: readonly string[];
  readonly flagColumn: string | null;
  readonly outputColumns: ColumnSet | null;
  readonly patterns: ColumnPatterns;
  /** Names of the reference tables. */
  readonly tables: Scope['tables'];
  /** See Scope. */
  readonly variables: Scope['variables'];
}

export interface ScanNote {
  /** JSON pointer in the file. */
  readonly pointer: string;
  readonly message: string;
}

export interface TemplateScan {
  /** Names read of the file with the strictest `if_missing` of their readers, those known before included. */
  readonly reads: ReadonlyMap<string, IfMissing>;
  /** Names that the file's columns must bear after a rename by pattern or style. */
  readonly derivedReads: ReadonlyMap<string, IfMissing>;
  /** The columns before each step and, last, before the output. */
  readonly columns: readonly (readonly Column[])[];
  /** Of each step whether its result depends on the day of the Run. */
  readonly dependsOnDay: readonly boolean[];
  readonly output: readonly Column[];
  /** What is no mistake but may not be meant: the operation and a sentence. */
  readonly notes: readonly ScanNote[];
  /** Whether columns that nobody names come further than the first operation. */
  readonly takesOthers: boolean;
  /** Whether the last operation adds columns that only its rows name. */
  readonly endsUnknown: boolean;
}

/**
 * Scans until no name is new: a name that an operation reads late is a column of the file from the start, so that the
 * patterns, styles and types of earlier operations hold for it too.
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
    step.definition.effect(parameters, scope);
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
  const output = outputColumns(scope, input.outputColumns);
  for (const [pointer, code, message] of doubtful.causes({ columns: input.outputColumns }, problems)) {
    report(`/output/columns${pointer}`, code, message);
  }
  const { reads, derivedReads, endsUnknown } = scope;
  return { reads, derivedReads, columns, dependsOnDay, output, notes, takesOthers, endsUnknown };
}

const NOT_LAST =
  'Rows name its columns, so that no operation behind it can know them. Put it last, or list the names in "columns".';

/** Columns that an operation gives another type, as they were before: with `where`, their cells would be of two types. */
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
      `The column ${JSON.stringify(name)} becomes ${made}, but the rows that "where" leaves out still hold ${type}. ` +
        'Leave "where" out, or write the result to a new column.',
    );
  }
}

/** How messages call an operation: `operation 3 parse_number "read_amount" (line 8, /operations/2)`. */
export function operationLabel({ name, id, pointer, place }: TemplateOperation): string {
  const called = id === null ? name : `${name} "${id}"`;
  return place === null ? called : `operation ${place.number} ${called} (line ${place.line}, ${pointer})`;
}

/** The same where a sentence begins with it. */
export function operationHead(operation: TemplateOperation): string {
  const label = operationLabel(operation);
  return label.charAt(0).toUpperCase() + label.slice(1);
}

/** The columns of the output in their order. A list means exactly these; all other forms leave the flag column last. */
export function outputColumns(scope: TemplateScope, set: ColumnSet | null): readonly Column[] {
  if (set === null) return scope.columns;
  scope.begin({ label: 'output', ifMissing: 'fail' });
  const columns = scope.resolve(set, '');
  const isList = Array.isArray(set) || (typeof set === 'string' && set !== '*');
  const flag = scope.flagColumn;
  return isList || flag === null || columns.includes(flag) ? columns : [...columns, flag];
}
