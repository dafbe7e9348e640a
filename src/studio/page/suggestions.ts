// Suggestions for steps: the comments that a draft has left in the text, and those that the server makes for the columns
// after the chosen step.
import { effect, type Signal, signal } from '@preact/signals';
import type { Suggestion } from '../studio-answers.ts';
import { ask } from './ask.ts';
import { flowText, isSame, moved, withOperation } from './operation-edits.ts';
import {
  isMapping,
  isSequence,
  itemAt,
  itemsOf,
  keyOf,
  operationList,
  pairOf,
  pairsOf,
  plainText,
  type SyntaxNode,
  valueIn,
} from './operation-list.ts';
import type { Studio } from './studio.ts';

/** A suggestion in the list. */
export interface ListedSuggestion {
  /** The step as it would be written. */
  readonly written: string;
  /** '' if none is written. */
  readonly evidence: string;
  /** Offsets of its line in the text; null: it is not in the text. */
  readonly line: Line | null;
  /** The step for the rows as they are now; null: the line in the text is the step. */
  readonly made: Suggestion | null;
  /** True if the steps have changed the number of rows since the line was written. */
  readonly isOutdated: boolean;
}

interface Line {
  readonly from: number;
  readonly to: number;
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
      isOutdated: false,
    }));
}

/** Makes the comment a step, at its place. */
export function withComment(text: string, { from, to }: Line): string {
  const line = text.slice(from, to).replace('# - ', '- ');
  // A draft without active steps has only a comment where the list begins.
  const head = text.slice(0, from).replace(/^# operations:$/m, 'operations:');
  return head + line + text.slice(to);
}

/** The text with the comment as a step at its place, and the index of this step. */
function placedComment(text: string, line: Line): { readonly text: string; readonly item: number } {
  const commented = withComment(text, line);
  const offset = line.from + commented.slice(line.from).search(/\S/) + '- '.length;
  return { text: commented, item: itemAt(operationList(commented), offset) };
}

export class Suggestions {
  readonly made: Signal<readonly Suggestion[]> = signal([]);
  readonly #dismissed = signal<ReadonlySet<string>>(new Set());
  /** Rows after the last step when a comment was first seen, by the comment. */
  readonly #rowsAtFirst = signal<ReadonlyMap<string, number>>(new Map());
  /** Rows after the last step; null: not known yet. */
  readonly #rows = signal<number | null>(null);
  readonly #studio: Studio;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(studio: Studio) {
    this.#studio = studio;
    effect(() => {
      studio.version.value;
      const isPaused = studio.isBusy.value || studio.preview.value !== null || studio.isOld.value || this.#hasNoSteps;
      const step = studio.step.value;
      clearTimeout(this.#timer);
      if (!isPaused) this.#timer = setTimeout(() => void this.#ask(step), PAUSE_MILLISECONDS);
      if (!isPaused && !studio.isHead.value) this.#noteRows();
    });
  }

  /** True if the rows are those of the file, for example because it lacks a column. Suggestions would be about its blanks. */
  get #hasNoSteps(): boolean {
    const { value } = this.#studio.mistakeItem;
    return value !== null && value < 0;
  }

  #noteRows(): void {
    const rows = this.#studio.watched.peek()?.steps.at(-1)?.rows ?? null;
    if (rows === null) return;
    this.#rows.value = rows;
    const known = this.#rowsAtFirst.peek();
    const added = commentSuggestions(this.#studio.text.peek()).filter(({ written }) => !known.has(written));
    if (added.length > 0)
      this.#rowsAtFirst.value = new Map([...known, ...added.map(({ written }) => [written, rows] as const)]);
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
    const covered = new Set([...coveredIn(text), ...comments.flatMap(coveredByComment)]);
    const found = this.#hasNoSteps ? [] : this.made.value;
    const made = found.flatMap((each): readonly ListedSuggestion[] => {
      const left = isMapped(each, steps) ? null : withoutCovered(each, covered);
      if (left === null) return [];
      const written = writtenAs(left);
      if (this.#dismissed.value.has(written)) return [];
      return [{ written, evidence: left.evidence, line: null, made: left, isOutdated: false }];
    });
    return [...comments.map((comment) => this.#current(comment)), ...made];
  }

  /** A comment whose counts are those of other rows is replaced by the same step for the rows as they are now. */
  #current(comment: ListedSuggestion): ListedSuggestion {
    const first = this.#rowsAtFirst.value.get(comment.written);
    const rows = this.#rows.value;
    if (first === undefined || rows === null || rows === first) return comment;
    const keys = coveredByComment(comment);
    const found = this.made.value.find((each) => keys.every((key) => namesOf(each).includes(key)));
    const made = found === undefined ? null : restricted(found, keys);
    if (made === null) return { ...comment, evidence: `when drafted: ${comment.evidence}`, isOutdated: true };
    return { ...comment, written: writtenAs(made), evidence: made.evidence, made, isOutdated: true };
  }

  /** Writes the step into the text and selects it. Undo removes it again. */
  apply(suggestion: ListedSuggestion): void {
    const { line, made, written: suggested, isOutdated } = suggestion;
    const studio = this.#studio;
    const text = studio.text.value;
    const label = `Apply ${suggested}`;
    const { item: chosen, step } = studio.placeOfNewStep();
    const commented = line === null ? null : placedComment(text, line);
    // The counts are those of the chosen step. A step above the place of the comment could lack the steps that it needs.
    const item = commented === null ? chosen : isOutdated ? Math.max(commented.item, chosen) : commented.item;
    let written: string | null;
    if (commented !== null && made === null) {
      written = moved(commented.text, commented.item, item) ?? commented.text;
    } else {
      const left = line === null ? text : withoutLine(text, line);
      written = withOperation(left, studio.file.format, item, made!.operation, made!.parameters);
    }
    if (written === null) {
      studio.message.value = 'The list of operations is written in a form that can be edited only in the text.';
      return;
    }
    studio.write(written, label);
    const running = operationList(written)
      .items.slice(0, item + 1)
      .filter(({ isOff }) => !isOff).length;
    studio.expectStep(commented === null ? step : running);
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
    else this.#studio.write(withoutLine(text.value, line), `Dismiss ${written}`);
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

function withoutLine(text: string, { from, to }: Line): string {
  return text.slice(0, from) + text.slice(to + 1);
}

function writtenAs({ operation, parameters }: Suggestion): string {
  return flowText({ [operation]: parameters }, 'yaml');
}

/** Each operation of a text with each of its columns, or alone if it names no columns. */
function coveredIn(text: string): readonly string[] {
  return operationList(text).items.flatMap(({ name, parameters }) => {
    const names = parameters === null ? [] : namesIn(text, parameters);
    return names.length === 0 ? [name] : names.map((column) => `${name} ${column}`);
  });
}

function coveredByComment({ written }: Pick<ListedSuggestion, 'written'>): readonly string[] {
  return coveredIn(`operations:\n  - ${written}\n`);
}

/** The columns of an operation: listed, or as the keys of a mapping; of checks, the columns with the kind of check. */
function namesIn(text: string, parameters: SyntaxNode): readonly string[] {
  const part = (mapping: SyntaxNode, key: string): SyntaxNode | null => {
    const pair = pairOf(text, mapping, key);
    return pair === null ? null : valueIn(pair);
  };
  const textOf = (node: SyntaxNode | null): string =>
    node === null ? '' : plainText(text.slice(node.from, node.to).trim());
  const rules = part(parameters, 'rules');
  if (rules !== null && isSequence(rules)) {
    const ofRule = (rule: SyntaxNode): string => `${textOf(part(rule, 'check'))} ${textOf(part(rule, 'column'))}`;
    return itemsOf(rules).filter(isMapping).map(ofRule);
  }
  const columns = part(parameters, 'columns');
  if (columns === null) return [];
  if (isMapping(columns)) return pairsOf(columns).map((pair) => keyOf(text, pair));
  return isSequence(columns) ? itemsOf(columns).map(textOf) : [textOf(columns)];
}

/** A suggestion for some of its columns, given as by `coveredIn`. The evidence of several columns names each of them. */
function restricted(suggestion: Suggestion, keys: readonly string[]): Suggestion {
  const { operation, parameters, evidence } = suggestion;
  const { columns } = parameters;
  if (!Array.isArray(columns)) return suggestion;
  const left = (columns as readonly string[]).filter((name) => keys.includes(`${operation} ${name}`));
  const [name] = left;
  if (left.length !== 1) return { ...suggestion, parameters: { ...parameters, columns: left } };
  const from = evidence.indexOf(`${name}: `);
  const ends = (columns as readonly string[]).map((other) => evidence.indexOf(`; ${other}: `, from));
  const to = Math.min(...ends.filter((end) => end >= 0), evidence.length);
  const own = from < 0 ? evidence : evidence.slice(from + `${name}: `.length, to);
  return { ...suggestion, parameters: { ...parameters, columns: name }, evidence: own };
}

/** What `coveredIn` would return for a suggestion. */
function namesOf(suggestion: Suggestion): readonly string[] {
  return coveredByComment({ written: writtenAs(suggestion) });
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
  const isLeft = (name: string): boolean => !covered.has(`${operation} ${name}`);
  if (typeof columns === 'object' && columns !== null && !Array.isArray(columns)) {
    const left = Object.entries(columns).filter(([name]) => isLeft(name));
    return left.length === 0
      ? null
      : { ...suggestion, parameters: { ...parameters, columns: Object.fromEntries(left) } };
  }
  const names = typeof columns === 'string' ? [columns] : Array.isArray(columns) ? (columns as string[]) : null;
  if (names === null) return namesOf(suggestion).every((name) => covered.has(name)) ? null : suggestion;
  const left = names.filter(isLeft);
  if (left.length === 0) return null;
  return { ...suggestion, parameters: { ...parameters, columns: left.length === 1 ? left[0] : left } };
}
