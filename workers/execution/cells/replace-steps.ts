// Steps that find and replace literal texts, whole cells, or matches of patterns.

import { CELL_BYTES_MAX } from '../../batch/batch.ts';
import { isLongFind, matchesInSlices } from '../../expression/patterns/long-find.ts';
import { canSearch, type RegularExpression, unlessTooLong } from '../../expression/patterns/regular-expression.ts';
import { NEXT_FREE, PIECE_BYTES, PIECE_GROUP, PIECE_TEXT } from '../../kernel/layout/patterns.ts';
import type { Heap } from '../../memory/heap.ts';
import { done, foldCase, type TextWork } from '../../values/text-edits.ts';
import { indexOfText } from '../../values/text-search.ts';
import { MATCHER_ROWS_LEAST, PatternMatcher, placePattern } from './pattern-matcher.ts';
import { placeText, type TextStep } from './text-chain.ts';
import { freeRange, moved, stringStep } from './text-steps.ts';

// The step that replaces matches of any pattern, with two passes over each cell (kernel/assembly/patterns.ts).

/** The replacement of a match: texts and group numbers, and the maximum number of replacements. */
export interface Replacement {
  readonly parts: readonly (string | number)[];
  readonly times: number;
}

/** `inSlices` does the same for one text. It also handles batches with fewer rows than `rowsLeast`. */
export function twoPassStep(
  heap: Heap,
  pattern: RegularExpression,
  replacement: Replacement,
  inSlices: (text: string) => TextWork,
  rowsLeast = MATCHER_ROWS_LEAST,
): TextStep {
  const edit = (text: string): string => done(inSlices(text));
  const single = stringStep(heap, 'any', edit);
  const groups = replacement.parts.filter((part) => typeof part === 'number');
  let matcher: PatternMatcher | null | undefined;
  let pieces = 0;
  return {
    *run(cells, clock) {
      if (matcher === undefined && cells.count >= rowsLeast) {
        matcher = PatternMatcher.of(heap, pattern, groups, 'all');
        if (matcher !== null) pieces = placePieces(heap, replacement.parts, matcher);
      }
      if (matcher === undefined || matcher === null) {
        single.run(cells, clock);
        return true;
      }
      const { machine } = matcher;
      const { kernel, arena, views, rows, count, todo } = cells;
      const piecesEnd = pieces + replacement.parts.length * PIECE_BYTES;
      const { replaceCaptures } = kernel.exports;
      arena.heap.u32[(machine + NEXT_FREE) >>> 2] = arena.next;
      const isDone = yield* matcher.drive(count, clock, (from) =>
        replaceCaptures(
          ...([views, rows, count, from, machine, pieces, piecesEnd, replacement.times] as const),
          ...([CELL_BYTES_MAX, arena.limit, todo] as const),
        ),
      );
      arena.next = arena.heap.u32[(machine + NEXT_FREE) >>> 2]!;
      return isDone;
    },
    edit,
    editInSlices: inSlices,
    isLong: (text) => isLongFind(pattern, text),
  };
}

/** Writes the list of pieces for kernels. */
function placePieces(heap: Heap, parts: readonly (string | number)[], matcher: PatternMatcher): number {
  const pieces = parts.flatMap((part): readonly number[] => {
    if (typeof part === 'number') return [PIECE_GROUP, matcher.slotOf(part), 0];
    const { at, bytes } = placeText(heap, part);
    return [PIECE_TEXT, at, bytes];
  });
  const list = heap.allocate(Math.max(1, parts.length) * PIECE_BYTES);
  heap.u32.set(pieces, list >>> 2);
  return list;
}

// Steps that find and replace: literal texts, whole cells, or matches of a regular expression.

/**
 * Maximum length of a text for which the kernel searches, in UTF-16 units, because it compares the whole text at each
 * candidate position.
 */
const KERNEL_FIND_LENGTH_MAX = 256;

/**
 * Limit of the case-insensitive search: units of the cell times units of the text. It corresponds to half a second of
 * the runtime's RegExp, which compares at each position. Beyond it, the cell is TOO_LONG.
 */
const ANY_CASE_WORK_MAX = 256 * 1024 * 1024;

/** Means "no limit" for the number of occurrences in kernels. */
const ALL = 0xffffffff;

/** Replaces the first `count` occurrences of a text, or all if it is null. */
export function literalStep(heap: Heap, find: string, put: string, count: number | null): TextStep {
  const editInSlices = (text: string): TextWork => replaceInSlices(text, literalMatches(text, find), () => put, count);
  const edit = (text: string): string => done(editInSlices(text));
  if (find.length > KERNEL_FIND_LENGTH_MAX) return stringStep(heap, 'any', edit, editInSlices);
  const [a, b] = [placeText(heap, find), placeText(heap, put)];
  const times = count ?? ALL;
  return {
    run(cells) {
      const { kernel, views, rows } = cells;
      const [next, limit] = freeRange(cells);
      return moved(
        cells,
        kernel.exports.replaceText(
          ...([views, rows, cells.count, a.at, a.bytes, b.at, b.bytes, times, CELL_BYTES_MAX, next, limit] as const),
        ),
      );
    },
    edit,
    editInSlices,
  };
}

