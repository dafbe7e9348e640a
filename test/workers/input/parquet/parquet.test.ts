// Parquet files written by another library, cell by cell: encodings, nestings, pages and row groups, and the choice of columns.
import { test } from 'tap';
import { Failed } from '../../../../workers/protocol/failure.ts';
import { readParquet } from './parquet-cells.ts';
import { FLAT, flatFile, nestedFile, nestedRow, ROWS } from './sample-files.ts';

test('every encoding gives the same cells, however long pages and batches are', async (t) => {
  for (const options of [{}, { pageSize: 64 }, { codec: 'UNCOMPRESSED', pageSize: 512 }] as const) {
    const bytes = flatFile(options);
    for (const batches of [[4096], [1, 7, 50]]) {
      const { head, rows, rowsRead } = await readParquet(bytes, { batches });
      t.equal(rowsRead, ROWS);
      t.strictSame(
        head.headers,
        FLAT.map(({ name }) => name),
      );
      for (const [place, { name, expected }] of FLAT.entries()) {
        const cells = rows.map((row) => row[place]);
        t.strictSame(
          cells,
          rows.map((_, row) => expected(row)),
          name,
        );
      }
    }
  }
});

test('lists, structs and maps are JSON', async (t) => {
  for (const batches of [[4096], [1, 7]]) {
    const { rows } = await readParquet(nestedFile(), { batches });
    t.equal(rows.length, ROWS);
    const texts = rows.map((row) => row.map((cell) => cell?.[1] ?? null));
    t.strictSame(
      texts,
      rows.map((_, row) => nestedRow(row)),
    );
    t.ok(rows.every((row) => row.every((cell) => cell === null || cell[0] === 'json')));
  }
});

test('unread columns are not decoded', async (t) => {
  const bytes = flatFile();
  const place = FLAT.findIndex(({ name }) => name === 'text PLAIN');
  const { rows } = await readParquet(bytes, { used: [place] });
  t.strictSame(
    rows.map((row) => row[place]),
    rows.map((_, row) => FLAT[place]!.expected(row)),
  );
  t.ok(rows.every((row) => row.every((cell, index) => index === place || cell === null)));
  // Pages of the other columns may contain anything.
  const first = Buffer.from(bytes);
  first.fill(0xff, 4, 40);
  t.equal((await readParquet(first, { used: [place] })).rows.length, ROWS);
  await t.rejects(readParquet(first), Failed);
  t.equal((await readParquet(bytes, { used: [] })).rows.length, ROWS, 'none at all');
});

test('rows are counted by page headers if no cells are read', async (t) => {
  t.equal((await readParquet(flatFile({ pageSize: 64 }), { batches: [0] })).rowsRead, ROWS);
  t.equal((await readParquet(flatFile({ pageSize: 64 }), { batches: [10, 0] })).rowsRead, ROWS);
  t.equal((await readParquet(nestedFile(), { batches: [0] })).rowsRead, ROWS);
});

test('null_values are for texts alone', async (t) => {
  const input = { null_values: ['text 1 ü', '1', 'true'] };
  const place = FLAT.findIndex(({ name }) => name === 'text RLE_DICTIONARY');
  const { rows } = await readParquet(flatFile(), { input });
  t.equal(rows[1]![place], null);
  t.strictSame(rows[2]![place], ['text', 'text 2 ü']);
  t.strictSame(rows[2]![FLAT.findIndex(({ name }) => name === 'boolean PLAIN')], ['boolean', 'true']);
});
