// Suggestions for steps: the comments that a draft has left in the text, and those that the server makes for the columns
// after the chosen step.
import { effect, type Signal, signal } from '@preact/signals';
import type { Suggestion } from '../studio-answers.ts';
import { ask } from './ask.ts';
import { flowText, isSame, withOperation } from './operation-edits.ts';
import { itemAt, operationList } from './operation-list.ts';
import type { Studio } from './studio.ts';

/** A suggestion in the list. */
export interface ListedSuggestion {
  /** The step as it would be written. */
  readonly written: string;
  /** '' if none is written. */
  readonly evidence: string;
  /** Offsets of its line in the text; null: it is not in the text. */
  readonly line: { readonly from: number; readonly to: number } | null;
  readonly made: Suggestion | null;
}

/** Rest between the arrival of rows and the request for suggestions, in milliseconds. */
const PAUSE_MILLISECONDS = 500;

/** A comment with a step, as drafts write it: `# - {parse_date: {...}}  # evidence`. */
const COMMENT = /^([ \t]*)# - (\{\w+: .*\})(?: {2}# (.*))?$/gm;

/** Suggestions that the text contains as comments. */
export function commentSuggestions(text: string): readonly ListedSuggestion[] {
  const head = text.search(/^(?:# )?operations:/m);
  if (head < 0) return [];
  return [...text.matchAll(COMMENT)]
    .filter(({ index }) => index > head)
    .map(({ 0: line, 2: written, 3: evidence, index }) => ({
      written: written!,
      evidence: evidence ?? '',
      line: { from: index, to: index + line.length },
      made: null,
    }));
}

/** Makes the comment a step, at its place. */
export function withComment(text: string, { from, to }: { readonly from: number; readonly to: number }): string {
  const line = text.slice(from, to).replace('# - ', '- ');
  // A draft without active steps has only a comment where the list begins.
  const head = text.slice(0, from).replace(/^# operations:$/m, 'operations:');
  return head + line + text.slice(to);
}

export class Suggestions {
  readonly made: Signal<readonly Suggestion[]> = signal([]);
  readonly #dismissed = signal<ReadonlySet<string>>(new Set());
  readonly #studio: Studio;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(studio: Studio) {
    this.#studio = studio;
    effect(() => {
      studio.version.value;
      const isPaused = studio.isBusy.value || studio.preview.value !== null || studio.isOld.value;
      const step = studio.step.value;
      clearTimeout(this.#timer);
      if (!isPaused) this.#timer = setTimeout(() => void this.#ask(step), PAUSE_MILLISECONDS);
    });
  }

  /** Suggestions of the text first, in its order. Omits steps that the Template already has. */
  get listed(): readonly ListedSuggestion[] {
    const text = this.#studio.text.value;
    const comments = commentSuggestions(text);
    const { items } = operationList(text);
    const steps = [
      ...comments.map(({ written }) => written),
      ...items.map(({ node }) => text.slice(node.from, node.to)),
    ];
    const covered = new Set(steps.flatMap(coveredBy));
    const made = this.made.value.flatMap((each): readonly ListedSuggestion[] => {
      const left = isMapped(each, steps) ? null : withoutCovered(each, covered);
      if (left === null) return [];
      const written = flowText({ [left.operation]: left.parameters }, 'yaml');
      return this.#dismissed.value.has(written) ? [] : [{ written, evidence: left.evidence, line: null, made: left }];
    });
    return [...comments, ...made];
  }

  /** Writes the step into the text and selects it. Undo removes it again. */
  apply({ line, made, written: suggested }: ListedSuggestion): void {
    const studio = this.#studio;
    const text = studio.text.value;
    const label = `Apply ${suggested}`;
    if (line !== null) {
      studio.write(withComment(text, line), label);
      const list = operationList(studio.text.value);
      const item = itemAt(list, line.from + text.slice(line.from).search(/\S/) + '- '.length);
      studio.expectStep(list.items.slice(0, item + 1).filter(({ isOff }) => !isOff).length);
      return;
    }
    const { item, step } = studio.placeOfNewStep();
    const written = withOperation(text, studio.file.format, item, made!.operation, made!.parameters);
    if (written === null) {
      studio.message.value = 'The list of operations is written in a form that can be edited only in the text.';
      return;
    }
    studio.write(written, label);
    studio.expectStep(step);
  }

  /** Shows the groups of similar values, for decisions about each of them. */
  review({ parameters, similarity }: Suggestion): void {
    const column = this.#studio.chosen.value?.columns.findIndex(({ name }) => name === parameters['columns']) ?? -1;
    if (column >= 0) this.#studio.showProfile(column, similarity);
  }

  /** Removes the comment from the text, or does not show the suggestion again on this page. */
  dismiss({ written, line }: ListedSuggestion): void {
    const { text } = this.#studio;
    if (line === null) this.#dismissed.value = new Set([...this.#dismissed.value, written]);
    else this.#studio.write(text.value.slice(0, line.from) + text.value.slice(line.to + 1), `Dismiss ${written}`);
  }

  async #ask(step: number): Promise<void> {
    const asked = ++this.#asked;
    try {
      const made = await ask<readonly Suggestion[]>('POST /api/suggestions', { step });
      if (asked === this.#asked && !isSame(made, this.made.peek())) this.made.value = made;
    } catch {
      // The page works without suggestions; other requests report why the server does not answer.
    }
  }
}

/** The operation with each of its columns, or alone if it names no columns. */
function coveredBy(step: string): readonly string[] {
  const operation = /^\s*\{?\s*"?(?:op"?: *"?)?(\w+)/.exec(step)?.[1] ?? '';
  const written = /\bcolumns"?: *(?:\[([^\]]*)\]|([^,}\n]*))/.exec(step);
  if (written === null) return [operation];
  const names = (written[1] ?? written[2]!).split(',').map((name) => name.trim().replace(/^(["'])(.*)\1$/, '$2'));
  return names.map((name) => `${operation} ${name}`);
}

/** True if a step `map_values` already maps all values that the suggestion maps. */
function isMapped({ operation, parameters }: Suggestion, steps: readonly string[]): boolean {
  if (operation !== 'map_values') return false;
  const { map } = parameters as { readonly map: Readonly<Record<string, string>> };
  const mapping = steps.filter((step) => step.includes(operation));
  return Object.keys(map).every((value) => mapping.some((step) => step.includes(value)));
}

/** The suggestion for the columns to which the Template does not apply the operation yet; null: none is left. */
function withoutCovered(suggestion: Suggestion, covered: ReadonlySet<string>): Suggestion | null {
  const { operation, parameters } = suggestion;
  const { columns } = parameters;
  // A column may have several steps that map other values.
  if (operation === 'map_values') return suggestion;
  const names = typeof columns === 'string' ? [columns] : Array.isArray(columns) ? (columns as string[]) : null;
  if (names === null) return covered.has(operation) ? null : suggestion;
  const left = names.filter((name) => !covered.has(`${operation} ${name}`));
  if (left.length === 0) return null;
  return { ...suggestion, parameters: { ...parameters, columns: left.length === 1 ? left[0] : left } };
}
