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
