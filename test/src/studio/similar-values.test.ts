// Groups of similar values: the same similarity as in Templates, the same groups in any order of equal counts, and a
// bound on the work.
import { test } from 'tap';
import { similarValues } from '../../../src/studio/similar-values.ts';
import { jaroWinkler } from '../../../workers/values/similarity.ts';
import { noise } from '../../random.ts';

const similar = (threshold: number) => ({ method: 'similarity', threshold }) as const;

test('each value joins the most similar frequent value, if the similarity reaches the threshold', async (t) => {
  const cells = ['Martha Jones', 'Martha Jones', 'MARHTA  Jones', 'Martin Johnson', null, ' ', 'Martha Jones'];
  const { groups, values } = similarValues(cells, similar(0.92));
  t.strictSame(groups, [
    [
      { text: 'Martha Jones', count: 3 },
      { text: 'MARHTA  Jones', count: 1 },
    ],
  ]);
  t.equal(values, 3);
  t.equal(similarValues(cells, similar(0.8)).groups[0]?.length, 3);
});

test('a fingerprint ignores case, accents, punctuation and the order of words, also of ß', async (t) => {
  const cells = ['Große Straße', 'strasse, grosse', 'Müller', 'muller', '-', '--', 'Meier'];
  const { groups } = similarValues(cells, { method: 'fingerprint', threshold: 1 });
  t.strictSame(
    groups.map((values) => values.map(({ text }) => text)),
    [
      ['Große Straße', 'strasse, grosse'],
      ['Müller', 'muller'],
    ],
  );
});

test('no comparison is skipped that would reach the threshold', async (t) => {
  const random = noise(1);
  const text = (): string => Array.from({ length: random(8) + 1 }, () => 'abcdäö xy'[random(9)]).join('');
  for (let round = 0; round < 300; round++) {
    const cells = Array.from({ length: 12 }, text).filter((each) => each.trim() === each && !each.includes('  '));
    const threshold = 0.5 + random(50) / 100;
    const leaders: string[] = [];
    for (const cell of new Set(cells)) {
      if (!leaders.some((leader) => jaroWinkler([...cell], [...leader]) >= threshold)) leaders.push(cell);
    }
    const { groups } = similarValues([...new Set(cells)], similar(threshold));
    const joined = groups.reduce((sum, group) => sum + group.length - 1, 0);
    t.equal(joined, new Set(cells).size - leaders.length, JSON.stringify([threshold, cells]));
  }
});

test('with many distinct values, the most frequent ones are compared', async (t) => {
  const cells = Array.from({ length: 2_000 }, (_, row) => `value number ${row}`);
  const { values, valuesCompared } = similarValues([...cells, 'value number 1999'], similar(0.99));
  t.strictSame([values, valuesCompared], [2_000, 1_000]);
});
