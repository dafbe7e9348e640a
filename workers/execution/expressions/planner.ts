// Plans whole expressions for the kernels: each kind of result by the rules of its own file.
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { planNumbers } from './plan-numbers.ts';
import { planStates } from './plan-states.ts';
import { planTexts } from './plan-texts.ts';
import type { Planner } from './vector-plan.ts';

export function plannerOf(expression: CheckedExpression): Planner {
  const planner: Planner = {
    expression,
    texts: (node) => planTexts(planner, node),
    numbers: (node) => planNumbers(planner, node),
    states: (node) => planStates(planner, node),
  };
  return planner;
}
