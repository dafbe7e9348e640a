// The matches that are found in time slices are those that re2js finds, and a search in a long text pauses.
import { test } from 'tap';
import { allInSlices, firstInSlices, matchesInSlices } from '../../../workers/expression/patterns/long-find.ts';
import {
  compileRegularExpression,
  type RegularExpression,
} from '../../../workers/expression/patterns/regular-expression.ts';
import { operationTable } from '../../../workers/operations/index.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { runOperation } from '../operations/harness.ts';

const ATOMS = [
  ...['a', 'b', 'ab', '.', '[ab]', '[^a]', '\\d', '\\w', '[a-ß]', 'é', '😀', '[^é]', '\\pL', '(?s:.)', ' ', '(?:)'],
  ...['^', '$', '\\b', '\\B', '\\A', '\\z', '(?i:k)', '(?i:Σ)', '(?m:^)', '(?m:$)'],
];
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...ATOMS),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(${a}|(${b}))`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '*?', '+?', '??', '{0,2}?'))
      .map(([a, times]) => `(${a})${times}`),
  ),
}));
const text = fc.string({ unit: fc.constantFrom(...'ab1 _-\nkKéΣσς\u212a', '😀', '漢', 'aa', 'ab'), maxLength: 16 });

function compiled(source: string): RegularExpression | null {
  const made = compileRegularExpression(source, 're2');
  return 'problem' in made ? null : made;
}

/** The groups of the first match, and the number of pauses. */
function firstOf(expression: RegularExpression, searched: string) {
  const work = firstInSlices(expression, searched);
  for (let pauses = 0; ; pauses++) {
    const step = work.next();
    if (step.done) return { groups: step.value, pauses };
  }
}

test('any pattern in any text: the same groups of the first match', async (t) => {
  let compared = 0;
  fc.assert(
    fc.property(pattern, text, (source, searched) => {
      const expression = compiled(source);
      if (expression === null) return;
      const expected = expression.first(searched)?.groups ?? null;
      if (expected !== null) compared++;
      const { groups } = firstOf(expression, searched);
      if (JSON.stringify(groups) !== JSON.stringify(expected)) {
        throw new Error(`${JSON.stringify(groups)} instead of ${JSON.stringify(expected)}`);
      }
    }),
    { numRuns: sweep({ short: 150, long: 50_000 }) },
  );
  t.ok(compared > 30, `${compared} patterns matched`);
});

test('any pattern in any text: the same matches', async (t) => {
  let compared = 0;
  fc.assert(
    fc.property(pattern, text, (source, searched) => {
      const expression = compiled(source);
      if (expression === null) return;
      const expected = [...expression.all(searched)];
      if (expected.length > 1) compared++;
      const found = [...allInSlices(expression, searched)].filter((match) => match !== undefined);
      if (JSON.stringify(found) !== JSON.stringify(expected)) {
        throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
      }
    }),
    { numRuns: sweep({ short: 150, long: 50_000 }) },
  );
  t.ok(compared > 30, `${compared} patterns matched more than once`);
});

const SOURCE = '((?:a|é😀)+?)\\b(x|yy)?([0-9]{1,3})';
const BEFORE = 'aé😀b a- '.repeat(20_000);
const LONG = `${BEFORE}éa7 é😀12 ${'b'.repeat(50_000)}`;

test('a search in a long text pauses, and finds what it finds without pauses', async (t) => {
  const expression = compiled(SOURCE)!;
  t.ok(
    LONG.length * expression.program > 2_000_000 && LONG.length * expression.program < 12_000_000,
    'it is long work',
  );
  const { groups, pauses } = firstOf(expression, LONG);
  t.same(groups, expression.first(LONG)!.groups);
  t.same(groups, ['é😀12', 'é😀', null, '12']);
  t.ok(pauses >= 15, `${pauses} pauses`);
  const missed = firstOf(expression, BEFORE);
  t.equal(missed.groups, null);
  t.ok(missed.pauses >= 3, `${missed.pauses} pauses`);
});

test('all matches of a long text are found, and pauses are made if it has none', async (t) => {
  const expression = compiled(SOURCE)!;
  const found = [...matchesInSlices(expression, LONG)].filter((match) => match !== undefined);
  t.same(found, [...expression.all(LONG)]);
  const missed = [...matchesInSlices(expression, BEFORE)];
  t.ok(missed.length >= 3 && missed.every((match) => match === undefined), `${missed.length} pauses`);
});

test('operations that find matches pause within a cell', async (t) => {
  const table = { columns: ['a'], rows: [[LONG], ['none'], [BEFORE]] };
  const replaced = LONG.replace('é😀12', '12');
  const source = SOURCE.replaceAll('\\', '\\\\');
  for (const [operation, parameters, expected] of [
    ['extract', { column: 'a', pattern: SOURCE, into: { '3': 'n' } }, ['12', null, null]],
    ['set', { columns: { n: `extract(a, "${source}", 3)` } }, ['12', null, null]],
    ['replace', { columns: ['a'], find: SOURCE, replace: '$3', mode: 'regex' }, [replaced, 'none', BEFORE]],
    ['set', { columns: { n: `replace_re(a, "${source}", "$3")` } }, [replaced, 'none', BEFORE]],
    [
      'split_column',
      { column: 'a', by: { pattern: SOURCE }, into: ['x', 'n'] },
      [` ${'b'.repeat(50_000)}`.trim(), null, null],
    ],
    [
      'split_column',
      { column: 'a', by: { pattern: SOURCE }, into: ['x', 'n'], from_end: true, too_few: 'blank' },
      [` ${'b'.repeat(50_000)}`.trim(), 'none', BEFORE.trim()],
    ],
  ] as const) {
    let looks = 0;
    const clock = { isDue: () => ++looks > 0 };
    const { rows, errors, problems } = runOperation(operationTable.get(operation)!, parameters, table, { clock });
    t.same([problems, errors], [[], {}], operation);
    t.ok(JSON.stringify(rows.map((row) => row.at(-1))) === JSON.stringify(expected), `${operation}: the right cells`);
    t.ok(looks >= 5, `${operation}: ${looks} checks of the clock`);
  }
});
