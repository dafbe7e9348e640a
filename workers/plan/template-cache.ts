// Checked Templates of one thread, with the data that their Runs share.

import { createRequire } from 'node:module';
import type { LRUMap } from 'mnemonist';
import { ExpectedHeaders } from '../input/expected-headers.ts';
import { RUN_RESERVATION_BYTES, SPILL_MEMORY_BYTES } from '../memory/budget.ts';
import { operationTable } from '../operations/index.ts';
import { ORDERED_STEPS_MAX } from '../protocol/part-turns.ts';
import type { Sliced } from '../scheduling/time-slices.ts';
import { TemplateChecker } from '../template/check.ts';
import type { TemplateLanguage } from '../template/language.ts';
import type { Template } from '../template/template.ts';
import type { TemplateText } from '../template/template-text.ts';
import { type PlanSettings, planInSlices, type RunPlan, templateLanguage } from './plan.ts';

// Checks Templates in the language of this version. The checker is shared by the process or thread; it compiles the
// parts of its schema that Templates need.

const checker = new TemplateChecker(templateLanguage);

/** See TemplateChecker.check. */
export const checkTemplate: TemplateChecker['check'] = (source, format, options) =>
  checker.check(source, format, options);

// A checked Template with data that its Runs on one thread share: the headers that it looks for, and the plans for
// recent headers. Many small files have the same headers, and making a plan costs as much as processing a few rows.

/**
 * Number of plans kept per Template. The oldest is replaced first; files often come alternately from a few sources.
 */
const PLANS_MAX = 4;

/** A larger plan (columns summed over its steps) is not kept. A plan of this size takes about 30 KiB. */
const PLAN_COLUMNS_MAX = 1024;

/** Plans for longer headers are not kept either, because the headers are the key. */
const HEADER_CHARACTERS_MAX = 4096;

/** Settings of a plan that differ between Runs. */
type RunPlanSettings = Omit<PlanSettings, 'language'>;

export class PreparedTemplate {
  readonly template: Template;
  /** Null if the Template looks for no header by name. */
  readonly expected: ExpectedHeaders | null;
  readonly #language: TemplateLanguage;
  readonly #plans = new Map<string, RunPlan>();
  /** The plan used most recently. */
  #last: { readonly headers: readonly string[]; readonly plan: RunPlan } | null = null;

  /** @param language the language in which the Template was checked */
  constructor(template: Template, language: TemplateLanguage = templateLanguage) {
    this.template = template;
    this.#language = language;
    this.expected = ExpectedHeaders.of(template);
  }

  /**
   * True if the Template allows several threads to process a file. split.ts decides again when the columns of the file are
   * known. docs/explanation/memory.md has a table of the operations and their conditions.
   */
  get mayShare(): boolean {
    const { operations } = this.template;
    let ordered = 0;
    let isFirst = true;
    for (const [index, { name, parameters }] of operations.entries()) {
      const definition = this.#language.operations.get(name);
      if (this.#treatsRowsAlone(name, parameters)) continue;
      const inOrder = definition?.inOrder?.(parameters) ?? null;
      const passes =
        definition?.worksInParts?.(parameters) === true || (inOrder !== null && ++ordered <= ORDERED_STEPS_MAX);
      // All steps before one that ends the rows treat each row alone: their counts are then exact (ExactEnd).
      if (passes && (inOrder !== 'end' || isFirst)) {
        isFirst = false;
        continue;
      }
      if (definition?.sortsParts === true) return index === operations.length - 1;
      if (definition?.merges?.(parameters) === true) return true;
      const rest = operations.slice(index + 1);
      const isOnly = isFirst && rest.every((each) => this.#treatsRowsAlone(each.name, each.parameters));
      return isOnly && !this.template.usesTables && definition?.hasKeys?.(parameters) === true;
    }
    return true;
  }

  #treatsRowsAlone(name: string, parameters: Template['operations'][number]['parameters']): boolean {
    const memory = this.#language.operations.get(name)?.memory;
    return (typeof memory === 'function' ? memory(parameters) : memory) === 'R';
  }

  /** The most recent plan, if it was made for the same headers. */
  lastPlan(headers: readonly string[], { tables, hasKinds, rowNames = null }: RunPlanSettings): RunPlan | null {
    const last = this.#last;
    if (last === null || rowNames !== null || hasKinds !== undefined || (tables?.size ?? 0) > 0) return null;
    return areSame(last.headers, headers) ? last.plan : null;
  }

  /** Like planInSlices, with a cache. Plans are immutable, so Runs share them. */
  *plan(headers: readonly string[], settings: RunPlanSettings): Sliced<RunPlan> {
    const last = this.lastPlan(headers, settings);
    if (last !== null) return last;
    const hasTables = (settings.tables?.size ?? 0) > 0;
    const { hasKinds, rowNames = null } = settings;
    const columns = headers.length * (this.template.operations.length + 1);
    // Not cached: by the next Run, a reference table may have changed, and rows may give columns other names.
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

// Checked Templates of one thread, by the SHA-256 of their text. A thread checks each Template once, not once per
// Run.

/**
 * Number of Templates kept; the least recently used is dropped first. A checked Template with its plans takes about
 * 30 KiB.
 */
const TEMPLATES_MAX = 256;

/**
 * Loads only the needed file of the library: loading all ninety files took 15 MB and 110 ms in each process and
 * thread.
 */
const LeastRecentlyUsed = createRequire(import.meta.url)('mnemonist/lru-map') as typeof LRUMap;

export class TemplateCache {
  readonly #templates = new LeastRecentlyUsed<string, PreparedTemplate>(TEMPLATES_MAX);

  /** @throws if the text has problems: the sender of a task must have checked it */
  get(text: TemplateText): PreparedTemplate {
    const known = this.#templates.get(text.sha256);
    if (known !== undefined) return known;
    const checked = checkTemplate(text.source, text.format, { schemaChecked: true });
    if (!('template' in checked)) throw new Error('the Template of a task has problems');
    const prepared = new PreparedTemplate(checked.template);
    this.#templates.set(text.sha256, prepared);
    return prepared;
  }
}

// Memory that a Run of a Template reserves from the budget before it is admitted.

/**
 * Operations with state process rows one after the other: even in a long list, rarely more than two spill at the same
 * time.
 */
const SPILLING_OPERATIONS_MAX = 2;

/**
 * Matches expressions and parameters that read a reference table, which moves to the disk if the budget refuses more
 * memory.
 */
const LOOKUP = /\blookup\s*\(|"table":/;

/**
 * Reservation in bytes: the base amount of every Run, plus the amount that each operation with growing state needs to
 * move that state to the disk.
 */
export function reservationBytes({ operations, tables }: Pick<Template, 'operations' | 'tables'>): number {
  const hasTables = Object.keys(tables).length > 0;
  const spilling = operations.filter(({ name, parameters, where }) => {
    const definition = operationTable.get(name);
    const memory = typeof definition?.memory === 'function' ? definition.memory(parameters) : definition?.memory;
    if (memory === 'K' || memory === 'B' || definition?.emitsAtEnd?.(parameters) === true) return true;
    return hasTables && LOOKUP.test(JSON.stringify([where, parameters]));
  });
  return RUN_RESERVATION_BYTES + Math.min(spilling.length, SPILLING_OPERATIONS_MAX) * SPILL_MEMORY_BYTES;
}
