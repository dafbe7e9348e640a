// Replaces each `use` by the operations of its fragment, with values in place of `${name}`. The size of the result is
// limited: a few lines of nested fragments could otherwise expand to more operations than fit into memory.

import { suggestion } from '../values/suggestion.ts';
import type { OperationEntry } from './operation-forms.ts';
import type { ReportProblem } from './template.ts';
import { orderedRecord } from './template-text.ts';

/**
 * Maximum number of operations of a Template after expansion, each `use` included: a Run has one operator for each.
 */
const OPERATIONS_MAX = 1_000;

/** Maximum number of values and of characters that all substitutions together may make. */
const SUBSTITUTED_NODES_MAX = 100_000;
const SUBSTITUTED_CHARACTERS_MAX = 1_048_576;

const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export type Fragments = ReadonlyMap<string, readonly OperationEntry[]>;

/** The operations in their order of execution. Every `use` is replaced; comments and disabled operations remain. */
export function expandFragments(
  entries: readonly OperationEntry[],
  fragments: Fragments,
  report: ReportProblem,
): { readonly operations: readonly OperationEntry[]; readonly used: ReadonlySet<string> } {
  const expansion = new Expansion(fragments, report);
  expansion.add(entries, null, []);
  return { operations: expansion.operations, used: expansion.used };
}

type Values = Readonly<Record<string, unknown>>;

class Expansion {
  readonly operations: OperationEntry[] = [];
  readonly used = new Set<string>();
  readonly #fragments: Fragments;
  readonly #report: ReportProblem;
  readonly #placeholders = new Map<string, ReadonlySet<string>>();
  #count = 0;
  #nodes = 0;
  #characters = 0;
  #stopped = false;

  constructor(fragments: Fragments, report: ReportProblem) {
    this.#fragments = fragments;
    this.#report = report;
  }

  /** @param values values of the fragment that contains the entries; null for the Template's own list */
  add(entries: readonly OperationEntry[], values: Values | null, path: readonly string[]): void {
    for (const entry of entries) {
      if (this.#stopped) return;
      if (++this.#count > OPERATIONS_MAX) {
        this.#stop(entry.pointer, `A Template has at most ${OPERATIONS_MAX} operations, including those of fragments.`);
        return;
      }
      const value =
        values === null ? entry.value : (this.#substitute(entry.value, values, entry) as OperationEntry['value']);
      if (entry.name === 'use') this.#use({ ...entry, value }, path);
      else this.operations.push({ ...entry, value });
    }
  }

  #use(entry: OperationEntry, path: readonly string[]): void {
    const { fragment, with: given, enabled } = entry.value;
    if (typeof fragment !== 'string' || enabled === false) return;
    const entries = this.#fragments.get(fragment);
    if (entries === undefined) {
      const hint = suggestion(fragment, this.#fragments.keys());
      this.#report(
        `${entry.base}/fragment`,
        'UNKNOWN_FRAGMENT',
        `There is no fragment ${JSON.stringify(fragment)}.${hint}`,
      );
      this.#leaveOut(entry);
      return;
    }
    this.used.add(fragment);
    if (path.includes(fragment)) {
      const circle = [...path.slice(path.indexOf(fragment)), fragment].join(' → ');
      this.#report(entry.pointer, 'FRAGMENT_CYCLE', `The fragment uses itself: ${circle}.`);
      this.#leaveOut(entry);
      return;
    }
    const values = (typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {}) as Values;
    if (this.#hasItsValues(entry, fragment, values)) this.add(entries, values, [...path, fragment]);
    else this.#leaveOut(entry);
  }

  /** Adds an invalid entry, because later operations may depend on the columns of the missing operations. */
  #leaveOut(entry: OperationEntry): void {
    this.operations.push({ ...entry, name: '', broken: true });
  }

  #hasItsValues(entry: OperationEntry, fragment: string, values: Values): boolean {
    const wanted = this.#wanted(fragment);
    const missing = [...wanted].filter((name) => !Object.hasOwn(values, name));
    if (missing.length > 0) {
      const needed = missing.map((name) => `${name}: ...`).join(', ');
      this.#report(entry.base, 'FRAGMENT_VALUE', `The fragment ${JSON.stringify(fragment)} needs with: {${needed}}.`);
    }
    for (const name of Object.keys(values)) {
      if (wanted.has(name)) continue;
      const message = `The fragment ${JSON.stringify(fragment)} has no \${${name}}.`;
      this.#report(`${entry.base}/with/${name}`, 'FRAGMENT_VALUE', message);
    }
    return missing.length === 0;
  }

  #wanted(fragment: string): ReadonlySet<string> {
    const known = this.#placeholders.get(fragment);
    if (known !== undefined) return known;
    const wanted = new Set<string>();
    for (const { value } of this.#fragments.get(fragment)!) collectPlaceholders(value, wanted);
    this.#placeholders.set(fragment, wanted);
    return wanted;
  }

  /**
   * Copies a value and replaces its placeholders. A text that consists of one placeholder becomes the value itself.
   */
  #substitute(value: unknown, values: Values, entry: OperationEntry): unknown {
    if (this.#stopped || ++this.#nodes > SUBSTITUTED_NODES_MAX) return this.#tooMuch(entry);
    if (typeof value === 'string') return this.#text(value, values, entry);
    if (Array.isArray(value)) return value.map((item) => this.#substitute(item, values, entry));
    if (typeof value !== 'object' || value === null) return value;
    const copied = Object.entries(value).map(([key, item]) => {
      return [String(this.#text(key, values, entry)), this.#substitute(item, values, entry)] as const;
    });
    return orderedRecord(copied);
  }

  #text(text: string, values: Values, entry: OperationEntry): unknown {
    const whole = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(text)?.[1];
    if (whole !== undefined && Object.hasOwn(values, whole)) return this.#substitute(values[whole], {}, entry);
    let made = '';
    let from = 0;
    for (const match of text.matchAll(PLACEHOLDER)) {
      const value = Object.hasOwn(values, match[1]!) ? values[match[1]!] : match[0];
      const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      made += text.slice(from, match.index) + (isText ? value : '');
      from = match.index + match[0].length;
      if (made.length > SUBSTITUTED_CHARACTERS_MAX) break;
    }
    this.#characters += made.length + text.length - from;
    return this.#characters > SUBSTITUTED_CHARACTERS_MAX ? this.#tooMuch(entry) : made + text.slice(from);
  }

  #tooMuch(entry: OperationEntry): null {
    this.#stop(entry.pointer, 'The values of fragments make the Template too large.');
    return null;
  }

  #stop(pointer: string, message: string): void {
    if (!this.#stopped) this.#report(pointer, 'TOO_LARGE', message);
    this.#stopped = true;
  }
}

/** Adds the names of all placeholders in a value. */
export function collectPlaceholders(value: unknown, names: Set<string>): void {
  if (typeof value === 'string') for (const match of value.matchAll(PLACEHOLDER)) names.add(match[1]!);
  else if (Array.isArray(value)) for (const item of value) collectPlaceholders(item, names);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      collectPlaceholders(key, names);
      collectPlaceholders(item, names);
    }
  }
}
