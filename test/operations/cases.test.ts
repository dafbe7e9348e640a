// Each operation has its file of cases, no list in it is empty, and each file belongs to an operation. Each function of
// expressions has its worst case.
import { readdirSync } from 'node:fs';
import t from 'tap';
import { FUNCTIONS } from '../../workers/expression/functions/index.ts';
import { operationTable } from '../../workers/operations/index.ts';
import { SMALL_FUNCTIONS, WORST_FUNCTIONS } from '../stress/worst-expressions.ts';
import { loadOperationCases, pathOfCases } from './operation-cases.ts';

t.test('each operation has its cases', async (t) => {
  for (const [name, { nativeKinds, lostCells, worstCases, linearTime }] of await loadOperationCases()) {
    const path = `test/operations/${pathOfCases(name)}.ts`;
    t.ok(nativeKinds.length > 0, `${path}: nativeKinds`);
    t.ok(lostCells.length > 0, `${path}: lostCells`);
    t.ok(worstCases.length > 0, `${path}: worstCases`);
    t.ok(linearTime !== undefined || !operationTable.get(name)!.cells, `${path}: linearTime of an operation on cells`);
  }
});

t.test('each file of cases belongs to an operation', async (t) => {
  const files = readdirSync('test/operations/cases').map((name) => `cases/${name.replace(/\.ts$/, '')}`);
  t.strictSame(files.sort(), [...operationTable.keys()].map(pathOfCases).sort());
});

t.test('each function has its worst case in test/stress/worst-expressions.ts', async (t) => {
  const known = new Set([...Object.keys(WORST_FUNCTIONS), ...SMALL_FUNCTIONS]);
  t.strictSame(
    [...FUNCTIONS.keys()].filter((name) => !known.has(name)),
    [],
  );
});
