// Parquet files of this service, read by other programs: hyparquet always, DuckDB if it is installed. Types, nulls, row groups,
// budgets, reproducible bytes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { test } from 'tap';
import { DuckDb, WITHOUT_DUCKDB } from '../../../fixtures/duckdb.ts';
import { Chance } from '../../../fuzz/chance.ts';
import { skipUnlessLong } from '../../../sweep.ts';
import { applyTemplate, type Limits } from '../../apply-template.ts';
import { readParquet } from '../../input/parquet/parquet-cells.ts';

const ROWS = 5000;
const HEAD = 'id,amount,ratio,day,at,ok,note,doc';
const CSV = [
  HEAD,
  ...Array.from({ length: ROWS }, (_, row) =>
    row % 10 === 9
      ? ',,,,,,,'
      : [
          String(row * 1_000_000_007),
          `${row - 100}.${String(row % 100).padStart(2, '0')}`,
          String(row / 8),
          `20${String(10 + (row % 80))}-02-0${1 + (row % 9)}`,
          `2026-01-31T13:05:${String(row % 60).padStart(2, '0')}.25Z`,
          String(row % 3 === 0),
          `"note ${row % 50} ü"`,
          `"{""a"":${row}}"`,
        ].join(','),
  ),
].join('\n');

const TEMPLATE = {
  input: { columns: HEAD.split(',').map((name) => ({ name })) },
  operations: [
    {
      op: 'cast',
      columns: {
        ...{ id: 'integer', amount: 'decimal', ratio: 'number', day: 'date', at: 'datetime', ok: 'boolean' },
        ...{ doc: 'json' },
      },
    },
  ],
  output: { format: 'parquet', parquet: { decimal_scale: 4 } },
};

async function written(template: object, input: string, batchRows = 4096, limits: Limits = {}): Promise<Buffer> {
  const { bytes, outcome } = await applyTemplate(template, input, batchRows, {}, limits);
  if (bytes === null) throw new Error(outcome.failure?.message);
  return bytes;
}

function arrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

test('each static type is read back by another library', async (t) => {
  const bytes = await written(TEMPLATE, CSV);
  const rows = await parquetReadObjects({ file: arrayBuffer(bytes) });
  t.equal(rows.length, ROWS);
  t.strictSame(rows[101], {
    id: 101_000_000_707n,
    amount: 1.01,
    ratio: 12.625,
    day: new Date('2031-02-03'),
    at: new Date('2026-01-31T13:05:41.250Z'),
    ok: false,
    note: 'note 1 ü',
    doc: { a: 101 },
  });
  t.ok(Object.values(rows[9]!).every((value) => value === null || value === undefined));
  const { schema, created_by: by } = parquetMetadata(arrayBuffer(bytes));
  t.match(by, /^template-run$/);
  t.match(schema[2], { type: 'FIXED_LEN_BYTE_ARRAY', logical_type: { type: 'DECIMAL', precision: 38, scale: 4 } });
  t.match(schema[5], { logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } });
});

test('decimals of every scale between the smallest and the largest', async (t) => {
  const digits = '1234567890123456789012345678';
  const numbers = [
    '0',
    '-0.5',
    '100',
    '0.0000000001',
    '-9223372036854775808',
    '9223372036854775807',
    '92233720368547758.08',
  ];
  const cells = [...numbers, `-${digits}`, `${digits}.25`, '1.50000000000000000000', '0.00000000000000000000'];
  const template = {
    input: { columns: [{ name: 'a' }, { name: 'ok' }] },
    operations: [{ op: 'cast', columns: { a: 'decimal', ok: 'boolean' } }],
    output: { format: 'parquet' },
  };
  const lines = Array.from({ length: 3 }, (_, round) => cells.map((text) => `${text},${round === 1}\n,`)).flat();
  const { rows } = await readParquet(await written(template, ['a,ok', ...lines].join('\n')));
  const found = rows.filter((_, row) => row % 2 === 0).map(([value]) => value![1]);
  const expected = ['0', '-0.5', '100', '0.0000000001', ...cells.slice(4, 9), '1.5', '0'].map(withTenPlaces);
  t.strictSame(found, [...expected, ...expected, ...expected]);
  t.ok(rows.every(([value], row) => (row % 2 === 1) === (value === null)));
});

