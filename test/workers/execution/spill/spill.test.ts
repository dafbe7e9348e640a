// Rows through spill files: every kind of cell is unchanged, and many files merge into one order.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { Batch, type ColumnData } from '../../../../workers/batch/batch.ts';
import { ColumnBuilder } from '../../../../workers/batch/column-builder.ts';
import type { ColumnType } from '../../../../workers/batch/schema.ts';
import { byOrder, mergeFiles } from '../../../../workers/execution/spill/ordered-merge.ts';
import { RowCodec } from '../../../../workers/execution/spill/row-codec.ts';
import { BATCH_READER_SIZE, SpillReader, SpillWriter } from '../../../../workers/execution/spill/row-files.ts';
import { SpillFile, SpillFolder } from '../../../../workers/memory/spill-file.ts';
import { DONE } from '../../../../workers/scheduling/time-slices.ts';
import { decimalOf } from '../../../../workers/values/decimal.ts';
import { CalendarDate } from '../../../../workers/values/timestamp.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';
import type { Cell } from '../../operations/batch-builder.ts';
import { cellText } from '../../operations/cell-text.ts';
import { makeMemory } from '../../operations/harness.ts';

const TYPES: readonly ColumnType[] = ['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'json'];

const values: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  text: fc.string({ unit: 'grapheme', maxLength: 50 }),
  integer: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  decimal: fc
    .tuple(fc.oneof(fc.bigInt(), fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n })), fc.nat(300))
    .map(([digits, scale]) => decimalOf(digits, scale)),
  number: fc.double(),
  boolean: fc.boolean(),
  date: fc.integer({ min: -700_000, max: 2_900_000 }).map((days) => new CalendarDate(days)),
  json: fc.json({ maxDepth: 1 }),
};

function folder(t: { teardown(work: () => void): void }): { spill: SpillFolder; path: string } {
  const path = mkdtempSync(join(tmpdir(), 'spill-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return { spill: new SpillFolder(join(path, 'run')), path };
}

test('a process without free file descriptors ends the Run, not the thread', async (t) => {
  const { path } = folder(t);
  const spillFile = new URL('../../../../workers/memory/spill-file.js', import.meta.url);
  const program = `
    const { SpillFile, SpillFolder } = await import(${JSON.stringify(spillFile.href)});
    const folder = new SpillFolder(${JSON.stringify(join(path, 'run'))});
    const failures = [];
    while (failures.length === 0) attempt(() => new SpillFile(folder));
    attempt(() => new SpillFile(folder, folder.names[0]));
    console.log(JSON.stringify(failures));
    function attempt(work) {
      try { work(); } catch (error) { failures.push(error.failure ?? String(error)); }
    }`;
  const { stdout } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 100; exec "$0" --input-type=module -e "$1"', process.execPath, program],
    { encoding: 'utf8' },
  );
  const failure = { code: 'RUN_RESOURCE_LIMIT', message: /^Too many files are open/ };
  t.match(JSON.parse(stdout), [failure, failure]);
});

test('every kind of cell comes back as it was', async (t) => {
  const { spill } = folder(t);
  const { kernel, heap, arena } = makeMemory();
  const codec = new RowCodec(heap, kernel, TYPES);
  const writer = new SpillWriter(heap, codec, new SpillFile(spill));
  const reader = new SpillReader(arena, codec, BATCH_READER_SIZE);
  const row = fc.tuple(...TYPES.map((type) => fc.option(values[type]!, { nil: null })));
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 30 }), (rows) => {
      arena.clear();
      const batch = batchOf(rows);
      const expected = rows.map((_, at) => batch.columns.map((column) => cellText(batch, column, at)));
      const file = new SpillFile(spill);
      writer.turnTo(file);
      const orders = arena.take(rows.length * 8);
      writer.write(batch, { rows: batch.selection, count: rows.length, orders });
      writer.flush();
      reader.open(file);
      const made: Cell[][] = [];
      while (reader.advance() > 0) {
        const back = reader.batch();
        for (let at = 0; at < back.live; at++) made.push(back.columns.map((column) => cellText(back, column, at)));
      }
      file.drop();
      return JSON.stringify(made) === JSON.stringify(expected);
    }),
    { numRuns: sweep({ short: 13, long: 200 }) },
  );

  function batchOf(rows: readonly (readonly unknown[])[]): Batch {
    const columns = TYPES.map((type, index): ColumnData => {
      const builder = new ColumnBuilder(arena, type);
      builder.begin(rows.length);
      for (const [at, cells] of rows.entries()) builder.set(at, cells[index]);
      return builder.column;
    });
    const selection = arena.take(rows.length * 4);
    for (let at = 0; at < rows.length; at++) heap.u32[(selection >>> 2) + at] = at;
    return plainBatch(columns, rows.length, selection);
  }

  function plainBatch(columns: readonly ColumnData[], rows: number, selection: number): Batch {
    return new Batch({
      arena,
      rows,
      selection,
      live: rows,
      columns,
      raw: null,
      sourceRows: { first: 1 },
      materialise: () => {
        throw new Error('there are no raw columns here');
      },
    });
  }
});

test('forty files merge into one order, in two passes, and give their space back', async (t) => {
  const { spill, path } = folder(t);
  const { kernel, heap, arena } = makeMemory();
  const codec = new RowCodec(heap, kernel, ['integer']);
  const writer = new SpillWriter(heap, codec, new SpillFile(spill));
  const files: SpillFile[] = [];
  const count = 200;
  for (let part = 0; part < 40; part++) {
    arena.clear();
    const builder = new ColumnBuilder(arena, 'integer');
    builder.begin(count);
    const orders = arena.take(count * 8);
    const selection = arena.take(count * 4);
    for (let at = 0; at < count; at++) {
      const order = at * 40 + ((part * 7) % 40);
      builder.set(at, order * 10);
      heap.f64[(orders >>> 3) + at] = order;
      heap.u32[(selection >>> 2) + at] = at;
    }
    const file = new SpillFile(spill);
    writer.turnTo(file);
    files.push(file);
    const columns = [builder.column];
    const batch = new Batch({
      ...{ arena, rows: count, selection, live: count, columns, raw: null, sourceRows: { first: 1 } },
      materialise: () => {
        throw new Error('there are no raw columns here');
      },
    });
    writer.write(batch, { rows: selection, count, orders });
  }
  writer.flush();
  const made: number[] = [];
  const merge = mergeFiles({ arena, kernel, spill, types: ['integer'] }, files, byOrder(arena), (batch) => {
    for (let at = 0; at < batch.live; at++)
      made.push(Number(cellText(batch, batch.columns[0]!, batch.physicalRow(at))));
    return DONE;
  });
  for (const _ of merge) arena.clear();
  t.same(
    made,
    Array.from({ length: 8000 }, (_, order) => order * 10),
  );
  spill.remove();
  t.same(readdirSync(path), []);
});
