// Kernels for regular expressions (patterns.ts), against the engines that match the same patterns in strings.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { PatternMatcher, placePattern } from '../../../workers/execution/cells/pattern-matcher.ts';
import {
  ByteAutomaton,
  byteProgram,
  STATE_DEAD,
  STATE_MATCHED,
} from '../../../workers/expression/patterns/byte-automaton.ts';
import {
  compileRegularExpression,
  patternProgram,
  type RegularExpression,
} from '../../../workers/expression/patterns/regular-expression.ts';
import { FALSE, NULL, SET, TRUE } from '../../../workers/kernel/layout/expressions.ts';
import {
  AUTOMATON_HEAD_BYTES,
  CLASSES,
  DEAD,
  END_CLASS,
  MATCHED,
  MISSING_CLASS,
  MISSING_STATE,
  NEXT_FREE,
  PIECE_BYTES,
  PIECE_GROUP,
  PIECE_TEXT,
  START,
} from '../../../workers/kernel/layout/patterns.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { checkKernel, columnOf, type KernelRig, rowOf } from './kernel-rig.ts';

const RUNS = sweep({ short: 60, long: 200 });
/** Longer than any cell in these tests becomes. */
const NO_LIMIT = 1_000_000;
const ALL = 0xffff_ffff;
/** Bytes that the kernels keep free for their copies. */
const COPY_BYTES = 16;

const text = fc
  .tuple(
    fc.constantFrom(0, 0, 0, 14, 15, 16, 17, 31),
    fc.array(fc.constantFrom('a', 'b', 'ab', '1', '22', '-', ' ', 'A', 'é', '漢'), { maxLength: 9 }),
  )
  .map(([fill, parts]) => `${'-'.repeat(fill)}${parts.join('')}`);
const cells = columnOf(fc.option(text, { nil: null, freq: 8 }));

function compiled(source: string, engine?: 're2'): RegularExpression {
  const made = compileRegularExpression(source, engine);
  if ('problem' in made) throw new Error(made.problem);
  return made;
}

/** Patterns that a single pass can match. */
const GREEDY = [
  'a',
  'ab[0-9]+',
  '[ab]+(?:-)',
  '([0-9]{1,2})-',
  '^[-]*(a+)(b?)',
  '([a-b]+)$',
  '([^-]+)-',
  '[0-9]+',
].flatMap((source) => {
  const expression = compiled(source);
  return expression.greedy === null ? [] : [{ expression, greedy: expression.greedy }];
});

/** True for cells that a kernel may leave to an engine: with a byte above 127. */
const isWide = (cell: string | null): boolean => cell !== null && /[^\0-\x7f]/.test(cell);

checkKernel(
  'findPattern: what a group of the first match holds, or it lists the row',
  fc.tuple(cells, fc.constantFrom(...GREEDY), fc.nat(), fc.boolean()),
  (rig, [values, { expression, greedy }, pick, listsMisses], before) => {
    const count = values.length;
    const group = pick % greedy.groups.length;
    const program = placePattern(rig.heap, greedy, [], 1);
    const [from, to] = greedy.groups[group]!;
    const views = rig.texts(values, before);
    const found = rig.region(count * 16, before);
    const todo = rig.region((count + 1) * 4, before);
    const form = [program, from, to, Number(listsMisses), found, todo] as const;
    rig.exports.findPattern(views, rig.rows(count), count, ...form);
    const listed = rig.wordValues(todo + 4, rig.word(todo));
    for (const [position, cell] of values.entries()) {
      const match = cell === null ? null : expression.first(cell);
      const isListed = listed.includes(rowOf(position));
      if (isListed) ok(isWide(cell) || (listsMisses && match === null));
      else ok(cell === null || match !== null || !listsMisses);
      const expected = isListed ? null : match?.groups[group] || null;
      equal(rig.textAt(found + rowOf(position) * 8), expected);
    }
  },
  RUNS,
);

const rarely = fc.constantFrom(false, false, false, true);
/** Parts of a replacement: texts and numbers of groups. */
const parts = fc.array(fc.constantFrom<string | number>('<', '<', '', 0, 1, 'a text that is longer than a vector'), {
  minLength: 1,
  maxLength: 3,
});
const times = fc.constantFrom(1, 2, ALL, ALL, ALL);

function replaced(expression: RegularExpression, cell: string, pieces: readonly (string | number)[], most: number) {
  let made = '';
  let from = 0;
  let left = most;
  for (const { start, end, groups } of expression.all(cell)) {
    if (left === 0) break;
    left -= 1;
    made += cell.slice(from, start);
    for (const piece of pieces) made += typeof piece === 'string' ? piece : (groups[piece] ?? '');
    from = end;
  }
  return made + cell.slice(from);
}

