// Regular expressions in RE2 syntax that run in linear time. The only importer of re2js. Patterns of the provably
// linear subset (linear-pattern.ts) run on the native RegExp; a differential test compares them with re2js.

import { RE2JS, RE2JSException } from 're2js';
import { TOO_MANY_STEPS } from '../compile/value.ts';
import { type ByteProgram, byteProgram } from './byte-automaton.ts';
import { type GreedyPattern, greedyPattern, linearPattern } from './linear-pattern.ts';
import { complement, foldedCharacters, type PatternProgram, type PatternStep } from './pattern-program.ts';

/** A match. `groups[0]` is the whole match; a group that did not take part is null. */
export interface PatternMatch {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | null)[];
}

/** A compiled pattern. It matches anywhere in a text unless it is anchored. */
export interface RegularExpression {
  readonly source: string;
  readonly groupCount: number;
  readonly groupNames: ReadonlyMap<string, number>;
  /** The engine that runs the pattern. */
  readonly engineName: 'native' | 're2';
  /** The form that a kernel can run; null if it cannot. */
  readonly greedy: GreedyPattern | null;
  /** Maximum number of re2js instructions executed per character; 0 for the native engine. */
  readonly program: number;
  /** The program of an automaton on bytes; null if it is too large, or contains unknown instructions. */
  bytes(): ByteProgram | null;
  test(text: string): boolean;
  first(text: string): PatternMatch | null;
  /**
   * All matches except empty ones directly after a match, as in RE2: a* in "baac" matches before b, aa, and at the
   * end. Throws TOO_MANY_STEPS if finding them takes far longer than one scan of the text.
   */
  all(text: string): Iterable<PatternMatch>;
  /**
   * Replaces every match, in JavaScript's replacement syntax (`$1`, `$$`). Null unless the native engine runs the
   * pattern, and for patterns that match the empty text. Does not limit the length of the result.
   */
  readonly substitute: ((text: string, replacement: string) => string) | null;
}

/** Maximum length of a pattern, in UTF-16 units: the maximum length of an expression. */
const PATTERN_LENGTH_MAX = 4096;

/**
 * Maximum size of a compiled pattern, in re2js instructions: in the worst case each costs 70 ns per character. RE2's
 * largest repetition of a class, `{1000}`, fits.
 */
const PATTERN_PROGRAM_MAX = 2_000;

/**
 * Maximum product of characters and instructions of one search: re2js takes 40 to 70 ns for each, so this is about a
 * second. A longer text is a row error, TOO_LONG, so that nothing blocks a thread for minutes.
 */
export const PATTERN_STEPS_MAX = 12_800_000;

/**
 * The same limit for a search that only tests for a match, if it can pause (long-find.ts). It takes a few nanoseconds
 * per character, or in the worst case as much as above.
 */
const PATTERN_TEST_STEPS_MAX = 10 * PATTERN_STEPS_MAX;

/** True if a text is short enough to search for the matches of a pattern. */
export function canSearch({ program }: RegularExpression, text: string): boolean {
  return text.length * program <= PATTERN_STEPS_MAX;
}

/** True if a text is short enough to test for a match. */
export function canTest(pattern: RegularExpression, text: string): boolean {
  const work = text.length * pattern.program;
  return work <= PATTERN_STEPS_MAX || (work <= PATTERN_TEST_STEPS_MAX && pattern.bytes() !== null);
}

/** The result of a search for all matches; null if the search takes too long. */
export function unlessTooLong<T>(search: () => T): T | null {
  try {
    return search();
  } catch (error) {
    if (error === TOO_MANY_STEPS) return null;
    throw error;
  }
}

/** Compiles a pattern, or returns a sentence about what to write instead. `forcedEngine` selects an engine, for tests. */
export function compileRegularExpression(
  source: string,
  forcedEngine?: 're2',
): RegularExpression | { problem: string } {
  if (source.length > PATTERN_LENGTH_MAX) return { problem: `A pattern has at most ${PATTERN_LENGTH_MAX} characters.` };
  if (repetitions(source) > PATTERN_PROGRAM_MAX) return { problem: TOO_LARGE };
  const known = forcedEngine === undefined && SIMPLE.test(source) ? linearPattern(source) : null;
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
  const script = forcedEngine === 're2' ? null : linearPattern(source);
  const engine = script === null ? re2Engine(compiled) : nativeEngine(script);
  const greedy = script === null ? null : greedyPattern(source);
  return {
    source,
    groupCount: compiled.groupCount(),
    groupNames,
    engineName: script === null ? 're2' : 'native',
    program: script === null ? compiled.programSize() : 0,
    greedy,
    bytes: bytesOf(source),
    ...engine,
  };
}

