// Plans the rules of a Template: the column that each rule reads, and the check that judges it.
import type { Column, ColumnType } from '../../batch/schema.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { checkCondition } from '../../template/check-expression.ts';
import type { RowErrorRule } from '../../template/operation.ts';
import type { Scope } from '../../template/scope.ts';
import { checkTableColumn, checkTableKey, tableColumns, tableColumnType } from '../join/table-lookup.ts';
import type { MatchLevel } from '../keys/row-keys.ts';
import { checks, type PlannedCheck, type Rule, type RuleParameter, ruleParameters } from './checks.ts';

/** Maximum number of rules that store keys. Each may need buffers of 3 MiB when it spills. */
const KEYED_RULES_MAX = 8;

/** The test by which a row is judged. */
export type RuleTest =
  | { readonly kind: 'required' }
  | { readonly kind: 'value'; readonly check: PlannedCheck }
  | { readonly kind: 'expression'; readonly expression: CheckedExpression }
  | { readonly kind: 'unique'; readonly columns: readonly Column[]; readonly match: MatchLevel }
  | {
      readonly kind: 'exists';
      readonly table: string;
      readonly key: string;
      readonly declared: ColumnType;
      readonly match: MatchLevel;
    };

/**
 * True for a rule that needs more than the row itself. A separate stage evaluates it and adds the result as a column of
 * marks.
 */
export function isStaged({ test }: PlannedRule): boolean {
  return test.kind === 'unique' || test.kind === 'exists';
}

export interface PlannedRule {
  /** The column whose cell is judged and cleared, or null for rules on whole rows, which have no cell to clear. */
  readonly column: Column | null;
  readonly test: RuleTest;
  readonly where: CheckedExpression | null;
  readonly outcome: RowErrorRule;
}

interface SpecialCheck {
  readonly summary: string;
  readonly takes: readonly RuleParameter[];
  readonly needs: readonly (readonly RuleParameter[])[];
  readonly column: 'needed' | 'allowed' | 'refused';
}

export const specialChecks: ReadonlyMap<string, SpecialCheck> = new Map(
  Object.entries({
    required: { summary: 'the cell is not empty: REQUIRED_EMPTY', takes: [], needs: [], column: 'needed' },
    expr: {
      summary:
        'the condition `expr` is not false (null is allowed); `value` is the cell, and without `column` the rule checks the whole row: OUT_OF_RANGE, or the code of the error in the expression',
      takes: ['expr'],
      needs: [['expr']],
      column: 'allowed',
    },
    unique: {
      summary: 'no row before has the same value, compared according to `match`: NOT_UNIQUE',
      takes: ['match'],
      needs: [],
      column: 'needed',
    },
    unique_together: {
      summary: 'no row before has the same values in `columns`; rows with null are allowed: NOT_UNIQUE',
      takes: ['columns', 'match'],
      needs: [['columns']],
      column: 'refused',
    },
    exists_in: {
      summary:
        'the column `key` of the reference table `table` contains it, compared according to `match`: LOOKUP_MISS',
      takes: ['table', 'key', 'match'],
      needs: [['table', 'key']],
      column: 'needed',
    },
  } satisfies Record<string, SpecialCheck>),
);

/** Leaves out rules with an error, and rules without their column (`if_missing: skip`). */
export function planRules(rules: readonly Rule[], scope: Scope): PlannedRule[] {
  const planned = rules.flatMap((rule, index) => planRule(rule, scope, `/rules/${index}`) ?? []);
  if (planned.filter(isStaged).length > KEYED_RULES_MAX) {
    const message = `At most ${KEYED_RULES_MAX} rules may be unique, unique_together or exists_in. Write another validate.`;
    scope.problem('/rules', 'TOO_MANY_RULES', message);
  }
  return planned;
}