checkKernel(
  'replacePattern: the first matches replaced by pieces, or it lists the row',
  fc.tuple(cells, fc.constantFrom(...GREEDY), parts, times, rarely),
  (rig, [values, { expression, greedy }, pieces, most, isShort], before) => {
    const count = values.length;
    const known = pieces.filter((piece) => typeof piece === 'string' || piece < greedy.groups.length);
    const program = placePattern(rig.heap, greedy, known, most);
    const expected = values.map((cell) => (cell === null ? null : replaced(expression, cell, known, most)));
    const views = rig.texts(values, before);
    const rows = rig.rows(count);
    const todo = rig.region((count + 1) * 4, before);
    const bytes = expected.reduce((sum, cell) => sum + Buffer.byteLength(cell ?? '') + 1, COPY_BYTES * 2);
    const free = isShort ? 0 : bytes;
    const next = rig.region(free, before);
    const form = [program, NO_LIMIT, next, next + free, todo] as const;
    const end = rig.exports.replacePattern(views, rows, count, ...form) >>> 0;
    if (end === 0) {
      ok(isShort && values.some((cell) => cell !== null && expression.test(cell)));
      return;
    }
    const listed = rig.wordValues(todo + 4, rig.word(todo));
    const kept = values.map((_, position) => rowOf(position)).filter((row) => !listed.includes(row));
    deepStrictEqual(rig.wordValues(rows, kept.length), kept);
    for (const [position, cell] of values.entries()) {
      const isListed = listed.includes(rowOf(position));
      if (isListed) ok(isWide(cell));
      equal(rig.textAt(views + rowOf(position) * 8), isListed ? cell : expected[position]);
    }
  },
  RUNS,
);

const SEARCHED = ['a', 'ab|1', '^a', 'b$', '\\bA', '\\B1', 'é', '[^a]{3}', '(?i:a)B', '漢.', '^$', '(?m:^)b'].map(
  (source) => compiled(source, 're2'),
);

/** Places an automaton without transitions. Returns its head, and a function that builds a missing transition. */
function placeAutomaton(rig: KernelRig, source: string, before: number): { head: number; grow(): void } {
  const automaton = new ByteAutomaton(byteProgram(patternProgram(source)!)!);
  const rowBytes = (automaton.endClass + 1) * 4;
  const table = rig.region(40_000, before - (before % 4));
  const rows = new Map<number, number>();
  const states = new Map<number, number>();
  const entryOf = (state: number): number => {
    if (state === STATE_DEAD) return DEAD;
    if (state === STATE_MATCHED) return MATCHED;
    const row = rows.get(state) ?? table + rows.size * rowBytes;
    if (row + rowBytes > table + 40_000) throw new Error('the automaton has too many states for the test');
    if (!rows.has(state)) rig.bytes.fill(0, row, row + rowBytes);
    rows.set(state, row);
    states.set(row, state);
    return row;
  };
  const head = rig.region(AUTOMATON_HEAD_BYTES, 8);
  rig.setWord(head + CLASSES, rig.byteList([...automaton.classes], before));
  rig.setWord(head + END_CLASS, automaton.endClass);
  rig.setWord(head + START, entryOf(automaton.start));
  return {
    head,
    grow() {
      const row = rig.word(head + MISSING_STATE);
      const byteClass = rig.word(head + MISSING_CLASS);
      rig.setWord(row + byteClass * 4, entryOf(automaton.next(states.get(row)!, byteClass)!));
    },
  };
}

checkKernel(
  'matchPattern: which texts match, while the automaton is built',
  fc.tuple(cells, fc.constantFrom(...SEARCHED)),
  (rig, [values, expression], before) => {
    const count = values.length;
    const { head, grow } = placeAutomaton(rig, expression.source, before);
    const views = rig.texts(values, before);
    const rows = rig.rows(count);
    const states = rig.byteList(Array<number>(count).fill(9), before);
    for (let from = 0; ; grow()) {
      from = rig.exports.matchPattern(head, views, rows, count, from, states, SET);
      if (from === count) break;
    }
    deepStrictEqual(
      rig.byteValues(states, count),
      values.map((cell) => (cell === null ? NULL : expression.test(cell) ? TRUE : FALSE)),
    );
  },
  RUNS,
);

/** Patterns with alternatives, optional groups and empty matches. */
const WALKED = [
  '(a|ab)(1|b)?',
  '(?:(a)|(b)|é)+',
  'a*',
  '(-+)|([0-9])',
  '\\b([aA])',
  '(.)(漢)?$',
  '[ab]*?(b)',
  '^(-*)',
].map((source) => compiled(source, 're2'));