/** Made when first needed, and only once. */
function bytesOf(source: string): () => ByteProgram | null {
  let made: ByteProgram | null | undefined;
  return () => {
    if (made !== undefined) return made;
    const program = patternProgram(source);
    made = program === null ? null : byteProgram(program);
    return made;
  };
}

/**
 * Patterns that need no validation by re2js if they are in the linear subset: no repetition counts (which re2js
 * limits), no named groups, and too short to become too large. The first use of re2js in a process takes 8 ms.
 */
const SIMPLE = /^(?!.*\(\?)[ -z|]{0,256}$/;

function nativeExpression(source: string, script: string): RegularExpression {
  // The empty alternative always matches and returns an entry for each group.
  const groupCount = new RegExp(`${script}|`, 'u').exec('')!.length - 1;
  const greedy = greedyPattern(source);
  const known = { engineName: 'native', program: 0, greedy, bytes: bytesOf(source) } as const;
  return { source, groupCount, groupNames: new Map(), ...known, ...nativeEngine(script) };
}

const TOO_LARGE = 'The regular expression is too large. Repeat fewer times, or check the length with size().';

/**
 * Lower bound of the number of instructions that `{n}` creates. Checked before compiling, which takes half a second
 * in the worst case.
 */
function repetitions(source: string): number {
  let sum = 0;
  for (const [, least, most] of source.matchAll(/\{([0-9]{1,4})(?:,([0-9]{1,4})?)?\}/g)) sum += Number(most ?? least);
  return sum;
}

/** Maximum length of a quoted reason, which repeats a part of the pattern, in UTF-16 units. */
const REASON_LENGTH_MAX = 200;

type Engine = Pick<RegularExpression, 'test' | 'first' | 'all' | 'substitute'>;

function hint(source: string, error: RE2JSException): string {
  if (/\(\?<?[=!]/.test(source)) return ': look-ahead and look-behind ((?=...), (?!...)) do not exist in RE2';
  if (/\\[1-9]/.test(source)) return ': references to groups (\\1) do not exist in RE2';
  if (/[*+?}]\+|\(\?>/.test(source)) return ': possessive and atomic parts do not exist in RE2';
  if (/\{[0-9]{4,}|\{[0-9]*,[0-9]{4,}/.test(source)) return ': RE2 repeats at most 1000 times';
  // The library's message is, for example, "error parsing regexp: missing closing ): `(abc`".
  const reason = error.message.replace(/^error parsing regexp: /, '').slice(0, REASON_LENGTH_MAX);
  const escaping = /[)\](+*?{}]/.test(reason)
    ? '; a sign that stands for itself has a backslash before it, such as \\('
    : '';
  return `: ${reason}${escaping} (RE2 syntax, github.com/google/re2/wiki/Syntax)`;
}

function nativeEngine(script: string): Engine {
  const searching = new RegExp(script, 'u');
  const globalPattern = new RegExp(script, 'gu');
  return {
    test: (text) => searching.test(text),
    // A pattern of the subset that can match the empty text anywhere also matches "".
    substitute: searching.test('') ? null : (text, replacement) => text.replace(globalPattern, replacement),
    first: (text) => {
      const match = searching.exec(text);
      return match === null ? null : nativeMatch(match);
    },
    all: (text) => nativeMatches(text.matchAll(globalPattern)),
  };
}

function* nativeMatches(found: Iterable<RegExpExecArray>): Iterable<PatternMatch> {
  let before = -1;
  for (const match of found) {
    const end = match.index + match[0].length;
    if (end > match.index || end !== before) yield nativeMatch(match);
    before = end;
  }
}

function nativeMatch(match: RegExpExecArray): PatternMatch {
  // A loop, because Array.from with a function takes three times as long.
  const groups: (string | null)[] = [];
  for (let index = 0; index < match.length; index++) groups.push((match[index] as string | undefined) ?? null);
  return { start: match.index, end: match.index + match[0].length, groups };
}

/**
 * Allowed reads of a text by the library: a multiple of each match's length, including its groups, plus what canSearch
 * allows. For some patterns, the library reads to the end of the text for each match (`x(?:.*y)?`), which takes
 * quadratic time.
 */
const READS_PER_MATCH = 32;
const READS_PER_CHARACTER = 24;
const EXTRA_SEARCHES = 8;

/** A text that counts how many characters are read. A String object, because the library accepts no other object. */
class CountedText extends String {
  readonly #text: string;
  #left: number;

  constructor(text: string, program: number) {
    super(text);
    this.#text = text;
    this.#left = (EXTRA_SEARCHES * PATTERN_STEPS_MAX) / program;
  }

  /** Called after a match, with the number of characters since the previous match. */
  allow(characters: number): void {
    this.#left += READS_PER_MATCH + READS_PER_CHARACTER * characters;
  }

  override charCodeAt(at: number): number {
    if (--this.#left < 0) throw TOO_MANY_STEPS;
    return this.#text.charCodeAt(at);
  }

  override indexOf(part: string, from = 0): number {
    const found = this.#text.indexOf(part, from);
    this.#left -= (found < 0 ? this.#text.length : found) - from;
    if (this.#left < 0) throw TOO_MANY_STEPS;
    return found;
  }
}

/** Returns null if the text is so short that even a full read for each match is acceptable. */
function countedText(text: string, program: number): CountedText | null {
  return text.length * text.length * program <= PATTERN_STEPS_MAX ? null : new CountedText(text, program);
}

function re2Engine(compiled: RE2JS): Engine {
  const count = compiled.groupCount();
  function* all(text: string): Iterable<PatternMatch> {
    const counted = countedText(text, compiled.programSize());
    const matcher = compiled.matcher((counted as string | null) ?? text);
    let before = -1;
    while (matcher.find()) {
      counted?.allow(matcher.end() - Math.max(before, 0));
      const isRepeated = matcher.start() === matcher.end() && matcher.end() === before;
      before = matcher.end();
      if (isRepeated) continue;
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

/**
 * The program that re2js compiles from a valid pattern, for an automaton; null if it contains unknown instructions.
 */
export function patternProgram(source: string): PatternProgram | null {
  const { inst, start } = RE2JS.compile(source).re2().prog as { inst: readonly Instruction[]; start: number };
  const steps: PatternStep[] = [];
  for (const instruction of inst) {
    const step = stepOf(instruction);
    if (step === null) return null;
    steps.push(step);
  }
  return { steps, start };
}

/** An instruction of re2js; `op` is one of OPERATIONS. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(point: number): boolean;
}

const OPERATIONS = { alt: 1, altMatch: 2, capture: 3, emptyWidth: 4, fail: 5, match: 6, nop: 7 } as const;
const CHARACTER_OPERATIONS = { rune: 8, rune1: 9, runeAny: 10, runeAnyNotNewline: 11 } as const;

function stepOf(instruction: Instruction): PatternStep | null {
  const { op, out: next, arg, runes } = instruction;
  switch (op) {
    case OPERATIONS.alt:
    case OPERATIONS.altMatch:
      return { kind: 'either', next, other: arg };
    case OPERATIONS.capture:
      return { kind: 'capture', slot: arg, next };
    case OPERATIONS.nop:
      return { kind: 'pass', next };
    case OPERATIONS.emptyWidth:
      return { kind: 'assert', assertions: arg, next };
    case OPERATIONS.fail:
      return { kind: 'fail' };
    case OPERATIONS.match:
      return { kind: 'match' };
    case CHARACTER_OPERATIONS.runeAny:
      return { kind: 'characters', set: complement([]), next };
    case CHARACTER_OPERATIONS.runeAnyNotNewline:
      return { kind: 'characters', set: complement([10, 10]), next };
    case CHARACTER_OPERATIONS.rune:
    case CHARACTER_OPERATIONS.rune1: {
      // A single character may stand for its case variants; several numbers are ranges.
      const set = runes.length === 1 ? foldedCharacters(runes[0]!, (point) => instruction.matchRune(point)) : runes;
      return { kind: 'characters', set: Array.from(set), next };
    }
    default:
      return null;
  }
}

// Maximum length of a text for which kernels may run a pattern, so that kernels and re2js give the same results.

/** Share of canSearch's limit: keeps an expression that combines several texts within its step budget. */
const SURE_SHARE = 16;

/**
 * Longest text, in bytes, for which a pattern always finds a group of its first match, or all of its matches, without
 * TOO_LONG. Up to this length, all engines give the same result.
 */
export function searchedBytesMax({ program }: RegularExpression, finds: 'group' | 'all'): number {
  const characters = PATTERN_STEPS_MAX / Math.max(1, program);
  return Math.floor(
    program === 0 ? PATTERN_STEPS_MAX : finds === 'all' ? Math.sqrt(characters) : characters / SURE_SHARE,
  );
}
