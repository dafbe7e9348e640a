// Splits a text at separators, at matches of a pattern, or into parts of given widths. Returns the position of each
// part.
import { matchesInSlices } from '../../expression/patterns/long-find.ts';
import { canSearch, type RegularExpression, unlessTooLong } from '../../expression/patterns/regular-expression.ts';
import { indexOfText } from '../../values/text-search.ts';

/** A part of a text: [from, to). */
export type Span = readonly [from: number, to: number];

/** Parts that are found between two pauses. */
const PARTS_PER_PAUSE = 4096;

/** The parts that are needed. */
export interface WantedParts {
  /** Maximum number of parts. */
  readonly most: number;
  /** True if parts are counted from the end. */
  readonly fromEnd: boolean;
}

/** Maximum number of parts, and whether they are counted from the end. */
export interface PartLimit {
  readonly limit?: number;
  readonly from_end?: boolean;
}

export function limited(spans: Span[], given: PartLimit): Span[] {
  return given.limit === undefined ? spans : merged(spans, given.limit, given);
}

/** Returns at most `most` parts. The last one contains the rest, or the first one if parts are counted from the end. */
export function merged(spans: Span[], most: number, { from_end: fromEnd = false }: PartLimit): Span[] {
  if (spans.length <= most) return spans;
  if (!fromEnd) return [...spans.slice(0, most - 1), [spans[most - 1]![0], spans[spans.length - 1]![1]]];
  const first = spans.length - most;
  return [[spans[0]![0], spans[first]![1]], ...spans.slice(first + 1)];
}

export function cut(spans: Span[], most: number, { from_end: fromEnd = false }: PartLimit): Span[] {
  return fromEnd ? spans.slice(Math.max(0, spans.length - most)) : spans.slice(0, most);
}

/** Yields `undefined` wherever the caller may pause in a text with many parts. */
export function* separatedParts(
  text: string,
  separator: string,
  wanted: WantedParts,
): Generator<undefined, Span[], undefined> {
  const spans: Span[] = [];
  const kept = new KeptSpans(wanted);
  let from = 0;
  let found = 0;
  for (let at = indexOfText(text, separator); at >= 0; at = indexOfText(text, separator, from)) {
    if (!kept.add(spans, [from, at])) return reachingToEnd(spans, text);
    from = at + separator.length;
    if (++found % PARTS_PER_PAUSE === 0) yield;
  }
  spans.push([from, text.length]);
  return spans;
}

/**
 * Returns null if the text is too long for the pattern. Yields `undefined` wherever the caller may pause in a long
 * text.
 */
export function* patternParts(
  text: string,
  pattern: RegularExpression,
  wanted: WantedParts,
): Generator<undefined, Span[] | null, undefined> {
  if (!canSearch(pattern, text)) return null;
  const work = byPattern(text, pattern, wanted);
  for (;;) {
    const step = unlessTooLong(() => work.next());
    if (step === null) return null;
    if (step.done) return step.value;
    yield;
  }
}

export function partsOfWidths(text: string, widths: readonly number[]): Span[] {
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

function* byPattern(
  text: string,
  pattern: RegularExpression,
  wanted: WantedParts,
): Generator<undefined, Span[], undefined> {
  const spans: Span[] = [];
  const kept = new KeptSpans(wanted);
  let from = 0;
  let isFull = false;
  // Continues to the end even if no further part is needed. Otherwise the number of columns would determine whether
  // matching takes too long.
  let found = 0;
  for (const match of matchesInSlices(pattern, text)) {
    if (match === undefined || ++found % PARTS_PER_PAUSE === 0) yield;
    if (match === undefined || match.end === match.start || isFull) continue;
    isFull = !kept.add(spans, [from, match.start]);
    from = match.end;
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

/**
 * Keeps the parts that can influence the result: the parts that become cells, and one more, which shows that further
 * parts exist, and extends to the other end of the text. A text of 4 MiB may have a million parts.
 */
class KeptSpans {
  readonly #most: number;
  readonly #fromEnd: boolean;

  constructor({ most, fromEnd }: WantedParts) {
    this.#most = most + 1;
    this.#fromEnd = fromEnd;
  }

  /** Returns false if no further part is needed. */
  add(spans: Span[], span: Span): boolean {
    spans.push(span);
    if (!this.#fromEnd) return spans.length < this.#most;
    // Removes many parts at once, because each splice moves the remaining parts.
    if (spans.length === this.#most * 2) spans.splice(0, this.#most, [0, spans[this.#most - 1]![1]]);
    return true;
  }
}
