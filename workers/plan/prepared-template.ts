// A checked Template with what its Runs on one thread have in common: the headers it looks for, and the plans for the
// headers that came last. Many small files have the same headers, and a plan costs as much as the work on a few rows.
import { ExpectedHeaders } from '../input/expected-headers.ts';
import type { Sliced } from '../run/time-slices.ts';
import type { TemplateLanguage } from '../template/language.ts';
import type { Template } from '../template/template.ts';
import { type PlanSettings, planInSlices, type RunPlan } from './plan.ts';
import { templateLanguage } from './template-language.ts';

/** Plans kept per Template, the oldest goes first: files from a few sources take turns. */
const PLANS_MAX = 4;

/** A plan of more columns, summed over its steps, is made each time: up to here it is some 30 KiB. */
const PLAN_COLUMNS_MAX = 1024;

/** Headers of more characters are not kept either: they are what a plan is found by. */
const HEADER_CHARACTERS_MAX = 4096;

/** What of a plan's settings is a Run's own. */
type RunPlanSettings = Omit<PlanSettings, 'language'>;

export class PreparedTemplate {
  readonly template: Template;
  /** Null when the Template looks for no header by name. */
  readonly expected: ExpectedHeaders | null;
  readonly #language: TemplateLanguage;
  readonly #plans = new Map<string, RunPlan>();
  /** The plan that came last out of them. */
  #last: { readonly headers: readonly string[]; readonly plan: RunPlan } | null = null;

  /** @param language the one that the Template was checked in */
  constructor(template: Template, language: TemplateLanguage = templateLanguage) {
    this.template = template;
    this.#language = language;
    this.expected = ExpectedHeaders.of(template);
  }

  /** The plan that came last, where it is that of these headers. */
  lastPlan(headers: readonly string[], { tables, hasKinds, rowNames = null }: RunPlanSettings): RunPlan | null {
    const last = this.#last;
    if (last === null || rowNames !== null || hasKinds !== undefined || (tables?.size ?? 0) > 0) return null;
    return areSame(last.headers, headers) ? last.plan : null;
  }

  /** As planInSlices. A plan never changes, so that Runs share it. */
  *plan(headers: readonly string[], settings: RunPlanSettings): Sliced<RunPlan> {
    const last = this.lastPlan(headers, settings);
    if (last !== null) return last;
    const hasTables = (settings.tables?.size ?? 0) > 0;
    const { hasKinds, rowNames = null } = settings;
    const columns = headers.length * (this.template.operations.length + 1);
    // A reference table may be another one by the next Run, and its rows may have other names.
    const key =
      columns > PLAN_COLUMNS_MAX || hasTables || rowNames !== null
        ? null
        : JSON.stringify(hasKinds === undefined ? headers : [headers, hasKinds]);
    if (key === null || key.length > HEADER_CHARACTERS_MAX) return yield* this.#make(headers, settings);
    const known = this.#plans.get(key);
    const plan = known ?? (yield* this.#make(headers, settings));
    if (hasKinds === undefined) this.#last = { headers, plan };
    if (known !== undefined) return plan;
    if (this.#plans.size === PLANS_MAX) this.#plans.delete(this.#plans.keys().next().value!);
    this.#plans.set(key, plan);
    return plan;
  }

  #make(headers: readonly string[], settings: RunPlanSettings): Sliced<RunPlan> {
    return planInSlices(this.template, headers, { ...settings, language: this.#language });
  }
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false;
  for (let index = 0; index < some.length; index++) if (some[index] !== others[index]) return false;
  return true;
}
