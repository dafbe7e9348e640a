// DuckDB in this process, with as many threads as it is given.
import { INPUTS } from '../inputs/index.ts';
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
  async run({ workload, input, output, threads }) {
    const { DuckDBInstance } = requiredPeer<Library>('@duckdb/node-api');
    const connection = await (await DuckDBInstance.create(':memory:', { threads: String(threads) })).connect();
    const { delimiter } = INPUTS[workload.input];
    const dialect = `delim = '${delimiter}', quote = '"', escape = '"', header = true, all_varchar = true`;
    await connection.run(`CREATE VIEW input AS SELECT * FROM read_csv('${input}', ${dialect})`);
    const format = workload.ending === 'csv' ? 'HEADER' : 'FORMAT json';
    await connection.run(`COPY (${workload.duckdb}) TO '${output}' (${format})`);
    return null;
  },
};
