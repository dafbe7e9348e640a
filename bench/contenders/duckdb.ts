// DuckDB in this process, with the given number of threads.
import { INPUTS } from '../inputs/index.ts';
import { writeTables } from '../operations/tables.ts';
import type { Job } from '../workloads/job.ts';
import type { Contender, ContenderJob } from './contender.ts';
import { requiredPeer } from './peers.ts';

interface Connection {
  run(sql: string): Promise<unknown>;
}
interface Library {
  DuckDBInstance: {
    create(path: string, options: Record<string, string>): Promise<{ connect(): Promise<Connection> }>;
  };
}

/** Several measured runs read the same file, as no user does, so DuckDB may not keep its content. */
const OPTIONS = { enable_external_file_cache: 'false' };

class DuckDb implements Contender<Job> {
  #connection: Connection | null = null;

  async prepare({ threads }: ContenderJob<Job>): Promise<void> {
    const { DuckDBInstance } = requiredPeer<Library>('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:', { ...OPTIONS, threads: String(threads) });
    this.#connection = await instance.connect();
  }

  async run({ workload, input, output }: ContenderJob<Job>): Promise<null> {
    const connection = this.#connection!;
    const { delimiter, type, encoding } = INPUTS[workload.input];
    const dialect = `delim = '${delimiter}', quote = '"', escape = '"', header = true, all_varchar = true`;
    // DuckDB supports Latin-1, which is equivalent to windows-1252 for the content of this file.
    const csv = encoding === undefined ? dialect : `${dialect}, encoding = 'latin-1'`;
    const rows = {
      csv: `read_csv('${input}', ${csv})`,
      json: `read_json('${input}', format = 'array')`,
      ndjson: `read_json('${input}', format = 'newline_delimited')`,
      parquet: `read_parquet('${input}')`,
    };
    await connection.run(`CREATE OR REPLACE VIEW input AS SELECT * FROM ${rows[type ?? 'csv']}`);
    for (const [name, path] of Object.entries(writeTables(`${output}.tables`, workload.tables ?? []))) {
      await connection.run(`CREATE OR REPLACE VIEW ${name} AS SELECT * FROM read_csv('${path}', all_varchar = true)`);
    }
    const format = { csv: 'HEADER', ndjson: 'FORMAT json', parquet: 'FORMAT parquet' }[workload.ending];
    await connection.run(`COPY (${workload.duckdb}) TO '${output}' (${format})`);
    return null;
  }
}

export const duckdb: Contender<Job> = new DuckDb();
