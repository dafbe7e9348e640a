// The result of each operation for each native kind: the table of docs/reference/input.md ("Files with typed cells"), row by
// row. The test fails if an operation has no entry.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { KIND_TEXT } from '../../../workers/kernel/layout/cells.ts';
import { operationTable } from '../../../workers/operations/index.ts';
import type { TypedCell } from '../../fixtures/typed-table.ts';
import { CELLS, KEPT } from '../../operations/native-kinds.ts';
import { loadOperationCases } from '../../operations/operation-cases.ts';
import { applyKinds } from '../apply-kinds.ts';

const document = readFileSync('docs/reference/input.md', 'utf8');
const [section = ''] = document.split('## Files with typed cells\n')[1]!.split('\n## ');
for (const [name, { nativeKinds }] of await loadOperationCases()) {
  const keeps = nativeKinds.every(({ gives }) => gives.every((cell) => KEPT.includes(cell)));
  t.ok(keeps || section.includes(`\`${name}\``), `the document names ${name}, which does not always keep the kinds`);
}

const rows = CELLS.map((cell, row): TypedCell[] => [[KIND_TEXT, String(row)], cell, null, [KIND_TEXT, 's']]);

for (const [name, { nativeKinds }] of await loadOperationCases()) {
  t.test(name, async (t) => {
    for (const { steps, gives, column = 'v', tables = {} } of nativeKinds) {
      const declared = Object.fromEntries(Object.keys(tables).map((table) => [table, { ref: table }]));
      const template = { tables: declared, operations: steps };
      // An operation that works row by row has no state to spill.
      const others = operationTable.get(name)!.memory === 'R' ? [] : [{ spills: true }];
      for (const options of [{ batchRows: 2 }, {}, ...others]) {
        const made = await applyKinds(template, ['id', 'v', 'none', 'same'], rows, { ...options, tables });
        const title = `${JSON.stringify(steps)} ${JSON.stringify(options)}`;
        t.same(
          made.map((row) => row[column]),
          gives,
          title,
        );
      }
    }
  });
}
