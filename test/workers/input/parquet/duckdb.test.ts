// Parquet files written by DuckDB: all its types, all codecs, both versions of pages. Each cell is compared with DuckDB's own
// text.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { DuckDb, WITHOUT_DUCKDB } from '../../../fixtures/duckdb.ts';
import { failureOf, readParquet } from './parquet-cells.ts';

const ROWS = 3000;
const skip = WITHOUT_DUCKDB;

/** A column's values, the expected text of each (in SQL; null: the value cast to text), and its kind. */
const COLUMNS: readonly (readonly [name: string, value: string, text: string | null, kind: string])[] = [
  ['tiny', '(i % 200 - 100)::tinyint', null, 'number'],
  ['small', '(i * 7 % 60000 - 30000)::smallint', null, 'number'],
  ['int', '(i * 1000003 % 4000000000 - 2000000000)::int', null, 'number'],
  ['big', '(i * 1000000000000037)::bigint', null, 'number'],
  ['utiny', '(i % 256)::utinyint', null, 'number'],
  ['usmall', '(i * 7 % 65536)::usmallint', null, 'number'],
  ['uint', '(i * 1000003 % 4294967296)::uinteger', null, 'number'],
  ['ubig', '(18446744073709551615 - i)::ubigint', null, 'number'],
  ['dec4', '(i % 300 * 0.01 - 1.5)::decimal(4, 2)', null, 'number'],
  ['dec9', '(i * 1.37 - 5000)::decimal(9, 3)', null, 'number'],
  ['dec18', '(i * 123456789.5 - 5)::decimal(18, 4)', null, 'number'],
  ['dec38', '(i * 1234567890123456789.123456789 - 99)::decimal(38, 9)', null, 'number'],
  ['dec0', '(i * 12345678901234567890)::decimal(38, 0)', null, 'number'],
  ['half', '(i * 0.5)::double', "regexp_replace((i * 0.5)::varchar, '\\.0$', '')", 'number'],
  ['real', '(i * 0.1)::float', "regexp_replace((i * 0.1)::float::varchar, '\\.0$', '')", 'number'],
  ['bool', 'i % 3 = 0', null, 'boolean'],
  ['day', "date '0001-01-01' + (i * 400)::int", null, 'date'],
  ['time', "time '00:00:00' + interval (i * 9) second", null, 'time'],
  ['stamp_s', "(timestamp '1969-12-31 23:00:00' + interval (i) second)::timestamp_s", 'iso', 'datetime'],
  ['stamp_ms', "(timestamp '1969-12-31 23:00:00' + interval (i * 250) millisecond)::timestamp_ms", 'iso', 'datetime'],
  ['stamp', "timestamp '1000-12-31 23:00:00' + interval (i * 1000003) microsecond", 'iso', 'datetime'],
  ['stamp_ns', 'make_timestamp_ns(i * 1000003 - 5)', 'iso', 'datetime'],
  ['instant', "(timestamp '2020-01-01 00:00:00' + interval (i) hour)::timestamptz", 'utc', 'datetime'],
  ['text', "'Zeile ' || i || ' \u00fc\u{1f600}'", null, 'text'],
  ['few', "'value ' || (i % 13)", null, 'text'],
  ['long', "repeat('x' || i, (i % 50)::int)", null, 'text'],
  ['enum', "(case i % 3 when 0 then 'red' when 1 then 'green' else 'blue' end)::colour", null, 'text'],
  ['uuid', 'md5(i::varchar)::uuid', null, 'text'],
  ['json', '(\'{"a": \' || i || \', "b": [1, "x y"]}\')::json', '\'{"a":\' || i || \',"b":[1,"x y"]}\'', 'json'],
  ['list', '[i, null, i + 1]', "'[' || i || ',null,' || i + 1 || ']'", 'json'],
  ['lists', "[[], null, ['a', i::varchar]]", `'[[],null,["a","' || i || '"]]'`, 'json'],
  ['struct', "{'a': i, 'b': {'c': 'x'}}", `'{"a":' || i || ',"b":{"c":"x"}}'`, 'json'],
  ['map', "map {'k' || i: i, 'z': null}", `'{"k' || i || '":' || i || ',"z":null}'`, 'json'],
  ['structs', "[{'d': date '2020-02-29', 'n': null}]", `'[{"d":"2020-02-29","n":null}]'`, 'json'],
];

function textOf([, value, text]: (typeof COLUMNS)[number]): string {
  const iso = `regexp_replace(replace((${value})::varchar, ' ', 'T'), '(\\.[0-9]*?)0+$', '\\1')`;
  if (text === 'iso') return `regexp_replace(${iso}, '\\.$', '')`;
  if (text === 'utc') return `strftime((${value}) at time zone 'UTC', '%Y-%m-%dT%H:%M:%SZ')`;
  return text ?? `(${value})::varchar`;
}

