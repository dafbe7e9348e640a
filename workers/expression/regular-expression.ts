// Owns regular expressions: RE2's syntax in linear time. The only importer of re2js; patterns of the provably linear
// subset (linear-pattern.ts) run on the native RegExp, which a differential test holds against re2js.
import { RE2JS, RE2JSException } from 're2js';
import { type GreedyPattern, greedyPattern } from './greedy-pattern.ts';
import { linearPattern } from './linear-pattern.ts';

/** Where a pattern matched: `groups[0]` is the whole match, a group that took no part is null. */
export interface PatternMatch {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | null)[];
}

/** A compiled pattern. It searches anywhere in a text unless it is anchored. */
export interface RegularExpression {
  readonly source: string;
  readonly groupCount: number;
  readonly groupNames: ReadonlyMap<string, number>;
  /** Which engine runs it. */
  readonly lane: 'native' | 're2';
  /** What a kernel can run. */
  readonly greedy: GreedyPattern | null;
  /** Instructions that re2js walks for each character at worst; 0 on the native lane. */
  readonly program: number;
  test(text: string): boolean;
  first(text: string): PatternMatch | null;
  all(text: string): Iterable<PatternMatch>;
  /** Every match replaced by JavaScript's replacement syntax (`$1`, `$$`); on the native lane only. No limit on its result. */
  readonly substitute: ((text: string, replacement: string) => string) | null;
}

/** Longest pattern in UTF-16 units: no longer than an expression may be. */
export const PATTERN_LENGTH_MAX = 4096;

/**
 * Largest program that a pattern may become, in re2js instructions: what it costs per character in the worst case, 70 ns
 * each. RE2's own largest repetition of a class, `{1000}`, fits.
 */
export const PATTERN_PROGRAM_MAX = 2_000;

/**
 * Characters times instructions of one search at most: re2js walks a program for 40 to 70 ns each, so this is a second. What
 * is longer is a row error, TOO_LONG: nothing may hold a thread for minutes.
 */
export const PATTERN_WALK_MAX = 12_800_000;

/** The same where a search only says whether there is a match: mostly 15 ns a character, at worst as much as the other. */
export const PATTERN_TEST_MAX = 10 * PATTERN_WALK_MAX;

/** Whether a text is short enough to be walked by a pattern for what it matches. */
export function mayWalk({ program }: RegularExpression, text: string): boolean {
  return text.length * program <= PATTERN_WALK_MAX;
}

/** Whether a text is short enough to be asked for a match. */
export function mayTest({ program }: RegularExpression, text: string): boolean {
  return text.length * program <= PATTERN_TEST_MAX;
}

/** Compiles a pattern, or says in a sentence what to write instead. `lane` forces an engine, for tests. */
export function compileRegularExpression(source: string, lane?: 're2'): RegularExpression | { problem: string } {
  if (source.length > PATTERN_LENGTH_MAX) return { problem: `A pattern has at most ${PATTERN_LENGTH_MAX} characters.` };
  if (repetitions(source) > PATTERN_PROGRAM_MAX) return { problem: TOO_LARGE };
  const known = lane === undefined && SIMPLE.test(source) ? linearPattern(source) : null;
  if (known !== null) return nativeExpression(source, known);
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    if (error instanceof RE2JSException) return { problem: `The regular expression is refused${hint(source, error)}.` };
    throw error;
  }
  if (compiled.programSize() > PATTERN_PROGRAM_MAX) return { problem: TOO_LARGE };
  const groupNames = new Map(Object.entries(compiled.namedGroups()).map(([name, group]) => [name, Number(group)]));
  const script = lane === 're2' ? null : linearPattern(source);
  const engine = script === null ? re2Engine(compiled) : nativeEngine(script);
  const greedy = script === null ? null : greedyPattern(source);
  return {
    source,
    groupCount: compiled.groupCount(),
    groupNames,
    lane: script === null ? 're2' : 'native',
    program: script === null ? compiled.programSize() : 0,
    greedy,
    ...engine,
  };
}

/**
 * Patterns that need not be shown to re2js when they are in the linear subset, which is all its syntax: no bounds, which it
 * checks, no named groups, and too short to become too large. The first pattern of a process takes it 8 ms.
 */
const SIMPLE = /^(?!.*\(\?)[ -z|]{0,256}$/;

function nativeExpression(source: string, script: string): RegularExpression {
  // The empty alternative always matches, with a place for each group.
  const groupCount = new RegExp(`${script}|`, 'u').exec('')!.length - 1;
  const greedy = greedyPattern(source);
  return { source, groupCount, groupNames: new Map(), lane: 'native', program: 0, greedy, ...nativeEngine(script) };
}

const TOO_LARGE = 'The regular expression is too large. Repeat fewer times, or check the length with size().';

/** At least so many instructions come of `{n}`: known before compiling, which takes half a second for the worst ones. */
function repetitions(source: string): number {
  let sum = 0;
  for (const [, least, most] of source.matchAll(/\{([0-9]{1,4})(?:,([0-9]{1,4})?)?\}/g)) sum += Number(most ?? least);
  return sum;
}

/** Of a reason, which repeats a part of the pattern, in UTF-16 units. */
const REASON_LENGTH_MAX = 200;

type Engine = Pick<RegularExpression, 'test' | 'first' | 'all' | 'substitute'>;

function hint(source: string, error: RE2JSException): string {
  if (/\(\?<?[=!]/.test(source)) return ': look-ahead and look-behind ((?=...), (?!...)) do not exist in RE2';
  if (/\\[1-9]/.test(source)) return ': references to groups (\\1) do not exist in RE2';
  if (/[*+?}]\+|\(\?>/.test(source)) return ': possessive and atomic parts do not exist in RE2';
  if (/\{[0-9]{4,}|\{[0-9]*,[0-9]{4,}/.test(source)) return ': RE2 repeats at most 1000 times';
  // The library says "error parsing regexp: missing closing ): `(abc`".
  const reason = error.message.replace(/^error parsing regexp: /, '').slice(0, REASON_LENGTH_MAX);
  const escaping = /[)\](+*?{}]/.test(reason)
    ? '; a sign that stands for itself has a backslash before it, such as \\('
    : '';
  return `: ${reason}${escaping} (RE2 syntax, github.com/google/re2/wiki/Syntax)`;
}

function nativeEngine(script: string): Engine {
  const searching = new RegExp(script, 'u');
  const walking = new RegExp(script, 'gu');
  return {
    test: (text) => searching.test(text),
    substitute: (text, replacement) => text.replace(walking, replacement),
    first: (text) => {
      const match = searching.exec(text);
      return match === null ? null : nativeMatch(match);
    },
    *all(text) {
      for (const match of text.matchAll(walking)) yield nativeMatch(match);
    },
  };
}

function nativeMatch(match: RegExpExecArray): PatternMatch {
  // A loop: Array.from with a function takes three times as long.
  const groups: (string | null)[] = [];
  for (let index = 0; index < match.length; index++) groups.push((match[index] as string | undefined) ?? null);
  return { start: match.index, end: match.index + match[0].length, groups };
}

function re2Engine(compiled: RE2JS): Engine {
  const count = compiled.groupCount();
  function* all(text: string): Iterable<PatternMatch> {
    const matcher = compiled.matcher(text);
    while (matcher.find()) {
      const groups = Array.from({ length: count + 1 }, (_, index) => matcher.group(index));
      yield { start: matcher.start(), end: matcher.end(), groups };
    }
  }
  return {
    test: (text) => compiled.matcher(text).find(),
    substitute: null,
    first: (text) => {
      for (const match of all(text)) return match;
      return null;
    },
    all,
  };
}