/** The decimal as the file keeps it by default. */
function withTenPlaces(text: string): string {
  const [whole, places = ''] = text.split('.');
  return `${whole}.${places.padEnd(10, '0')}`;
}

test('our own reader gives the cells again, with their kinds', async (t) => {
  const { rows } = await readParquet(await written(TEMPLATE, CSV));
  t.strictSame(rows[101], [
    ...([
      ['number', '101000000707'],
      ['number', '1.0100'],
      ['number', '12.625'],
      ['date', '2031-02-03'],
    ] as const),
    ...([
      ['datetime', '2026-01-31T13:05:41.25Z'],
      ['boolean', 'false'],
      ['text', 'note 1 ü'],
    ] as const),
    ['json', '{"a":101}'],
  ]);
});

test('every cell as DuckDB reads it', { skip: WITHOUT_DUCKDB }, async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'out.parquet');
  writeFileSync(path, await written(TEMPLATE, CSV));
  const csv = join(folder, 'in.csv');
  writeFileSync(csv, CSV);
  const duck = await DuckDb.open();
  await duck.run("set timezone = 'UTC'");
  const types = (await duck.rows(`describe select * from '${path}'`)).map(([name, type]) => `${name} ${type}`);
  t.strictSame(types, [
    ...['id BIGINT', 'amount DECIMAL(38,4)', 'ratio DOUBLE', 'day DATE', 'at TIMESTAMP WITH TIME ZONE', 'ok BOOLEAN'],
    ...['note VARCHAR', 'doc JSON'],
  ]);
  const source = `select id::bigint, amount::decimal(38,4), ratio::double, day::date, "at"::timestamptz, ok::boolean,
    note::varchar, doc::json from read_csv('${csv}', all_varchar = true, quote = '"', escape = '"')`;
  t.strictSame(await duck.rows(`select * from '${path}'`), await duck.rows(source));
});

test('the bytes do not depend on how rows come, and row groups on the budget alone', {
  skip: skipUnlessLong,
}, async (t) => {
  const whole = await written(TEMPLATE, CSV);
  for (const rows of [1, 7, 999]) t.ok((await written(TEMPLATE, CSV, rows)).equals(whole), `batches of ${rows}`);
  const random = new Chance(1);
  const long = ['text', ...Array.from({ length: 700 }, () => random.bytes(6000).toString('hex'))].join('\n');
  const plain = { output: { format: 'parquet' } };
  const tight = await written(plain, long, 4096, { spills: true });
  const roomy = await written(plain, long);
  const groups = (bytes: Buffer): number => parquetMetadata(arrayBuffer(bytes)).row_groups.length;
  t.equal(groups(roomy), 1);
  t.ok(groups(tight) > 1, 'smaller ones where memory is short');
  const rowsOf = async (bytes: Buffer) => (await readParquet(bytes)).rows;
  t.strictSame(await rowsOf(tight), await rowsOf(roomy));
});

test('row groups end at 64 MiB', { skip: skipUnlessLong }, async (t) => {
  const line = 'x'.repeat(1_000_000);
  const input = `text\n${Array.from({ length: 150 }, (_, row) => `${row}${line}`).join('\n')}\n`;
  const bytes = await written({ output: { format: 'parquet' } }, input);
  const { row_groups: groups } = parquetMetadata(arrayBuffer(bytes));
  t.equal(groups.length, 3);
  for (const { total_byte_size: size } of groups) t.ok(size <= 64 * 1024 * 1024, `${size} bytes`);
});

test('no rows; a decimal without a place; text keeps no kind', async (t) => {
  const empty = await written(TEMPLATE, `${HEAD}\n`);
  t.equal((await readParquet(empty)).rows.length, 0);
  t.strictSame(await parquetReadObjects({ file: arrayBuffer(empty) }), []);
  const thin = { ...TEMPLATE, output: { format: 'parquet', parquet: { decimal_scale: 1 } } };
  const { outcome } = await applyTemplate(thin, CSV);
  t.match(outcome.failure, { code: 'TEMPLATE_CHECK_FAILED', message: /decimal_scale/ });
  const again = await applyTemplate({ output: { format: 'parquet' } }, await written(TEMPLATE, CSV));
  t.match(again.outcome.output, { mimeType: 'application/vnd.apache.parquet', ending: 'parquet' });
  t.strictSame((await readParquet(again.bytes!)).rows[101]![1], ['text', '1.0100']);
});
