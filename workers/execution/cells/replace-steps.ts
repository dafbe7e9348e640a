// Steps that find and replace: literally, whole cells, or by a regular expression.
import { ifWalked, mayWalk, type RegularExpression } from '../../expression/patterns/regular-expression.ts';
import type { Heap } from '../../memory/heap.ts';
import { foldCase } from '../../values/text-edits.ts';
import { indexOfText } from '../../values/text-search.ts';
import { CELL_BYTES_MAX } from './cell-limit.ts';
import { placePattern } from './pattern-program.ts';
import { placeText } from './placed-text.ts';
import type { TextStep } from './text-chain.ts';
import { moved, room, stringStep } from './text-steps.ts';
import { walkedStep } from './walked-step.ts';

/** Longest text that the kernel looks for, in UTF-16 units: it compares it whole at each place that may hold it. */
const KERNEL_FIND_LENGTH_MAX = 256;

/**
 * Units of a cell times units of a text that is looked for in any case: half a second of the runtime's RegExp, which compares at
 * each place. Beyond it the cell is TOO_LONG.
 */
const ANY_CASE_WORK_MAX = 256 * 1024 * 1024;

/** Occurrences without a limit, as kernels take it. */
const ALL = 0xffffffff;

/** Replaces the first `count` occurrences of a text, all when it is null. */
export function literalStep(heap: Heap, find: string, put: string, count: number | null): TextStep {
  const edit = (text: string): string => replaceMatches(text, literalMatches(text, find), () => put, count);
  if (find.length > KERNEL_FIND_LENGTH_MAX) return stringStep(heap, 'any', edit);
  const [a, b] = [placeText(heap, find), placeText(heap, put)];
  const times = count ?? ALL;
  return {
    run(cells) {
      const { kernel, views, rows } = cells;
      const [next, limit] = room(cells);
      return moved(
        cells,
        kernel.exports.replaceText(
          ...([views, rows, cells.count, a.at, a.bytes, b.at, b.bytes, times, CELL_BYTES_MAX, next, limit] as const),
        ),
      );
    },
    edit,
  };
}

/** As literalStep, for any case of the letters. */
export function literalAnyCaseStep(heap: Heap, find: string, put: string, count: number | null): TextStep {
  const points = Array.from(find, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  const pattern = new RegExp(points.join(''), 'giu');
  return stringStep(heap, 'any', (text) => {
    if (text.length * find.length > ANY_CASE_WORK_MAX) return TOO_LONG;
    const matches = text.matchAll(pattern);
    return replaceMatches(text, spans(matches), () => put, count);
  });
}

/** Cells that are one of the texts as a whole; the first pair that fits counts. */
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

/** Replaces matches of a pattern; in `put`, `$1` is a group, `${name}` a named one, `$0` the match, `$$` a dollar. */
export function patternStep(heap: Heap, pattern: RegularExpression, put: string, count: number | null): TextStep {
  const parts = replacementParts(put, pattern);
  const edit = (text: string): string => {
    if (!mayWalk(pattern, text)) return TOO_LONG;
    if (!pattern.test(text)) return text;
    const made = (groups: readonly (string | null)[]): string =>
      parts.map((part) => (typeof part === 'string' ? part : (groups[part] ?? ''))).join('');
    return ifWalked(() => replaceMatches(text, pattern.all(text), made, count)) ?? TOO_LONG;
  };
  const program = pattern.greedy === null ? 0 : placePattern(heap, pattern.greedy, parts, count ?? ALL);
  if (program === 0) return walkedStep(heap, pattern, { parts, times: count ?? ALL }, edit);
  return {
    run(cells) {
      const { kernel, views, rows, todo } = cells;
      const [next, limit] = room(cells);
      const { replacePattern } = kernel.exports;
      return moved(cells, replacePattern(views, rows, cells.count, program, CELL_BYTES_MAX, next, limit, todo));
    },
    edit,
  };
}

/** Groups that a replacement names but the pattern does not have. */
export function unknownGroups(put: string, pattern: RegularExpression): string[] {
  return [...put.matchAll(GROUP)].flatMap((match) => {
    const name = match[1] ?? match[2];
    if (name === undefined) return [];
    const group = groupOf(name, pattern);
    return group === undefined || group > pattern.groupCount ? [name] : [];
  });
}

/** What cannot be searched becomes a text that no cell may hold: the frame makes the error TOO_LONG of it. */
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

/** Pieces of a text that are held before they are joined: a cell of 4 MiB may have millions. */
const PIECES_MAX = 65_536;

/** Stops, with a text that is too long, where the result would pass the ceiling of a cell. */
function replaceMatches(
  text: string,
  matches: Iterable<Match>,
  put: (groups: readonly (string | null)[]) => string,
  count: number | null,
): string {
  let done = '';
  let pieces: string[] = [];
  let from = 0;
  let length = 0;
  let left = count ?? Number.POSITIVE_INFINITY;
  for (const { start, end, groups } of matches) {
    if (left-- <= 0) break;
    const piece = put(groups);
    pieces.push(text.slice(from, start), piece);
    length += start - from + piece.length;
    from = end;
    if (length > CELL_BYTES_MAX) return done + pieces.join('');
    if (pieces.length < PIECES_MAX) continue;
    done += pieces.join('');
    pieces = [];
  }
  if (from === 0 && pieces.length === 0) return text;
  pieces.push(text.slice(from));
  return done + pieces.join('');
}

function* literalMatches(text: string, find: string): Iterable<Match> {
  for (let at = indexOfText(text, find); at >= 0; at = indexOfText(text, find, at + find.length)) {
    yield { start: at, end: at + find.length, groups: [] };
  }
}

function* spans(matches: Iterable<RegExpExecArray>): Iterable<Match> {
  for (const match of matches) yield { start: match.index, end: match.index + match[0].length, groups: [] };
}