/** Same as literalStep, ignoring case. */
export function literalAnyCaseStep(heap: Heap, find: string, put: string, count: number | null): TextStep {
  const points = Array.from(find, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  const pattern = new RegExp(points.join(''), 'giu');
  const inSlices = function* (text: string): TextWork {
    if (text.length * find.length > ANY_CASE_WORK_MAX) return TOO_LONG;
    return yield* replaceInSlices(text, spans(text.matchAll(pattern)), () => put, count);
  };
  return stringStep(heap, 'any', (text) => done(inSlices(text)), inSlices);
}

/** Replaces cells that equal one of the texts. The first matching pair counts. */
export function wholeCellStep(heap: Heap, pairs: readonly (readonly [string, string])[], anyCase: boolean): TextStep {
  const puts = new Map<string, string>();
  const key = anyCase ? foldCase : (text: string) => text;
  for (const [find, put] of pairs) if (!puts.has(key(find))) puts.set(key(find), put);
  const edit = (text: string): string => puts.get(key(text)) ?? text;
  if (anyCase || pairs.length !== 1) return stringStep(heap, 'any', edit);
  const [a, b] = [placeText(heap, pairs[0]![0]), placeText(heap, pairs[0]![1])];
  return {
    run({ kernel, views, rows, count }) {
      kernel.exports.replaceWhole(views, rows, count, a.at, a.bytes, b.at, b.bytes);
      return true;
    },
    edit,
  };
}

/**
 * Replaces matches of a pattern. In `put`, `$1` is a group, `${name}` a named group, `$0` the match, `$$` a dollar
 * sign.
 */
export function patternStep(heap: Heap, pattern: RegularExpression, put: string, count: number | null): TextStep {
  const parts = replacementParts(put, pattern);
  const made = (groups: readonly (string | null)[]): string =>
    parts.map((part) => (typeof part === 'string' ? part : (groups[part] ?? ''))).join('');
  const editInSlices = function* (text: string): TextWork {
    if (!canSearch(pattern, text)) return TOO_LONG;
    if (!isLongFind(pattern, text) && !pattern.test(text)) return text;
    const work = replaceInSlices(text, matchesInSlices(pattern, text), made, count);
    for (;;) {
      const step = unlessTooLong(() => work.next());
      if (step === null) return TOO_LONG;
      if (step.done) return step.value;
      yield;
    }
  };
  const edit = (text: string): string => done(editInSlices(text));
  const program = pattern.greedy === null ? 0 : placePattern(heap, pattern.greedy, parts, count ?? ALL);
  if (program === 0) return twoPassStep(heap, pattern, { parts, times: count ?? ALL }, editInSlices);
  return {
    run(cells) {
      const { kernel, views, rows, todo } = cells;
      const [next, limit] = freeRange(cells);
      const { replacePattern } = kernel.exports;
      return moved(cells, replacePattern(views, rows, cells.count, program, CELL_BYTES_MAX, next, limit, todo));
    },
    edit,
    editInSlices,
  };
}

/** Returns the groups that a replacement refers to but that the pattern does not have. */
export function unknownGroups(put: string, pattern: RegularExpression): string[] {
  return [...put.matchAll(GROUP)].flatMap((match) => {
    const name = match[1] ?? match[2];
    if (name === undefined) return [];
    const group = groupOf(name, pattern);
    return group === undefined || group > pattern.groupCount ? [name] : [];
  });
}

/** Result for a text that is too expensive to search: longer than any cell, so that it becomes the error TOO_LONG. */
export const TOO_LONG = ' '.repeat(CELL_BYTES_MAX + 1);

interface Match {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | null)[];
}

const GROUP = /\$(?:\$|([0-9]{1,2})|\{([^{}]*)\})/g;

function replacementParts(put: string, pattern: RegularExpression): (string | number)[] {
  const parts: (string | number)[] = [];
  let from = 0;
  for (const match of put.matchAll(GROUP)) {
    parts.push(put.slice(from, match.index));
    const name = match[1] ?? match[2];
    parts.push(name === undefined ? '$' : (groupOf(name, pattern) ?? match[0]));
    from = match.index + match[0].length;
  }
  parts.push(put.slice(from));
  return parts.filter((part) => part !== '');
}

function groupOf(name: string, pattern: RegularExpression): number | undefined {
  return /^[0-9]+$/.test(name) ? Number(name) : pattern.groupNames.get(name);
}

/** Maximum number of pieces held before they are joined: a cell of 4 MiB may have millions. */
const PIECES_MAX = 8_192;

/** Stops with a text that is too long once the result exceeds the limit of a cell. */
function* replaceInSlices(
  text: string,
  matches: Iterable<Match | undefined>,
  put: (groups: readonly (string | null)[]) => string,
  count: number | null,
): TextWork {
  let made = '';
  let pieces: string[] = [];
  let from = 0;
  let length = 0;
  let left = count ?? Number.POSITIVE_INFINITY;
  for (const match of matches) {
    if (match === undefined) {
      yield;
      continue;
    }
    const { start, end, groups } = match;
    if (left-- <= 0) break;
    const piece = put(groups);
    pieces.push(text.slice(from, start), piece);
    length += start - from + piece.length;
    from = end;
    if (length > CELL_BYTES_MAX) return made + pieces.join('');
    if (pieces.length < PIECES_MAX) continue;
    made += pieces.join('');
    pieces = [];
    yield;
  }
  if (from === 0 && pieces.length === 0) return text;
  pieces.push(text.slice(from));
  return made + pieces.join('');
}

function* literalMatches(text: string, find: string): Iterable<Match> {
  for (let at = indexOfText(text, find); at >= 0; at = indexOfText(text, find, at + find.length)) {
    yield { start: at, end: at + find.length, groups: [] };
  }
}

function* spans(matches: Iterable<RegExpExecArray>): Iterable<Match> {
  for (const match of matches) yield { start: match.index, end: match.index + match[0].length, groups: [] };
}
