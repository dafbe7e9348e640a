// The kernels that match cells with a two-way automaton, against re2js: groups of the first match, all matches replaced, cells
// split.
import { test } from 'tap';
import { PatternMatcher } from '../../../workers/execution/cells/pattern-matcher.ts';
import { patternStep, twoPassStep } from '../../../workers/execution/cells/replace-steps.ts';
import { placeText, runTextChain, type TextStep } from '../../../workers/execution/cells/text-chain.ts';
import {
  compileRegularExpression,
  type RegularExpression,
} from '../../../workers/expression/patterns/regular-expression.ts';
import { VIEW_BYTES } from '../../../workers/kernel/layout/cells.ts';
import { done } from '../../../workers/scheduling/time-slices.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { makeMemory } from '../operations/harness.ts';

const ATOMS = [
  ...[
    'a',
    'b',
    'ab',
    '.',
    '[ab]',
    '[^a]',
    '\\d',
    '\\w',
    '\\W',
    '[a-ß]',
    'é',
    '😀',
    '[^é]',
    '\\pL',
    '[^\\x00-\\x{ffff}]',
  ],
  ...[
    '^',
    '$',
    '\\b',
    '\\B',
    '\\A',
    '\\z',
    '(?i:k)',
    '(?i:straße)',
    '(?i:Σ)',
    '(?s:.)',
    '(?m:^)',
    '(?m:$)',
    '(?:)',
    ' ',
  ],
];
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...ATOMS),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(${a}|(${b}))`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?', '+?', '??', '{0,2}?'))
      .map(([a, times]) => `(${a})${times}`),
  ),
}));
const text = fc.string({
  unit: fc.constantFrom(...'ab1 _-\nkKéßẞſΣσς\u212a', '😀', '漢', 'straSSe', 'aa', 'ab'),
  maxLength: 12,
});

function compiled(source: string): RegularExpression | null {
  const made = compileRegularExpression(source, 're2');
  return 'problem' in made ? null : made;
}

type Memory = ReturnType<typeof makeMemory>;

function placeCells({ arena }: Memory, cells: readonly string[]): { views: number; rows: number; todo: number } {
  const views = arena.take(cells.length * VIEW_BYTES);
  const rows = arena.take(cells.length * 4);
  const todo = arena.take((cells.length + 1) * 4);
  for (const [row, cell] of cells.entries()) {
    const at = arena.next;
    const bytes = arena.write(cell);
    // Cells are not adjacent, as in a file, and an empty cell has an address.
    arena.next += 1;
    arena.heap.u32.set([at, bytes], (views + row * VIEW_BYTES) >>> 2);
    arena.heap.u32[(rows >>> 2) + row] = row;
  }
  arena.heap.u32[todo >>> 2] = 0;
  return { views, rows, todo };
}

function cellAt({ arena }: Memory, views: number, row: number): string | null {
  const { u32 } = arena.heap;
  const at = (views + row * VIEW_BYTES) >>> 2;
  return u32[at] === 0 ? null : arena.decode(u32[at]!, u32[at + 1]!);
}

const NEVER = { isDue: () => false };

/** Groups of the first match in each cell; null if the kernels do not support the pattern. */
function groupsIn(memory: Memory, expression: RegularExpression, groups: readonly number[], cells: readonly string[]) {
  const walker = PatternMatcher.of(memory.arena.heap, expression, groups, 'group');
  if (walker === null) return null;
  const { views, rows, todo } = placeCells(memory, cells);
  const stride = cells.length * VIEW_BYTES;
  const found = memory.arena.take(stride * groups.length);
  const { machine, wanted } = walker;
  const { findCaptures } = memory.kernel.exports;
  done(
    walker.drive(cells.length, NEVER, (from) =>
      findCaptures(views, rows, cells.length, from, machine, wanted, groups.length, 1, 0, found, stride, todo),
    ),
  );
  if (memory.arena.heap.u32[todo >>> 2] !== 0) throw new Error('short cells are never handed back');
  return cells.map((_, row) => groups.map((_group, index) => cellAt(memory, found + index * stride, row)));
}

function partsOf(memory: Memory, expression: RegularExpression, parts: number, last: number, cells: readonly string[]) {
  const walker = PatternMatcher.of(memory.arena.heap, expression, [], 'all')!;
  const { views, rows, todo } = placeCells(memory, cells);
  const stride = cells.length * VIEW_BYTES;
  const found = memory.arena.take(stride * parts);
  const { splitCaptures } = memory.kernel.exports;
  done(
    walker.drive(cells.length, NEVER, (from) =>
      splitCaptures(views, rows, cells.length, from, walker.machine, parts, last, found, stride, todo),
    ),
  );
  return cells.map((_, row) =>
    Array.from({ length: parts }, (_part, index) => cellAt(memory, found + index * stride, row)),
  );
}

function expectedParts(expression: RegularExpression, parts: number, last: number, cell: string): (string | null)[] {
  const made: (string | null)[] = [];
  let from = 0;
  for (const { start, end } of expression.all(cell)) {
    if (start === end || made.length === parts || made.length === last) continue;
    made.push(cell.slice(from, start));
    from = end;
  }
  if (made.length < parts) made.push(cell.slice(from));
  return [...made, ...Array.from({ length: parts - made.length }, () => null)];
}

function changed(memory: Memory, step: TextStep, cells: readonly string[]): (string | null)[] {
  const { views, rows } = placeCells(memory, cells);
  if (!runTextChain([step], memory.kernel, memory.arena, { views, rows, count: cells.length })) throw new Error('full');
  return cells.map((_, row) => cellAt(memory, views, row));
}

function sameOrThrow(made: unknown, expected: unknown, about: object): void {
  if (JSON.stringify(made) !== JSON.stringify(expected)) throw new Error(JSON.stringify({ ...about, made, expected }));
}

test('a walk finds the groups that re2js finds', async (t) => {
  let compared = 0;
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 4, maxLength: 8 }), (source, cells) => {
      const expression = compiled(source);
      if (expression === null) return;
      const groups = Array.from({ length: expression.groupCount + 1 }, (_, group) => group);
      const made = groupsIn(makeMemory(), expression, groups, cells);
      if (made === null) return;
      const expected = cells.map((cell) => expression.first(cell)?.groups ?? groups.map(() => null));
      sameOrThrow(made, expected, { source, cells });
      // When the whole match is not requested, the kernel stops after the last group.
      const inner = groups.slice(1);
      const some = groupsIn(makeMemory(), expression, inner, cells);
      sameOrThrow(
        some,
        expected.map((all) => all.slice(1)),
        { source, cells },
      );
      compared++;
    }),
    { numRuns: sweep({ short: 63, long: 10_000 }) },
  );
  t.ok(compared > sweep({ short: 22, long: 3_600 }), `${compared} patterns were compared`);
});

test('a walk replaces and cuts where re2js matches', async (t) => {
  const times = fc.option(fc.integer({ min: 1, max: 3 }), { nil: null });
  const limits = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 5 }));
  fc.assert(
    fc.property(
      pattern,
      fc.array(text, { minLength: 4, maxLength: 8 }),
      times,
      limits,
      (source, cells, count, [parts, last]) => {
        const expression = compiled(source);
        const memory = makeMemory();
        if (expression === null || PatternMatcher.of(memory.arena.heap, expression, [], 'all') === null) return;
        const { heap } = memory.arena;
        const put = ['<', expression.groupCount, 0, '>'];
        const { edit, editInSlices } = patternStep(heap, expression, `<$${expression.groupCount}$0>`, count);
        const step = twoPassStep(heap, expression, { parts: put, times: count ?? 0xffffffff }, editInSlices!, 1);
        sameOrThrow(changed(memory, step, cells), cells.map(edit), { source, cells, count });
        const cut = partsOf(memory, expression, parts, last, cells);
        sameOrThrow(
          cut,
          cells.map((cell) => expectedParts(expression, parts, last, cell)),
          { source, cells, parts, last },
        );
      },
    ),
    { numRuns: sweep({ short: 38, long: 6000 }) },
  );
  t.pass('all are the same');
});

test('texts that are too long for a pattern, or come after the last state, fall back to the engine', async (t) => {
  const memory = makeMemory();
  const expression = compiled('(a|b)*?c(d{0,40})')!;
  const walker = PatternMatcher.of(memory.arena.heap, expression, [1], 'group')!;
  const long = `${'ab'.repeat(20_000)}c`;
  const { views, rows, todo } = placeCells(memory, ['abc', long, 'bc']);
  const found = memory.arena.take(3 * VIEW_BYTES);
  const { findCaptures } = memory.kernel.exports;
  done(
    walker.drive(3, NEVER, (from) =>
      findCaptures(views, rows, 3, from, walker.machine, walker.wanted, 1, 0, 0, found, 0, todo),
    ),
  );
  t.same([...memory.arena.heap.u32.subarray(todo >>> 2, (todo >>> 2) + 2)], [1, 1]);
  t.same(
    [0, 2].map((row) => cellAt(memory, found, row)),
    ['b', 'b'],
  );
  t.ok(placeText(memory.arena.heap, 'memory goes on').at > 0);
});

test('a pattern with too many states falls back to the engine, and is never wrong', async (t) => {
  const memory = makeMemory();
  // Read from the end, the states of this pattern record which of the last characters were an a: 2^14 states.
  const expression = compiled('(a[ab]{14})c*$|(b)[ab]{3}c')!;
  const cells = Array.from(
    { length: 400 },
    (_, index) => `${(index * 7919 + 65_536).toString(2).replaceAll('0', 'a').replaceAll('1', 'b').repeat(4)}c`,
  );
  const made = changed(
    memory,
    twoPassStep(
      memory.arena.heap,
      expression,
      { parts: ['[', 1, ']'], times: 9 },
      patternStep(memory.arena.heap, expression, '[$1]', 9).editInSlices!,
      1,
    ),
    cells,
  );
  t.same(made, cells.map(patternStep(memory.arena.heap, expression, '[$1]', 9).edit));
});
