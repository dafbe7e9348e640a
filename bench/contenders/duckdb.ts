// DuckDB in this process, two threads. Its W4 is the fast form: one row of each email, neither surely the first nor in
// order (the forms that are both take two to three times as long).
import { SELECTED, type WorkloadName } from '../workloads.ts';
import type { Contender } from './contender.ts';
import { requiredPeer } from './peers.ts';

interface Connection {
  run(sql: string): Promise<unknown>;
}
interface Library {
  DuckDBInstance: {
    create(path: string, options: Record<string, string>): Promise<{ connect(): Promise<Connection> }>;
  };
}

export const duckdb: Contender = {
  async prepare() {
    requiredPeer('@duckdb/node-api');
  },
  async run(workload, input, output) {
    const { DuckDBInstance } = requiredPeer<Library>('@duckdb/node-api');
    const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
    await connection.run(
      `COPY (${query(workload, input)}) TO '${output}' (${workload === 'W7' ? 'FORMAT json' : 'HEADER'})`,
    );
  },
};

function query(workload: WorkloadName, input: string): string {
  const from = `read_csv('${input}', all_varchar = true, header = true)`;
  if (workload !== 'W4')
    return `SELECT ${SELECTED.map(([column, name]) => `${column} AS ${name}`).join(', ')} FROM ${from}`;
  return `SELECT DISTINCT ON (email) * FROM ${from}`;
}
