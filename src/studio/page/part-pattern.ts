// Proposes steps for a selected part of a cell: a pattern that extracts it, a separator, or a text to replace. Patterns
// are proposals: the form shows the pattern and the rows that it gives, and the user corrects it there.
import { columnReference, type MenuGroup } from './menu-entries.ts';

export interface Part {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Characters of a part that a menu shows. */
const SHOWN_CHARACTERS_MAX = 20;

/** @param others other cells of the column, which the pattern should fit as well */
export function partMenu(column: string, part: Part, others: readonly string[]): MenuGroup {
  const chosen = part.text.slice(part.from, part.to);
  const shown = chosen.length > SHOWN_CHARACTERS_MAX ? `${chosen.slice(0, SHOWN_CHARACTERS_MAX)}…` : chosen;
  const pattern = proposedPattern(part, others);
  const where = `${columnReference(column)}.contains(${JSON.stringify(chosen)})`;
  return {
    title: `Selected part: ${shown}`,
    entries: [
      { label: 'Extract this part…', step: { extract: { column, pattern, into: { 1: `${column}_part` } } } },
      { label: 'Split here…', step: { split_column: splitAt(column, part) } },
      { label: 'Replace this part…', step: { replace: { columns: column, find: chosen } } },
      { label: 'Keep rows with this part…', step: { filter: { where } } },
    ],
  };
}

/**
 * A pattern whose first group is the part. Chooses the candidate that matches most of the other cells; if several do,
 * the one that contains most of the text around the part. A fixed number of characters matches nearly every cell, but
 * proves nothing, so it is only chosen if the other candidates match less than half as many.
 */
export function proposedPattern({ text, from, to }: Part, others: readonly string[]): string {
  const chosen = text.slice(from, to);
  const candidates = lefts(text.slice(0, from)).flatMap((left) =>
    bodies(chosen, [...text.slice(to)][0]).flatMap((body) =>
      rights(text.slice(to)).map((right) => `${left}(${body})${right}`),
    ),
  );
  let best = { pattern: fixedPattern([...text.slice(0, from)].length, chosen), score: -1 };
  for (const pattern of candidates) {
    // In Templates, a dot is any character but LF.
    const expression = new RegExp(pattern.replaceAll(/(?<!\\)\.(?=[+{])/g, '[^\\n]'), 'du');
    const [start, end] = expression.exec(text)?.indices?.[1] ?? [];
    if (start !== from || end !== to) continue;
    const count = others.filter((other) => expression.test(other)).length;
    const score = pattern.includes('(.{') ? count / 2 : count;
    if (score > best.score) best = { pattern, score };
  }
  return best.pattern;
}

/** Largest number of repetitions in RE2. */
const REPETITIONS_MAX = 1_000;

/** Texts up to this length are described sign by sign. */
const GENERAL_CHARACTERS_MAX = 40;

/** The part by its place in the text. */
function fixedPattern(before: number, chosen: string): string {
  const length = [...chosen].length;
  return Math.max(before, length) > REPETITIONS_MAX ? `(${literal(chosen)})` : `(?s)^.{${before}}(.{${length}})`;
}

/** Patterns for the text before a part, the one with most of it first. */
function lefts(before: string): readonly string[] {
  if (before === '') return ['^'];
  const sign = /[^\p{L}\p{N}]+$/u.exec(before)?.[0] ?? '';
  const word = /\p{L}+$/u.exec(before.slice(0, before.length - sign.length))?.[0] ?? '';
  const whole = before.length > GENERAL_CHARACTERS_MAX ? [] : [`^${general(before)}`];
  return [literal(word + sign), literal(sign), ...whole, ''];
}

function bodies(chosen: string, next: string | undefined): readonly string[] {
  const rest = next === undefined ? '.+' : `[^${/[\]\\^-]/.test(next) ? `\\${next}` : next}]+`;
  const length = `.{${[...chosen].length}}`;
  return chosen.length > GENERAL_CHARACTERS_MAX ? [rest, '.+?'] : [general(chosen), rest, '.+?', length];
}

function rights(after: string): readonly string[] {
  if (after === '') return ['$', ''];
  // Up to the next word, such as the label of the next part.
  const word = /^[^\p{L}\p{N}\n]+\p{L}+(?![\p{L}\p{N}])/u.exec(after)?.[0];
  return ['', literal([...after][0]!), ...(word === undefined ? [] : [literal(word)])];
}

/** The same signs, with any letters and any digits. */
function general(text: string): string {
  return [...text.matchAll(/[0-9]+|[A-Z]+|[a-z]+|\p{L}+| +|./gsu)]
    .map(([run]) => {
      if (/^[0-9]/.test(run)) return '[0-9]+';
      if (/^[A-Z]/.test(run)) return '[A-Z]+';
      if (/^[a-z]/.test(run)) return '[a-z]+';
      if (/^\p{L}/u.test(run)) return '\\p{L}+';
      return run.startsWith(' ') ? ' +' : literal(run);
    })
    .join('')
    .replaceAll('[A-Z]+[a-z]+', '[A-Za-z]+');
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/**
 * Signs are separators: the column is split there, and at the same signs before, unless they are the last ones. Before other
 * text, the column is split at that place.
 */
function splitAt(column: string, { text, from, to }: Part): Readonly<Record<string, unknown>> {
  const chosen = text.slice(from, to);
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `${column}_${index + 1}`);
  if (!/[\p{L}\p{N}]/u.test(chosen)) {
    const by = { separator: chosen };
    const earlier = text.slice(0, from).split(chosen).length - 1;
    if (earlier > 0 && text.lastIndexOf(chosen) === from) return { column, by, into: names(2), from_end: true };
    return { column, by, into: names(earlier + 2) };
  }
  const place = from === 0 ? to : from;
  const widths = [text.slice(0, place), text.slice(place)].map((each) => [...each].length).filter((each) => each > 0);
  return { column, by: { widths }, into: names(widths.length) };
}
