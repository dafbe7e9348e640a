// The output of `inspect` for a file with native kinds.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { inputFormats } from '../../../workers/input/index.ts';
import { KIND_DATE, KIND_JSON, KIND_NUMBER, KIND_TEXT } from '../../../workers/kernel/layout/cells.ts';
import { inspectFile } from '../../../workers/run/inspect.ts';
import { type TypedCell, typedTable, typedTableFormat } from '../../fixtures/typed-table.ts';

const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const formats = [...inputFormats, typedTableFormat];

t.test('counts the native kinds of each column', async (t) => {
  const rows = Array.from({ length: 10_000 }, (_, row): TypedCell[] => [
    [KIND_NUMBER, String(row)],
    row % 10 === 0 ? null : row % 2 === 0 ? [KIND_DATE, '2026-01-31'] : [KIND_TEXT, 'x'.repeat(100)],
    row === 7 ? [KIND_JSON, '{}'] : null,
    [KIND_TEXT, 'plain'],
  ]);
  const path = join(folder, 'table.ttbl');
  writeFileSync(path, typedTable({ headers: ['id', 'on', 'more', 'note'], hasKinds: [true, true, true, false] }, rows));
  const { kinds, rows: count } = await inspectFile(path, { formats });
  t.equal(count, 10_000);
  t.strictSame(kinds, [{ number: 10_000 }, { text: 5000, date: 4000 }, { json: 1 }, { text: 10_000 }]);
});

t.test('a CSV file has no kinds', async (t) => {
  const path = join(folder, 'table.csv');
  writeFileSync(path, 'id,n\na,1\nb,2\n');
  const { kinds, rows } = await inspectFile(path, { formats });
  t.equal(kinds, null);
  t.equal(rows, 2);
});

t.test('a mixture of encodings whose second one begins late is refused', async (t) => {
  const path = join(folder, 'mixed.csv');
  const western = Buffer.from(`id,name\n${'1,M\xfcller\n'.repeat(9_000)}`, 'latin1');
  writeFileSync(path, Buffer.concat([western, Buffer.from('2,J\u00fcrgen\n')]));
  await t.rejects(inspectFile(path, { formats }), { message: /line 9002 is UTF-8, lines 2, 3, 4 and others are not/ });
  writeFileSync(path, Buffer.concat([western, Buffer.from('2,caf\xe9\xa0\xbb\n', 'latin1')]));
  t.equal((await inspectFile(path, { formats })).head.encoding, 'windows-1252', 'a line that is UTF-8 by chance');
});
