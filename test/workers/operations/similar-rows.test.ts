// dedupe with `similar` keeps the same rows as a reference that compares one row after the other, for all batch sizes, and
// ends with an error if it would need too many comparisons.
import { test } from 'tap';
import { dedupe } from '../../../workers/operations/dedupe.ts';
import { COMPARED_LENGTH_MAX, jaroWinkler } from '../../../workers/values/similarity.ts';
import { type Noise, noise } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { applyTemplate } from '../apply-template.ts';
import { runOperation } from './harness.ts';

const FILES = sweep({ short: 8, long: 400 });

type Row = readonly [text: string | null, town: string | null];

const PARTS = [
  'Anna',
  'Ana',
  'Müller',
  'Muller',
  'Mueller',
  ' ',
  '-',
  'GmbH',
  '𝕏',
  'ß',
  'x'.repeat(70),
  'Jones',
  'Johnes',
];

function anyRows(next: Noise): Row[] {
  const text = (): string => Array.from({ length: 1 + next(4) }, () => PARTS[next(PARTS.length)]!).join('');
  return Array.from({ length: next(80) }, () => [
    next(8) === 0 ? null : next(40) === 0 ? `${'y'.repeat(1_000 + next(2))}${text()}` : text(),
    next(6) === 0 ? null : `t${next(3)}`,
  ]);
}

/** @param town groups the rows that are compared; null for a row without one */
function keptRows(rows: readonly Row[], threshold: number, town: (row: Row, index: number) => string): Row[] {
  const kept = new Map<string, string[][]>();
  return rows.filter((row, index) => {
    if (row[0] === null) return true;
    const text = [...row[0]].slice(0, COMPARED_LENGTH_MAX);
    const others = kept.get(town(row, index)) ?? [];
    if (others.some((other) => jaroWinkler(other, text) >= threshold)) return false;
    kept.set(town(row, index), [...others, text]);
    return true;
  });
}

test('the rows that are kept are those of a reference', async (t) => {
  const next = noise(1);
  for (let file = 0; file < FILES; file++) {
    const rows = anyRows(next);
    const threshold = 0.5 + next(51) / 100;
    for (const by of [undefined, 'town']) {
      for (const nulls of by === undefined ? [undefined] : [undefined, 'distinct']) {
        const operation = { op: 'dedupe', by, nulls, similar: { column: 'name', threshold } };
        const town = ([, name]: Row, index: number): string =>
          by === undefined ? '' : nulls === 'distinct' && name === null ? `null ${index}` : String(name);
        const expected = JSON.stringify(keptRows(rows, threshold, town));
        for (const way of [
          { batchRows: 1 },
          { batchRows: 7 },
          { batchRows: 4096 },
          { arenaBytes: 512, sparse: true },
        ]) {
          const given = JSON.parse(JSON.stringify(operation));
          const made = runOperation(
            dedupe,
            given,
            { columns: ['name', 'town'], rows: rows.map((row) => [...row]) },
            way,
          );
          t.same(made.problems, []);
          t.ok(JSON.stringify(made.rows) === expected, JSON.stringify({ way, operation, rows }));
        }
      }
    }
  }
});

test('match applies before texts are compared', async (t) => {
  const operation = { op: 'dedupe', similar: { column: 'name', threshold: 1 }, match: 'loose' };
  const rows = [['Zoë  Schmidt'], ['zoe-schmidt'], ['Zoe Schmitt']];
  t.same(runOperation(dedupe, operation, { columns: ['name'], rows }).rows, [['Zoë  Schmidt'], ['Zoe Schmitt']]);
});

test('what goes with similar, and what does not', async (t) => {
  const problems = (parameters: object, columns = ['name']): readonly string[] =>
    runOperation(dedupe, { op: 'dedupe', similar: { column: 'name' }, ...parameters }, { columns, rows: [] }).problems;
  t.same(problems({}), []);
  t.match(problems({ keep: 'last' }), [/^\/keep BAD_VALUE With "similar", the first of similar rows is kept/]);
  t.match(problems({ count_into: 'n' }), [/^\/count_into BAD_VALUE/]);
  t.match(problems({ any_of: ['name'] }), [/^\/any_of BAD_VALUE/]);
  const template = {
    operations: [
      { op: 'cast', columns: { name: 'integer' } },
      { op: 'dedupe', similar: { column: 'name' } },
    ],
  };
  await t.rejects(applyTemplate(template, 'name\n1\n'), /WRONG_TYPE The column is integer at this step/);
  const skipped = { op: 'dedupe', by: 'a', similar: { column: 'b' }, if_missing: 'skip' };
  const { text } = await applyTemplate({ operations: [skipped] }, 'a,c\n1,x\n1,y\n');
  t.equal(text, 'a,c\n1,x\n1,y\n', 'without the column no rows are similar');
});

test('too many comparisons end the Run, at the same row for all batch sizes', async (t) => {
  const next = noise(2);
  const signs = (): string => Array.from({ length: 1_000 }, () => String.fromCodePoint(0x1f300 + next(200))).join('');
  const rows = Array.from({ length: 60 }, signs);
  const operations = [{ op: 'dedupe', similar: { column: 'name', threshold: 1 } }];
  for (const batchRows of [10, 4096]) {
    const { outcome } = await applyTemplate({ operations }, `name,x\n${rows.join(',\n')},\n`, batchRows);
    t.match(outcome.failure, { code: 'RUN_RESOURCE_LIMIT', message: /needs more than 100 million comparisons/ });
    t.notMatch(outcome.failure?.message, rows[0]!);
  }
  const { outcome } = await applyTemplate({ operations }, `name,x\n${rows.slice(0, 50).join(',\n')},\n`);
  t.equal(outcome.failure, null);
});
