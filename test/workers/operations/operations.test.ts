// Every operation gives the results of its examples, for all sizes of batches and arenas, with and without dead rows between the
// live ones, and while its memory moves.
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'tap';
import { operationTable } from '../../../workers/operations/index.ts';
import { withMovingMemory } from '../memory/moving-memory.ts';
import { type RunOptions, runOperation } from './harness.ts';

const WAYS: readonly (RunOptions & { readonly moves?: true })[] = [
  { batchRows: 1 },
  { batchRows: 2 },
  { batchRows: 1000 },
  { batchRows: 1000, arenaBytes: 256 },
  { batchRows: 2, sparse: true },
  { batchRows: 1000, sparse: true, arenaBytes: 512 },
  { batchRows: 2, moves: true },
];

test('each operation is in the table', async (t) => {
  const names = readdirSync('workers/operations')
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const source = readFileSync(`workers/operations/${name}`, 'utf8');
      return /^export const \w+ = defineOperation\(\{\n {2}name: '(\w+)'/m.exec(source)?.[1] ?? [];
    });
  t.same(names.toSorted(), [...operationTable.keys()].toSorted());
});

for (const [name, definition] of operationTable) {
  test(`the examples of ${name}`, async (t) => {
    t.ok(definition.examples.length > 0, 'has examples');
    for (const example of definition.examples) {
      t.equal(example.operation['op'], name);
      for (const { moves = false, ...way } of WAYS) {
        const run = () =>
          runOperation(definition, example.operation, example.input, { ...way, tables: example.tables ?? {} });
        const { columns, rows, problems } = moves ? await withMovingMemory(512, async () => run()) : run();
        t.same(
          { problems, columns, rows },
          { problems: [], ...example.output },
          `${example.title} ${JSON.stringify(way)}`,
        );
      }
    }
  });
}
