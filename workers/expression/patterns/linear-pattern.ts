// The subset of RE2 patterns that a backtracking engine provably runs in linear time, and the part of it that a kernel
// runs.
import { BLANK, type CharacterSet, complement, DIGIT, overlaps, scriptOfSet, union, WORD } from './pattern-program.ts';

// The subset of RE2 patterns that a backtracking engine provably runs in linear time, and their translation to
// JavaScript's syntax. Patterns outside the subset run on re2js (regular-expression.ts).
//
// The subset: a sequence of characters, classes, `.`, groups of alternatives without quantifiers, and quantifiers on
// single characters or classes. OPTIONS_MAX limits the combinations of all choices except one unbounded quantifier.
// The cost of one start position is then at most OPTIONS_MAX times the length, provided that nothing that may follow
// an unbounded quantifier can begin with a character that the quantifier also accepts (then backtracking never
// helps). A search tries every start position, so an unbounded quantifier must either follow `^` or end the pattern,
// where it cannot fail.

/** The pattern in JavaScript's syntax (flag u), or null if it is outside the subset. */
export function linearPattern(source: string): string | null {
  return (
    linearItems(source)
      ?.map((item) => item.script)
      .join('') ?? null
  );
}

/** The parts of the pattern, or null if it is outside the subset. */
function linearItems(source: string): readonly PatternPart[] | null {
  const items = new Reader(source).read();
  return items === null || !isLinear(withoutGroups(items)) ? null : items;
}

/**
 * Replaces groups with a single alternative by their content, which does not change the matches. Adds to `spans` the
 * item range of each capturing group, in the order in which the groups open. Anchors do not count as items.
 */
function withoutGroups(parts: readonly PatternPart[], spans: [from: number, to: number][] = []): PatternPart[] {
  const flat: PatternPart[] = [];
  addParts(parts, flat, spans);
  return flat;
}

function addParts(parts: readonly PatternPart[], flat: PatternPart[], spans: [from: number, to: number][]): void {
  const items = (): number => flat.filter(({ anchor }) => anchor === '').length;
  for (const part of parts) {
    if (part.inside?.length !== 1) {
      flat.push(part);
      continue;
    }
    const span: [from: number, to: number] = [items(), 0];
    if (part.captures) spans.push(span);
    addParts(part.inside[0]!, flat, spans);
    span[1] = items();
  }
}

/** Maximum number of combinations of a pattern's bounded choices. */
const OPTIONS_MAX = 64;

/**
 * Maximum number of characters compared at one start position, in the worst case, if a search tries every position: a
 * few hundred nanoseconds.
 */
const START_WORK_MAX = 256;

/** A character, class, group or anchor of a pattern, with its quantifier. */
export interface PatternPart {
  readonly script: string;
  /** Characters with which it can start; null for an anchor, which consumes nothing. */
  readonly first: CharacterSet | null;
  /** True if it can match without consuming a character. */
  readonly empty: boolean;
  /** True if it has an unbounded quantifier. */
  readonly unbounded: boolean;
  /** Number of ways in which it can match at one position, without unbounded quantifiers. */
  readonly options: number;
  readonly anchor: '' | '^' | '$';
  /** Repetition of its set; 1 for a group. */
  readonly least: number;
  readonly most: number | null;
  /** The alternatives of a group. */
  readonly inside: readonly (readonly PatternPart[])[] | null;
  readonly captures: boolean;
}

/** Defaults of most items. */
const PLAIN = { least: 1, most: 1, inside: null, captures: false } as const;

function isLinear(items: readonly PatternPart[]): boolean {
  let options = 1;
  for (const item of items) options *= item.options;
  if (options > OPTIONS_MAX) return false;
  const anchored = items[0]?.anchor === '^';
  if (!anchored && startWork(items) > START_WORK_MAX) return false;
  for (const [index, item] of items.entries()) {
    if (item.anchor === '^' && index !== 0) return false;
    if (item.anchor === '$' && index !== items.length - 1) return false;
    if (!item.unbounded) continue;
    const last = index === items.length - 1;
    if (!anchored && !last) return false;
    if (!last && !isFollowedApart(items, index)) return false;
  }
  return true;
}

/**
 * Number of characters compared at one start position: after each way in which an item can match, all following items
 * are tried again.
 */
function startWork(items: readonly PatternPart[]): number {
  return items.reduceRight((after, item) => widthOf(item) + item.options * after, 0);
}

/** Number of characters that an item compares. For an unbounded item, which ends the pattern, its minimum. */
function widthOf({ least, most, inside }: PatternPart): number {
  return inside === null ? (most ?? least) : inside.reduce((sum, items) => sum + startWork(items), 0);
}

