// Plans a Run without pauses, for tests. The engine lets other Runs continue while it plans.
import { type PlanSettings, planInSlices, type RunPlan } from '../../../workers/plan/plan.ts';
import { done } from '../../../workers/scheduling/time-slices.ts';
import type { Template } from '../../../workers/template/template.ts';

export function planRun(template: Template, headers: readonly string[], settings: PlanSettings = {}): RunPlan {
  return done(planInSlices(template, headers, settings));
}
