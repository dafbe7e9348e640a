// The forward scan over a Template's operations: which columns the file must have, and the columns at every step.
import type { OperationDefinition } from '../operations/operation.ts';
import type { Column } from '../schema.ts';
import type { ColumnPatterns } from './column-pattern.ts';
import { DoubtfulNames, type StepProblem } from './doubtful-names.ts';
import type { Report } from './operation-forms.ts';
import type { ColumnSet, Scope } from './scope.ts';
import { stepCondition } from './step-condition.ts';
import type { IfMissing, TemplateOperation } from './template.ts';
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
}

export interface Scan {
  /** Names read of the file with the strictest `if_missing` of their readers, those known before included. */
  readonly reads: ReadonlyMap<string, IfMissing>;
  /** Names that the file's columns must bear after a rename by pattern or style. */
  readonly derivedReads: ReadonlyMap<string, IfMissing>;
  /** The columns before each step and, last, before the output. */
  readonly columns: readonly (readonly Column[])[];
  readonly output: readonly Column[];
}

/**
 * Scans until no name is new: a name that an operation reads late is a column of the file from the start, so that the
 * patterns, styles and types of earlier operations hold for it too.
 */
export function scanOperations(input: ScanInput, report: Report): Scan {
  const names = [...input.fileColumns];
  const known = new Set(names);
  for (let left = SCANS_MAX; ; left--) {
    const problems: Parameters<Report>[] = [];
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

function scanOnce(input: ScanInput, names: readonly string[], report: Report): Scan {
  let problems: StepProblem[] = [];
  const doubtful = new DoubtfulNames();
  const scope = new TemplateScope({
    columns: names.map((name) => ({ name, absent: false })),
    flagColumn: input.flagColumn,
    open: true,
    patterns: input.patterns,
    tables: input.tables,
    problem: (...problem) => problems.push(problem),
  });
  const columns: (readonly Column[])[] = [];
  for (const step of input.steps) {
    columns.push([...scope.columns]);
    if ('broken' in step) {
      doubtful.addBroken(step.broken);
      scope.forgive();
      continue;
    }
    problems = [];
    scope.begin({ label: operationLabel(step.operation), ifMissing: step.operation.ifMissing });
    const { where, parameters } = step.operation;
    stepCondition(step.definition, step.operation, scope);
    const before = where === null ? [] : [...scope.columns];
    step.definition.effect(parameters, scope);
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
  return { reads: scope.reads, derivedReads: scope.derivedReads, columns, output };
}

/** With `where`, cells of one column would be of two types. */
function refuseRetyped(scope: TemplateScope, before: readonly Column[]): void {
  const types = new Map(scope.columns.map(({ id, type }) => [id, type]));
  for (const { id, name, type } of before) {
    const made = types.get(id) ?? type;
    if (made === type) continue;
    scope.problem(
      '/where',
      'WHERE_TYPE',
      `The column ${JSON.stringify(name)} becomes ${made}, but the rows that "where" leaves out still hold ${type}. ` +
        'Leave "where" out, or write the result to a new column.',
    );
  }
}

/** How messages call an operation. */
export function operationLabel({ name, id, pointer }: TemplateOperation): string {
  return id === null ? `${name} (${pointer})` : `${name} "${id}" (${pointer})`;
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