/** True if nothing that may directly follow an item can start with a character that the item accepts. */
function isFollowedApart(items: readonly PatternPart[], index: number): boolean {
  const taken = items[index]!.first!;
  for (const next of items.slice(index + 1)) {
    if (next.first !== null && overlaps(taken, next.first)) return false;
    if (next.first !== null && !next.empty) return true;
  }
  return true;
}

/**
 * The end of the text in JavaScript's syntax. V8 14 (Node 26) tries a pattern that ends with `$` only as many UTF-16 units
 * before the end as the pattern has characters, and so misses characters of two units. It does not do so for `(?=$)`.
 */
const TEXT_END = /[^ ]$/u.test('😀') ? '$' : '(?=$)';

/** Parses a pattern. Every method returns null at the first construct outside the subset. */
class Reader {
  readonly #characters: readonly string[];
  #position = 0;

  constructor(source: string) {
    this.#characters = [...source];
  }

  read(): PatternPart[] | null {
    const items = this.#sequence();
    if (items === null) return null;
    if (this.#peek() !== '|') return this.#position === this.#characters.length ? items : null;
    // Top-level alternatives are treated like a non-capturing group.
    this.#position = 0;
    const group = this.#alternatives('(?:');
    return group === null || this.#position !== this.#characters.length ? null : [group];
  }

  #peek(): string | undefined {
    return this.#characters[this.#position];
  }

