// A rule of `validate` as a Template writes it, and what a check is. The checks themselves are in the files beside it, by
// family; checks.ts is their table.
import type { Column } from '../../batch/schema.ts';
import { type Static, Type } from '../../bundled/type-box.ts';
import type { GreedyPattern } from '../../expression/patterns/greedy-pattern.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { RowErrorCode } from '../../run/report.ts';
import type { Scope } from '../../template/scope.ts';
import type { StatePlan } from '../expressions/vector-plan.ts';
import { columnName, columnType } from '../parameters/column-set.ts';

/** Texts of `in` and the like: longer lists belong into a reference table. */
const VALUES_MAX = 10_000;

const constant = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);

/** The parameters of all checks: those of one check are named by `Check.takes`. */
export const ruleParameters = {
  value: Type.Optional(constant),
  values: Type.Optional(Type.Array(constant, { minItems: 1, maxItems: VALUES_MAX })),
  min: Type.Optional(constant),
  max: Type.Optional(constant),
  type: Type.Optional(columnType),
  pattern: Type.Optional(Type.String({ minLength: 1 })),
  expr: Type.Optional(Type.String({ minLength: 1 })),
  match: Type.Optional(Type.Enum(['exact', 'case_insensitive', 'normal', 'loose'])),
  table: Type.Optional(Type.String({ minLength: 1 })),
  key: Type.Optional(columnName),
  allow_equal: Type.Optional(Type.Boolean()),
  columns: Type.Optional(Type.Array(columnName, { minItems: 1, maxItems: 100 })),
};

/** One rule; the reference describes it as a whole (validate.ts). */
export function ruleSchema(checks: readonly string[]) {
  return Type.Object(
    {
      column: Type.Optional(columnName),
      check: Type.Enum([...checks]),
      ...ruleParameters,
      where: Type.Optional(Type.String({ minLength: 1 })),
      on_error: Type.Optional(Type.Enum(['fail', 'drop_row', 'reject', 'blank', 'keep', 'flag'])),
      message: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    },
    { additionalProperties: false },
  );
}

export type Rule = Static<ReturnType<typeof ruleSchema>>;
export type RuleParameter = keyof typeof ruleParameters;

/** What a rule says of a value that is there: its code, or null when it is fine. It may keep state from row to row. */
export type Judge = (value: unknown) => RowErrorCode | null;

/** The planned check of one rule. `judge` makes one for each Run. */
export interface PlannedCheck {
  readonly judge: (context: OperatorContext) => Judge;
  /** A pattern that a kernel can look for: texts in which it is found pass. */
  readonly passes?: GreedyPattern | null;
  /** A condition that kernels can compute: values for which it is true pass. */
  readonly condition?: StatePlan | null;
}

/** What a check has around it while a Template is checked. `problem` names a parameter of the rule. */
export interface RuleScope extends Pick<Scope, 'uses'> {
  problem(parameter: string, message: string): null;
}

/** One check on the values of one column. Null passes every one of them but `required`. */
export interface Check {
  /** What it demands and what it answers, for the reference. */
  readonly summary: string;
  /** Parameters that it knows. */
  readonly takes: readonly RuleParameter[];
  /** Groups of parameters, one of which at least must be given whole; empty: none is needed. */
  readonly needs: readonly (readonly RuleParameter[])[];
  /** Types of columns that it takes; null = all. */
  readonly types: readonly Column['type'][] | null;
  /** Null after a problem. */
  plan(rule: Rule, column: Column, around: RuleScope): PlannedCheck | null;
}

/** A check that only looks at the text of a cell. */
export function textCheck(summary: string, code: RowErrorCode, holds: (text: string) => boolean): Check {
  const judge: Judge = (value) => (holds(value as string) ? null : code);
  return { summary, takes: [], needs: [], types: ['text'], plan: () => ({ judge: () => judge }) };
}