/** Calls a kernel until it has processed all rows. */
function walkAll(walker: PatternMatcher, count: number, kernel: (from: number) => number): boolean {
  const work = walker.drive(count, { isDue: () => false }, kernel);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

checkKernel(
  'findCaptures: the groups of the first match of each cell',
  fc.tuple(cells, fc.constantFrom(...WALKED), fc.boolean(), fc.boolean()),
  (rig, [values, expression, keepsEmpty, listsMisses], before) => {
    const count = values.length;
    const groups = Array.from({ length: expression.groupCount + 1 }, (_, group) => group);
    const walker = PatternMatcher.of(rig.heap, expression, groups, 'group')!;
    const views = rig.texts(values, before);
    const rows = rig.rows(count);
    const stride = count * 16;
    const found = rig.region(stride * groups.length, before);
    const todo = rig.wordList(Array<number>(count + 1).fill(0), before);
    const form = [groups.length, Number(keepsEmpty), Number(listsMisses), found, stride, todo] as const;
    walkAll(walker, count, (from) =>
      rig.exports.findCaptures(views, rows, count, from, walker.machine, walker.wanted, ...form),
    );
    const matches = values.map((cell) => (cell === null ? null : expression.first(cell)));
    deepStrictEqual(
      rig.wordValues(todo + 4, rig.word(todo)),
      matches.flatMap((match, position) =>
        listsMisses && match === null && values[position] !== null ? [rowOf(position)] : [],
      ),
    );
    for (const [position, match] of matches.entries()) {
      deepStrictEqual(
        groups.map((_, group) => rig.textAt(found + group * stride + rowOf(position) * 8)),
        groups.map((group) => (keepsEmpty ? (match?.groups[group] ?? null) : match?.groups[group] || null)),
      );
    }
  },
  RUNS,
);

checkKernel(
  'replaceCaptures: the first matches replaced by pieces',
  fc.tuple(cells, fc.constantFrom(...WALKED), parts, times, rarely),
  (rig, [values, expression, given, most, isShort], before) => {
    const count = values.length;
    const pieces = given.filter((piece) => typeof piece === 'string' || piece <= expression.groupCount);
    const groups = pieces.filter((piece) => typeof piece === 'number');
    const walker = PatternMatcher.of(rig.heap, expression, groups, 'all')!;
    const list = rig.wordList(
      pieces.flatMap((piece) => {
        if (typeof piece === 'number') return [PIECE_GROUP, walker.slotOf(piece), 0];
        return [PIECE_TEXT, rig.byteList([...Buffer.from(piece)], before), Buffer.byteLength(piece)];
      }),
      8,
    );
    const expected = values.map((cell) => (cell === null ? null : replaced(expression, cell, pieces, most)));
    const views = rig.texts(values, before);
    const rows = rig.rows(count);
    const todo = rig.wordList(Array<number>(count + 1).fill(0), before);
    const bytes = expected.reduce((sum, cell) => sum + Buffer.byteLength(cell ?? '') + 1, COPY_BYTES * 2);
    const free = isShort ? 0 : bytes;
    const next = rig.region(free, before);
    rig.setWord(walker.machine + NEXT_FREE, next);
    const listEnd = list + pieces.length * PIECE_BYTES;
    const form = [list, listEnd, most, NO_LIMIT, next + free, todo] as const;
    const isDone = walkAll(walker, count, (from) =>
      rig.exports.replaceCaptures(views, rows, count, from, walker.machine, ...form),
    );
    if (!isDone) {
      ok(isShort && values.some((cell) => cell !== null && expression.test(cell)));
      return;
    }
    equal(rig.word(todo), 0);
    deepStrictEqual(rig.textsOf(views, count), expected);
  },
  RUNS * 2,
);

function splitAt(expression: RegularExpression, cell: string, count: number, last: number): (string | null)[] {
  const made: (string | null)[] = [];
  let from = 0;
  for (const { start, end } of expression.all(cell)) {
    if (start === end || made.length === count || made.length === last) continue;
    made.push(cell.slice(from, start));
    from = end;
  }
  if (made.length < count) made.push(cell.slice(from));
  return [...made, ...Array<null>(count - made.length).fill(null)];
}

checkKernel(
  'splitCaptures: the texts between the matches of each cell, where the last one may take the rest',
  fc.tuple(cells, fc.constantFrom(...WALKED), fc.integer({ min: 1, max: 4 }), fc.boolean()),
  (rig, [values, expression, count, takesRest], before) => {
    const length = values.length;
    const walker = PatternMatcher.of(rig.heap, expression, [], 'all')!;
    const views = rig.texts(values, before);
    const rows = rig.rows(length);
    const stride = length * 16;
    const found = rig.region(stride * count, before);
    const todo = rig.wordList(Array<number>(length + 1).fill(0), before);
    const last = takesRest ? count - 1 : count;
    walkAll(walker, length, (from) =>
      rig.exports.splitCaptures(views, rows, length, from, walker.machine, count, last, found, stride, todo),
    );
    equal(rig.word(todo), 0);
    for (const [position, cell] of values.entries()) {
      deepStrictEqual(
        Array.from({ length: count }, (_, part) => rig.textAt(found + part * stride + rowOf(position) * 8)),
        cell === null ? Array<null>(count).fill(null) : splitAt(expression, cell, count, last),
      );
    }
  },
  RUNS,
);
