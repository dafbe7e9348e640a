// Runs every case of the public conformance data of CEL that needs no protobuf through checker and compiler.
import { isDeepStrictEqual } from 'node:util';
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import t from 'tap';
import { checkExpression } from '../../../workers/expression/check/checker.ts';
import { DYN, type Type, typeText } from '../../../workers/expression/check/type.ts';
import { compileExpression } from '../../../workers/expression/compile/compiler.ts';
import type { ExpressionEnvironment } from '../../../workers/expression/compile/environment.ts';
import {
  EvaluationError,
  type Integer,
  isEqual,
  type Value,
  widenInteger,
} from '../../../workers/expression/compile/value.ts';
import { typeName } from '../../../workers/expression/functions/conversion.ts';
import { type ConformanceCase, casesOf, type Json, RULES, typeOfJson, valueOfJson } from './conformance-case.ts';

/** Minimum number of cases that run: data of @bufbuild/cel-spec 0.6.1. */
const CASES_RUN_MIN = 1638;

type Outcome = { value: Value; type: Type } | { error: string } | { problems: string[] };

function outcomeOf(test: ConformanceCase): Outcome {
  const { original } = test;
  const variables = new Map<string, Type>();
  const bindings = new Map<string, Value>();
  for (const [name, binding] of Object.entries(original.bindings ?? {})) {
    bindings.set(name, valueOfJson(binding.value!));
    variables.set(name, DYN);
  }
  for (const { name, ident } of original.typeEnv ?? []) variables.set(name, typeOfJson(ident!.type));
  // Names within the container are found without its prefix, before names outside the container.
  const prefix = `${original.container ?? ''}.`;
  for (const [name, type] of [...variables]) {
    if (!name.startsWith(prefix) || prefix === '.') continue;
    variables.set(name.slice(prefix.length), type);
    bindings.set(name.slice(prefix.length), bindings.get(name) ?? null);
  }
  const environment: ExpressionEnvironment = {
    columns: new Map(),
    variables,
    mode: original.disableCheck === true ? 'dynamic' : 'strict',
  };
  const checked = checkExpression(original.expr, environment);
  if ('problems' in checked) return { problems: checked.problems.map(({ message }) => message) };
  const { type } = checked.expression;
  if (original.checkOnly === true) return { value: null, type };
  try {
    const evaluate = compileExpression<null>(checked.expression, {
      column: () => () => null,
      variable: (name) => () => bindings.get(name) ?? null,
    });
    const result = evaluate(null);
    return { value: type.kind === 'int' ? widenInteger(result as Integer) : (result as Value), type };
  } catch (error) {
    if (error instanceof EvaluationError) return { error: error.message };
    throw error;
  }
}

/** Null if the case passes, otherwise the actual result. */
function difference(test: ConformanceCase): string | null {
  const outcome = outcomeOf(test);
  const { original } = test;
  if (original.evalError !== undefined)
    return 'value' in outcome ? `a value instead of an error: ${show(outcome.value)}` : null;
  if (!('value' in outcome)) return JSON.stringify(outcome);
  const deduced = original.typedResult?.deducedType;
  if (deduced !== undefined && !isDeepStrictEqual(typeText(outcome.type), typeText(typeOfJson(deduced)))) {
    return `type ${typeText(outcome.type)} instead of ${typeText(typeOfJson(deduced))}`;
  }
  if (original.checkOnly === true) return null;
  const expected = original.value ?? original.typedResult?.result ?? ({ boolValue: true } as Json);
  const wanted = valueOfJson(expected);
  return isSame(outcome.value, wanted) ? null : `${show(outcome.value)} instead of ${show(wanted)}`;
}

/** Equal and of the same type, NaN included. */
function isSame(value: Value, wanted: Value): boolean {
  if (typeName(value) !== typeName(wanted)) return false;
  if (Array.isArray(wanted) && Array.isArray(value)) {
    return value.length === wanted.length && wanted.every((element, index) => isSame(value[index]!, element));
  }
  return (Number.isNaN(value) && Number.isNaN(wanted)) || isEqual(value, wanted, () => {});
}

function show(value: Value): string {
  return `${typeName(value)} ${JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner))}`;
}

t.test('the conformance cases of CEL', async (t) => {
  const run = new Map<string, number>();
  const left = new Map<string, number>();
  const failed: string[] = [];
  for (const test of casesOf(tests)) {
    const rule = RULES.find(({ holds }) => holds(test));
    const [group] = test.suite.split('/') as [string];
    if (rule !== undefined) {
      left.set(rule.reason, (left.get(rule.reason) ?? 0) + 1);
      continue;
    }
    run.set(group, (run.get(group) ?? 0) + 1);
    const wrong = difference(test);
    if (wrong !== null) failed.push(`${test.suite}/${test.name}: ${test.original.expr} gives ${wrong}`);
  }
  const total = [...run.values()].reduce((sum, count) => sum + count, 0);
  t.comment(`${total} cases run: ${Array.from(run, ([group, count]) => `${group} ${count}`).join(', ')}`);
  for (const [reason, count] of left) t.comment(`${count} cases left out: ${reason}`);
  t.equal(failed.length, 0, 'every case passes', { failed: failed.slice(0, 100) });
  t.ok(total >= CASES_RUN_MIN, `at least ${CASES_RUN_MIN} cases are run`);
});