test('every type, codec and version of pages', { skip }, async (t) => {
  const duck = await DuckDb.open();
  await duck.run("set timezone = 'UTC'");
  await duck.run("create type colour as enum ('red', 'green', 'blue')");
  const orNull = (sql: string, place: number): string => `case when (i + ${place}) % 17 = 0 then null else ${sql} end`;
  const values = COLUMNS.map(([name, value], place) => `${orNull(value, place)} as ${name}`);
  const texts = COLUMNS.map((column, place) => orNull(textOf(column), place));
  const expected = await duck.rows(`select ${texts.join(', ')} from range(${ROWS}) r(i)`);
  const folder = t.testdir();
  for (const [codec, version] of [
    ...['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4', 'lz4_raw'].map((codec) => [codec, 'V1'] as const),
    ...['uncompressed', 'snappy', 'gzip', 'zstd'].map((codec) => [codec, 'V2'] as const),
  ]) {
    const path = join(folder, `${codec}-${version}.parquet`);
    const options = `format parquet, codec '${codec}', parquet_version '${version}', row_group_size 2048`;
    await duck.run(`copy (select ${values.join(', ')} from range(${ROWS}) r(i)) to '${path}' (${options})`);
    const { rows, head } = await readParquet(readFileSync(path), { input: { null_values: [] } });
    t.equal(rows.length, ROWS);
    t.strictSame(
      head.headers,
      COLUMNS.map(([name]) => name),
    );
    for (const [place, [name, , , kind]] of COLUMNS.entries()) {
      const cells = rows.map((row) => row[place]?.[1] ?? null);
      t.equal(cells.join('\n'), expected.map((row) => row[place]).join('\n'), `${codec} ${version} ${name}`);
      t.ok(
        rows.every((row) => row[place] == null || row[place]![0] === kind),
        `${name} is ${kind}`,
      );
    }
  }
});

test('values without a native kind', { skip }, async (t) => {
  const duck = await DuckDb.open();
  const path = join(t.testdir(), 'odd.parquet');
  const select = `select unnest(['nan', 'infinity', '-infinity', '1e300', '-1.5e-7']::double[]) as d,
    unnest(['nan', 'infinity', '1e-45', '3.4e38', '16777216']::float[]) as f,
    unnest(['10000-01-01', '9999-12-31', '0044-03-15 (BC)', '0001-01-01', null]::date[]) as day,
    unnest(['24:00:00', '23:59:59.999999', '00:00:00', '12:00:00.5', null]::time[]) as t,
    unnest([interval '14 months 3 days 1500 milliseconds', interval '0 days', null, null, null]) as span,
    unnest(['', 'NA', ' ', 'x', null]) as s`;
  await duck.run(`copy (${select}) to '${path}' (format parquet)`);
  const { rows } = await readParquet(readFileSync(path), { input: { null_values: [] } });
  t.strictSame(rows[0], [
    ...([
      ['text', 'NaN'],
      ['text', 'NaN'],
      ['text', '+010000-01-01'],
      ['text', '24:00:00'],
    ] as const),
    ...([
      ['text', 'P14M3DT1.5S'],
      ['text', ''],
    ] as const),
  ]);
  const texts = rows.map((row) => row.map((cell) => cell?.[1] ?? null));
  t.strictSame(texts.slice(1), [
    ['Infinity', 'Infinity', '9999-12-31', '23:59:59.999999', 'PT0S', 'NA'],
    ['-Infinity', '1e-45', '-000043-03-15', '00:00:00', null, ' '],
    ['1e+300', '3.4e+38', '0001-01-01', '12:00:00.5', null, 'x'],
    ['-1.5e-7', '16777216', null, null, null, null],
  ]);
});

test('no rows, no row groups, bytes that are no text, encryption', { skip }, async (t) => {
  const duck = await DuckDb.open();
  const folder = t.testdir();
  const written = async (select: string, options = ''): Promise<Buffer> => {
    const path = join(folder, 'file.parquet');
    await duck.run(`copy (${select}) to '${path}' (format parquet${options})`);
    return readFileSync(path);
  };
  const empty = await readParquet(await written('select 1 as a, null::varchar as b where false'));
  t.strictSame([empty.head.headers, empty.rows], [['a', 'b'], []]);
  const nulls = await readParquet(await written('select null::int as a, null::varchar as b from range(5000)'));
  t.ok(nulls.rows.length === 5000 && nulls.rows.every((row) => row.every((cell) => cell === null)));
  const blob = await written(`select '\\xFF\\x00'::blob as bytes, 1 as id`);
  t.match(await failureOf(blob), { code: 'MALFORMED_FILE', message: /Column 1 .*other_columns: drop/ });
  t.strictSame((await readParquet(blob, { used: [1] })).rows, [[null, ['number', '1']]]);
  t.strictSame((await readParquet(await written(`select 'abc'::blob as bytes`))).rows, [[['text', 'abc']]]);
  // This DuckDB reads encrypted files but does not write them. The first and last four bytes of a file mark it as encrypted.
  const secret = await written('select 1 as a');
  secret.write('PARE', secret.length - 4);
  t.match(await failureOf(secret), { code: 'UNSUPPORTED_FILE_TYPE', message: /encrypted/ });
});