function planRule(rule: Rule, scope: Scope, pointer: string): PlannedRule | null {
  const special = specialChecks.get(rule.check);
  const check = checks.get(rule.check);
  const form = special ?? { ...check!, column: 'needed' as const };
  if (!hasForm(rule, form, scope, pointer)) return null;
  const where = rule.where === undefined ? null : checkCondition(scope, rule.where, `${pointer}/where`);
  const column = rule.column === undefined ? null : scope.read(rule.column, `${pointer}/column`);
  if (column === null && rule.column !== undefined) return null;
  const test =
    special !== undefined ? specialTest(rule, column, scope, pointer) : valueTest(rule, column!, scope, pointer);
  if (test === null || (where === null && rule.where !== undefined)) return null;
  const outcome = { onError: rule.on_error ?? null, message: rule.message ?? null } as RowErrorRule;
  return { column, test, where, outcome };
}

function hasForm(rule: Rule, form: Omit<SpecialCheck, 'summary'>, scope: Scope, pointer: string): boolean {
  const { check } = rule;
  const wrong = (Object.keys(ruleParameters) as RuleParameter[]).find(
    (name) => rule[name] !== undefined && !form.takes.includes(name),
  );
  const known = form.takes.length === 0 ? 'It takes none.' : `It takes ${form.takes.join(', ')}.`;
  if (wrong !== undefined) {
    scope.problem(
      `${pointer}/${wrong}`,
      'UNKNOWN_PARAMETER',
      `The check "${check}" has no parameter "${wrong}". ${known}`,
    );
    return false;
  }
  if (form.needs.length > 0 && !form.needs.some((group) => group.every((name) => rule[name] !== undefined))) {
    const wanted = form.needs.map((group) => group.join(' and ')).join(', or ');
    scope.problem(pointer, 'MISSING_PARAMETER', `The check "${check}" needs ${wanted}.`);
    return false;
  }
  if (form.column === 'needed' && rule.column === undefined) {
    scope.problem(
      pointer,
      'MISSING_PARAMETER',
      `The check "${check}" needs a column. Write {column: ..., check: ${check}}.`,
    );
    return false;
  }
  if (form.column === 'refused' && rule.column !== undefined) {
    scope.problem(`${pointer}/column`, 'UNKNOWN_PARAMETER', `The check "${check}" takes columns: [...], not column.`);
    return false;
  }
  return true;
}

function valueTest(rule: Rule, column: Column, scope: Scope, pointer: string): RuleTest | null {
  const check = checks.get(rule.check)!;
  if (check.types !== null && !check.types.includes(column.type)) {
    const message = `The column ${JSON.stringify(column.name)} is ${column.type} at this step; the check "${rule.check}" takes ${check.types.join(' or ')}.`;
    scope.problem(`${pointer}/column`, 'WRONG_TYPE', message);
    return null;
  }
  const planned = check.plan(rule, column, {
    uses: scope.uses,
    problem(parameter, message) {
      const given = rule[parameter as RuleParameter] === undefined ? 'value' : parameter;
      scope.problem(`${pointer}/${given}`, parameter === 'pattern' ? 'BAD_PATTERN' : 'BAD_VALUE', message);
      return null;
    },
  });
  return planned === null ? null : { kind: 'value', check: planned };
}

function specialTest(rule: Rule, column: Column | null, scope: Scope, pointer: string): RuleTest | null {
  if (rule.check === 'required') return { kind: 'required' };
  if (rule.check === 'expr') {
    const expression = checkCondition(scope, rule.expr!, `${pointer}/expr`, column?.type);
    return expression === null ? null : { kind: 'expression', expression };
  }
  if (rule.check === 'exists_in') return existsTest(rule, column!, scope, pointer);
  const columns = column === null ? scope.resolve(rule.columns!, `${pointer}/columns`) : [column];
  if (columns.length === 0) return null;
  return { kind: 'unique', columns, match: rule.match ?? 'exact' };
}

function existsTest(rule: Rule, column: Column, scope: Scope, pointer: string): RuleTest {
  const [table, key] = [rule.table!, rule.key!];
  const known = tableColumns(table, scope, `${pointer}/table`);
  checkTableColumn(key, table, known, `${pointer}/key`, scope);
  checkTableKey(column, key, table, `${pointer}/key`, scope);
  return { kind: 'exists', table, key, declared: tableColumnType(key, table, scope), match: rule.match ?? 'exact' };
}
