// split_pairs finds values with a kernel: the same values as a reference, for all separators between pairs, and beyond ASCII.
import { test } from 'tap';
import { splitPairs } from '../../../workers/operations/split-pairs.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { runOperation } from './harness.ts';

const piece = fc.constantFrom(
  'a',
  'A',
  'size',
  'SIZE',
  'größe',
  'GRÖẞE',
  'GRÖSSE',
  'ı',
  '\u212a',
  'k',
  ':',
  '::',
  ';',
  '=',
  ' ',
  '\t',
  '\u3000',
  '\ufeff',
  'é',
  '12',
);
const cells = fc.array(
  fc.option(
    fc.array(piece, { maxLength: 14 }).map((parts) => parts.join('')),
    { nil: null, freq: 6 },
  ),
  { maxLength: 20 },
);

function foundValue(text: string | null, wanted: string, pair: string, key: string): string | null {
  let found: string | null = null;
  for (const part of text?.split(pair) ?? []) {
    const at = part.indexOf(key);
    if (at >= 0 && part.slice(0, at).trim().toLowerCase().replaceAll('ß', 'ss') === wanted)
      found = part.slice(at + key.length).trim() || null;
  }
  return found;
}

test('values come from the last pair with the key', async (t) => {
  const signs = fc.constantFrom([';', ':'] as const, [';', '::'] as const, ['::', '='] as const, ['é', ' '] as const);
  const arenas = fc.constantFrom(512, 1_048_576);
  fc.assert(
    fc.property(cells, signs, arenas, (texts, [pair, key], arenaBytes) => {
      const keys = ['a', 'size', 'größe', 'k'];
      const into = Object.fromEntries(keys.map((name, index) => [name, `v${index}`]));
      const operation = { op: 'split_pairs', column: 'c', pair, key, into };
      const rows = texts.map((text) => [text]);
      const made = runOperation(splitPairs, operation, { columns: ['c'], rows }, { arenaBytes, sparse: true });
      const expected = texts.map((text) => [
        text,
        ...keys.map((name) => foundValue(text, name.replace('ß', 'ss'), pair, key)),
      ]);
      if (JSON.stringify(made.rows) !== JSON.stringify(expected)) {
        throw new Error(JSON.stringify({ pair, key, texts, made: made.rows, expected }));
      }
    }),
    { numRuns: sweep({ short: 50, long: 5000 }) },
  );
  t.pass('all are the same');
});

test('quoted values contain separators', async (t) => {
  const part = fc.constantFrom('a', ' ', '=', '"', '\\', 'é', 'x=y', 'm="');
  const value = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
  const doubled = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '""');
  const escaped = (text: string): string => text.replaceAll(/["\\]/g, '\\$&');
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value, fc.boolean()), { maxLength: 8 }), (lines) => {
      const rows = lines.map(([one, two, isDoubled]) => {
        const quoted = (text: string): string => `"${isDoubled ? doubled(text) : escaped(text)}"`;
        return [`x=1 one=${quoted(one)} rest two=${quoted(two)} y=2`];
      });
      const operation = {
        op: 'split_pairs',
        column: 'c',
        pair: ' ',
        key: '=',
        quote: '"',
        into: { one: 'one', two: 'two', y: 'y' },
      };
      const made = runOperation(splitPairs, operation, { columns: ['c'], rows });
      const expected = lines.map(([one, two], row) => [rows[row]![0]!, one, two, '2']);
      return JSON.stringify(made.rows) === JSON.stringify(expected);
    }),
  );
  const operation = { op: 'split_pairs', column: 'c', pair: ' ', key: '=', quote: '"', into: { a: 'a', b: 'b' } };
  const rows = [['a="x y"z b=1'], ['a="x y b=1'], ['a=x"y z" b=""'], ['a="x"'], ['a'], ['b=']];
  const made = runOperation(splitPairs, operation, { columns: ['c'], rows });
  t.same(
    made.rows.map(([, ...values]) => values),
    [
      ['"x y"z', '1'],
      ['"x', '1'],
      ['x"y', null],
      ['x', null],
      [null, null],
      [null, null],
    ],
    'a value that is not quoted as a whole is kept as written',
  );
});

test('a quote that is part of a separator is refused', async (t) => {
  for (const [pair, key] of [
    ['"', '='],
    [' ', '"'],
    ['","', ':'],
  ]) {
    const operation = { op: 'split_pairs', column: 'c', pair, key, quote: '"', into: { a: 'a' } };
    const { problems } = runOperation(splitPairs, operation, { columns: ['c'], rows: [] });
    t.same(problems, ['/quote BAD_VALUE The quote is also part of a separator. Write another quote, or none.']);
  }
});
