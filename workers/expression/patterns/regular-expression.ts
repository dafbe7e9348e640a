// Owns regular expressions: RE2's syntax in linear time. The only importer of re2js; patterns of the provably linear
// subset (linear-pattern.ts) run on the native RegExp, which a differential test holds against re2js.
import { RE2JS, RE2JSException } from 're2js';
import { TOO_MANY_STEPS } from '../compile/evaluation-error.ts';
import { complement } from './character-set.ts';
import { type GreedyPattern, greedyPattern } from './greedy-pattern.ts';
import { linearPattern } from './linear-pattern.ts';
import { foldedCharacters, type PatternProgram, type PatternStep } from './pattern-program.ts';

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
  /**
   * Every match but the empty ones right behind a match, as RE2 has it: a* in "baac" is found before b, as aa, and at the end.
   * Throws TOO_MANY_STEPS where finding them takes far longer than walking the text once.
   */
  all(text: string): Iterable<PatternMatch>;
  /** Every match replaced by JavaScript's replacement syntax (`$1`, `$$`); on the native lane only, and never of a pattern that matches the empty text. No limit on its result. */
  readonly substitute: ((text: string, replacement: string) => string) | null;
}

/** Longest pattern in UTF-16 units: no longer than an expression may be. */
const PATTERN_LENGTH_MAX = 4096;

/**
 * Largest program that a pattern may become, in re2js instructions: what it costs per character in the worst case, 70 ns
 * each. RE2's own largest repetition of a class, `{1000}`, fits.
 */
const PATTERN_PROGRAM_MAX = 2_000;

/**
 * Characters times instructions of one search at most: re2js walks a program for 40 to 70 ns each, so this is a second. What
 * is longer is a row error, TOO_LONG: nothing may hold a thread for minutes.
 */
export const PATTERN_WALK_MAX = 12_800_000;

/** The same where a search only says whether there is a match: mostly 15 ns a character, at worst as much as the other. */
const PATTERN_TEST_MAX = 10 * PATTERN_WALK_MAX;

/** Whether a text is short enough to be walked by a pattern for what it matches. */
export function mayWalk({ program }: RegularExpression, text: string): boolean {
  return text.length * program <= PATTERN_WALK_MAX;
}

/** Whether a text is short enough to be asked for a match. */
export function mayTest({ program }: RegularExpression, text: string): boolean {
  return text.length * program <= PATTERN_TEST_MAX;
}

/** What comes of walking a text for all matches of a pattern; null where finding them takes too long. */
export function ifWalked<T>(walk: () => T): T | null {
  try {
    return walk();
  } catch (error) {
    if (error === TOO_MANY_STEPS) return null;
    throw error;
  }
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
    // A pattern of the subset that can be empty anywhere is so in the empty text.
    substitute: searching.test('') ? null : (text, replacement) => text.replace(walking, replacement),
    first: (text) => {
      const match = searching.exec(text);
      return match === null ? null : nativeMatch(match);
    },
    all: (text) => nativeMatches(text.matchAll(walking)),
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
  // A loop: Array.from with a function takes three times as long.
  const groups: (string | null)[] = [];
  for (let index = 0; index < match.length; index++) groups.push((match[index] as string | undefined) ?? null);
  return { start: match.index, end: match.index + match[0].length, groups };
}

/**
 * What the library may read of a text: some times the match that it finds, its groups included, and beyond that no more than
 * mayWalk allows. For some patterns it reads on to the end of the text for each match (`x(?:.*y)?`): the square of its length.
 */
const READS_PER_MATCH = 32;
const READS_PER_CHARACTER = 24;
const WALKS_BEYOND = 8;

/** A text that counts what is read of it. It is a String, since the library takes no other object. */
class CountedText extends String {
  readonly #text: string;
  #left: number;

  constructor(text: string, program: number) {
    super(text);
    this.#text = text;
    this.#left = (WALKS_BEYOND * PATTERN_WALK_MAX) / program;
  }

  /** After a match, with the characters since the one before. */
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

/** Null where reading all of the text for each match is not too much. */
function countedText(text: string, program: number): CountedText | null {
  return text.length * text.length * program <= PATTERN_WALK_MAX ? null : new CountedText(text, program);
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

/** The program that re2js makes of a pattern that it takes, for an automaton; null where it has steps that none knows. */
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
      // One character may stand for those that differ from it in case; more are ranges.
      const set = runes.length === 1 ? foldedCharacters(runes[0]!, (point) => instruction.matchRune(point)) : runes;
      return { kind: 'characters', set: Array.from(set), next };
    }
    default:
      return null;
  }
}
