// The plan of a Run at once, for tests: the engine lets other Runs go on while it plans.
import { type PlanSettings, planInSlices, type RunPlan } from '../../../workers/plan/plan.ts';
import { done } from '../../../workers/run/time-slices.ts';
import type { Template } from '../../../workers/template/template.ts';

export function planRun(template: Template, headers: readonly string[], settings: PlanSettings = {}): RunPlan {
  return done(planInSlices(template, headers, settings));
}
