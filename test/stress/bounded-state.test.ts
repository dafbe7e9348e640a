// Sort, dedupe, aggregate, join and fill_up on 200 MB with 16 MiB of state: the outputs equal DuckDB's, byte for byte.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { peer } from '../../bench/contenders/peers.ts';
import { skipUnlessLong } from '../sweep.ts';
import { digest, makeFiles, runLimited, STATE_BYTES } from '../workers/memory/limited-run.ts';

interface Connection {
  run(sql: string): Promise<unknown>;
}
interface Library {
  DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection> }> };
}

/** 200 MB of rows. */
const ROWS = 2_000_000;
const MINUTES_30 = 1_800_000;

/** An id is the row's number with leading zeros: its order is that of the file. */
const OPERATIONS: Readonly<Record<string, { readonly operation: object; readonly sql: string }>> = {
  sort: {
    operation: { op: 'sort', by: [{ column: 'name', order: 'desc' }, 'id'] },
    sql: 'SELECT * FROM orders ORDER BY name DESC, id',
  },
  dedupe: {
    operation: { op: 'dedupe', by: 'email' },
    sql: 'SELECT * FROM orders QUALIFY row_number() OVER (PARTITION BY email ORDER BY id) = 1 ORDER BY id',
  },
  aggregate: {
    operation: {
      op: 'aggregate',
      group_by: 'email',
      metrics: [
        { fn: 'count', as: 'orders' },
        { fn: 'min', column: 'id', as: 'first' },
        { fn: 'count_distinct', column: 'name', as: 'names' },
      ],
    },
    sql: `SELECT email, count(*) AS orders, min(id) AS "first", count(DISTINCT name) AS names FROM orders
          GROUP BY email ORDER BY min(id)`,
  },
  join: {
    operation: { op: 'join', table: 't', on: 'email', columns: ['city'], type: 'inner' },
    sql: 'SELECT orders.*, city FROM orders JOIN cities USING (email) ORDER BY id',
  },
  fill_up: {
    operation: { op: 'fill_up', columns: ['site'] },
    sql: `SELECT * REPLACE (first_value(site IGNORE NULLS) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
          AS site) FROM orders ORDER BY id`,
  },
};

const library = peer<Library>('@duckdb/node-api');
const skip = skipUnlessLong || (library === null ? 'DuckDB is not installed: npm run bench:setup' : false);

t.setTimeout(MINUTES_30);
t.test('answers of 200 MB within 16 MiB of state', { skip, timeout: MINUTES_30 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-state-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const files = makeFiles(folder, ROWS);
  const connection = await (await library!.DuckDBInstance.create(':memory:')).connect();
  for (const [table, path] of Object.entries({ orders: files.input, cities: files.table })) {
    await connection.run(`CREATE TABLE ${table} AS FROM read_csv('${path}', all_varchar = true, header = true)`);
  }
  for (const [name, { operation, sql }] of Object.entries(OPERATIONS)) {
    const { outcome, output, spill, mostBytes } = await runLimited(name, operation, files, STATE_BYTES);
    t.equal(outcome.failure, null, name);
    t.notOk(existsSync(spill), `${name} leaves no spill files`);
    t.ok(mostBytes < STATE_BYTES * 2, `${name} took ${mostBytes} bytes`);
    const expected = join(folder, `${name}.duckdb`);
    await connection.run(`COPY (${sql}) TO '${expected}' (HEADER)`);
    t.equal(digest(output), digest(expected), `${name} gives what DuckDB gives`);
    rmSync(output);
    rmSync(expected);
  }
});
