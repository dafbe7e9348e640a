// The parts of a text between separators, matches of a pattern or widths, as spans: how many are kept, and which keep the rest.
import type { RegularExpression } from '../../expression/patterns/regular-expression.ts';
import { indexOfText } from '../../values/text-search.ts';

/** A part of a text: [from, to). */
export type Span = readonly [from: number, to: number];

/** How many parts are wanted, of which at most `limit` are made, and whether they are counted from the end. */
export interface SplitCount {
  readonly into: readonly string[];
  readonly limit?: number;
  readonly from_end?: boolean;
}

export function limited(spans: Span[], given: SplitCount): Span[] {
  return given.limit === undefined ? spans : merged(spans, given.limit, given);
}

export function merged(spans: Span[], most: number, { from_end: fromEnd = false }: SplitCount): Span[] {
  if (spans.length <= most) return spans;
  if (!fromEnd) return [...spans.slice(0, most - 1), [spans[most - 1]![0], spans[spans.length - 1]![1]]];
  const first = spans.length - most;
  return [[spans[0]![0], spans[first]![1]], ...spans.slice(first + 1)];
}

export function cut(spans: Span[], most: number, { from_end: fromEnd = false }: SplitCount): Span[] {
  return fromEnd ? spans.slice(Math.max(0, spans.length - most)) : spans.slice(0, most);
}

/**
 * As many of a text's parts as anything depends on: those that become cells, and one that shows that there are more, which
 * reaches to the text's other end. A text of 4 MiB may have a million parts.
 */
export class KeptSpans {
  readonly #most: number;
  readonly #fromEnd: boolean;

  constructor({ into, limit, from_end: fromEnd = false }: SplitCount) {
    this.#most = Math.max(into.length, limit ?? 0) + 1;
    this.#fromEnd = fromEnd;
  }

  /** False when no further span is wanted. */
  add(spans: Span[], span: Span): boolean {
    spans.push(span);
    if (!this.#fromEnd) return spans.length < this.#most;
    // Not each time: what is left moves.
    if (spans.length === this.#most * 2) spans.splice(0, this.#most, [0, spans[this.#most - 1]![1]]);
    return true;
  }
}

export function separated(text: string, separator: string, kept: KeptSpans): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (let at = indexOfText(text, separator); at >= 0; at = indexOfText(text, separator, from)) {
    if (!kept.add(spans, [from, at])) return reachingToEnd(spans, text);
    from = at + separator.length;
  }
  spans.push([from, text.length]);
  return spans;
}

export function byPattern(text: string, pattern: RegularExpression, kept: KeptSpans): Span[] {
  const spans: Span[] = [];
  let from = 0;
  let isFull = false;
  // To the end all the same: whether the walk takes too long must not depend on how many columns are made.
  for (const { start, end } of pattern.all(text)) {
    if (end === start || isFull) continue;
    isFull = !kept.add(spans, [from, start]);
    from = end;
  }
  if (isFull) return reachingToEnd(spans, text);
  spans.push([from, text.length]);
  return spans;
}

function reachingToEnd(spans: Span[], text: string): Span[] {
  const last = spans.at(-1)!;
  spans[spans.length - 1] = [last[0], text.length];
  return spans;
}

export function byWidths(text: string, widths: readonly number[]): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const width of widths) {
    if (at >= text.length) break;
    const from = at;
    for (let n = 0; n < width && at < text.length; n++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
    spans.push([from, at]);
  }
  if (at < text.length) spans.push([at, text.length]);
  return spans;
}