  #sequence(): PatternPart[] | null {
    const items: PatternPart[] = [];
    for (;;) {
      const character = this.#peek();
      if (character === undefined || character === ')' || character === '|') return items;
      const item = this.#item();
      if (item === null) return null;
      items.push(item);
    }
  }

  #item(): PatternPart | null {
    const character = this.#peek()!;
    if (character === '^' || character === '$') {
      this.#position++;
      const script = character === '$' ? TEXT_END : character;
      return { ...PLAIN, script, first: null, empty: true, unbounded: false, options: 1, anchor: character };
    }
    if (character === '(') return this.#group();
    const set = this.#set();
    return set === null ? null : this.#quantified(set);
  }

  #group(): PatternPart | null {
    this.#position++;
    let opening = '(';
    if (this.#peek() === '?') {
      const rest = this.#characters.slice(this.#position, this.#position + GROUP_NAME_MAX).join('');
      // Group names are handled by re2js; here a group only has its number.
      const match = /^\?(?::|P?<[A-Za-z_][A-Za-z0-9_]*>)/.exec(rest);
      if (match === null) return null;
      this.#position += match[0].length;
      opening = match[0] === '?:' ? '(?:' : '(';
    }
    const group = this.#alternatives(opening);
    if (group === null || this.#peek() !== ')') return null;
    this.#position++;
    return QUANTIFIERS.has(this.#peek() ?? '') ? null : group;
  }

  #alternatives(opening: string): PatternPart | null {
    const inside: PatternPart[][] = [];
    let options = 0;
    for (;;) {
      const items = this.#sequence();
      if (items === null || items.length === 0 || items.some(({ first }) => first === null)) return null;
      inside.push(items);
      options += items.reduce((product, item) => product * item.options, 1);
      if (this.#peek() !== '|') break;
      this.#position++;
    }
    const varies = inside.some((items) => items.some(({ empty, unbounded }) => empty || unbounded));
    // If there are alternatives, nothing inside may vary in length or be empty, so that the alternatives are the only
    // choice.
    if (inside.length > 1 && varies) return null;
    const script = `${opening}${inside.map((items) => items.map((item) => item.script).join('')).join('|')})`;
    return {
      ...PLAIN,
      script,
      first: union(...inside.map(firstOf)),
      empty: inside.some((items) => items.every(({ empty }) => empty)),
      unbounded: inside.some((items) => items.some(({ unbounded }) => unbounded)),
      options,
      anchor: '',
      inside,
      captures: opening === '(',
    };
  }

  #quantified(set: CharacterSet): PatternPart | null {
    const script = scriptOfSet(set);
    const plain: PatternPart = { ...PLAIN, script, first: set, empty: false, unbounded: false, options: 1, anchor: '' };
    const rest = this.#characters.slice(this.#position, this.#position + 12).join('');
    const match = /^(?:([*+?])|\{([0-9]{1,3})(,([0-9]{1,3})?)?\})/.exec(rest);
    if (match === null) return QUANTIFIERS.has(this.#peek() ?? '') ? null : plain;
    this.#position += match[0].length;
    // Lazy and double quantifiers are left to re2js.
    if (QUANTIFIERS.has(this.#peek() ?? '')) return null;
    const least = match[1] === '+' ? 1 : match[1] !== undefined ? 0 : Number(match[2]);
    const most = match[1] === '?' ? 1 : match[1] !== undefined ? null : boundOf(match, least);
    if (most !== null && (most < least || most === 0)) return null;
    const options = most === null ? 1 : most - least + 1;
    const bounds = { least, most, empty: least === 0, unbounded: most === null };
    return { ...PLAIN, ...bounds, script: script + match[0], first: set, options, anchor: '' };
  }

  /** Parses one character or class. */
  #set(): CharacterSet | null {
    const character = this.#peek()!;
    this.#position++;
    if (character === '.') return complement([10, 10]);
    if (character === '[') return this.#class();
    if (character === '\\') return this.#escape();
    if ('*+?{}]'.includes(character)) return null;
    const code = character.codePointAt(0)!;
    return [code, code];
  }

  #escape(): CharacterSet | null {
    const character = this.#peek();
    this.#position++;
    if (character === undefined) return null;
    const named = ESCAPES.get(character);
    if (named !== undefined) return named;
    // In RE2, a backslash before ASCII punctuation means the punctuation character.
    return /^[!-/:-@[-`{-~]$/.test(character) ? [character.charCodeAt(0), character.charCodeAt(0)] : null;
  }

  #class(): CharacterSet | null {
    const sets: CharacterSet[] = [];
    const negated = this.#peek() === '^';
    if (negated) this.#position++;
    for (let first = true; ; first = false) {
      const character = this.#peek();
      if (character === undefined || character === '[' || (first && character === ']')) return null;
      this.#position++;
      if (character === ']') return negated ? complement(union(...sets)) : union(...sets);
      const from =
        character === '\\' ? this.#escape() : ([character.codePointAt(0)!, character.codePointAt(0)!] as const);
      if (from === null) return null;
      sets.push(from);
      if (this.#peek() !== '-' || this.#characters[this.#position + 1] === ']') continue;
      this.#position++;
      const end = this.#peek();
      if (end === undefined || '\\['.includes(end) || from.length !== 2 || from[0] !== from[1]) return null;
      this.#position++;
      if (end.codePointAt(0)! < from[0]!) return null;
      sets.push([from[0]!, end.codePointAt(0)!]);
    }
  }
}

/** Characters with which a sequence can start. */
function firstOf(items: readonly PatternPart[]): CharacterSet {
  const filled = items.findIndex(({ empty }) => !empty);
  const may = filled < 0 ? items : items.slice(0, filled + 1);
  return union(...may.map(({ first }) => first!));
}

function boundOf(match: RegExpExecArray, least: number): number | null {
  if (match[3] === undefined) return least;
  return match[4] === undefined ? null : Number(match[4]);
}

/** Longer group names are left to re2js. */
const GROUP_NAME_MAX = 64;

const QUANTIFIERS: ReadonlySet<string> = new Set(['*', '+', '?', '{']);

const ESCAPES: ReadonlyMap<string, CharacterSet> = new Map([
  ['d', DIGIT],
  ['D', complement(DIGIT)],
  ['w', WORD],
  ['W', complement(WORD)],
  ['s', BLANK],
  ['S', complement(BLANK)],
  ['t', [9, 9]],
  ['n', [10, 10]],
  ['f', [12, 12]],
  ['r', [13, 13]],
]);

// The part of the linear subset that a kernel runs: patterns that never backtrack.

/** A set of characters and its repetition; `most` is null if it is unbounded. */
export interface PatternItem {
  readonly set: CharacterSet;
  readonly least: number;
  readonly most: number | null;
}

/** A pattern of the subset that never backtracks: each item consumes as many characters as possible. */
export interface GreedyPattern {
  readonly items: readonly PatternItem[];
  /** The items [from, to) of each group, starting with the whole match. */
  readonly groups: readonly (readonly [from: number, to: number])[];
  readonly fromStart: boolean;
  readonly toEnd: boolean;
}

/**
 * Converts a pattern to items. Null if it is outside the subset, has alternatives, may match the empty text, or has
 * an item that may have to consume fewer characters than possible.
 */
export function greedyPattern(source: string): GreedyPattern | null {
  const read = linearItems(source);
  if (read === null) return null;
  const groups: [number, number][] = [];
  const flat = withoutGroups(read, groups);
  if (flat.some(({ inside }) => inside !== null)) return null;
  const items = flat.filter(({ anchor }) => anchor === '');
  if (items.every(({ empty }) => empty)) return null;
  if (items.some(({ least, most }, index) => least !== most && !isFollowedApart(items, index))) return null;
  return {
    items: items.map(({ first, least, most }) => ({ set: first!, least, most })),
    groups: [[0, items.length], ...groups],
    fromStart: flat[0]?.anchor === '^',
    toEnd: flat.at(-1)?.anchor === '$',
  };
}
