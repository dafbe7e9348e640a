// The thread of fastify-server.ts: W1 with csv-parse on a buffer, or from file to file.
import type { Cells } from '../workloads/javascript-program.ts';
import { w1 } from '../workloads/w1.ts';
import { csvParse } from './csv-parse.ts';
import { duckdb } from './duckdb.ts';
import { requiredPeer } from './peers.ts';
import { csvLine } from './text-writer.ts';

export interface FileTask {
  readonly engine: 'csv-parse' | 'duckdb';
  readonly input: string;
  readonly output: string;
}

/** Number of threads of DuckDB, which processes the file alone. */
const DUCKDB_THREADS = 2;

/** Returns the size of the output in bytes, because the output itself would have to be stored. */
export function transform(input: Uint8Array): number {
  const { parse } = requiredPeer<{ parse: (input: Buffer) => Cells[] }>('csv-parse/sync');
  const [header, ...rows] = parse(Buffer.from(input));
  const { columns, row } = w1.javascript(header!);
  const lines = rows.map((cells) => csvLine(row(cells)!));
  return Buffer.byteLength(csvLine(columns) + lines.join(''));
}

export async function transformFile({ engine, input, output }: FileTask): Promise<void> {
  const contender = engine === 'duckdb' ? duckdb : csvParse;
  const job = { workload: w1, input, output, threads: DUCKDB_THREADS, budgetBytes: null };
  await contender.prepare(job);
  await contender.run(job);
}
