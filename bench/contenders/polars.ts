// Polars' streaming engine in this process, on as many threads as the machine has (POLARS_MAX_THREADS sets others).
import { SELECTED } from '../workloads.ts';
import type { Contender } from './contender.ts';
import { requiredPeer } from './peers.ts';

interface Lazy {
  select(...columns: unknown[]): Lazy;
  unique(options: { subset: string[]; keep: string; maintainOrder: boolean }): Lazy;
  sinkCSV(path: string, options?: Record<string, unknown>): { collect(): Promise<unknown> };
  sinkNdJson(path: string, options?: Record<string, unknown>): { collect(): Promise<unknown> };
}
interface Library {
  scanCSV(path: string, options: Record<string, unknown>): Lazy;
  col(name: string): { alias(name: string): unknown };
}

export const polars: Contender = {
  async prepare() {
    requiredPeer('nodejs-polars');
  },
  async run(workload, input, output) {
    const { scanCSV, col } = requiredPeer<Library>('nodejs-polars');
    const all = scanCSV(input, { inferSchemaLength: 0 });
    if (workload === 'W4') {
      await all
        .unique({ subset: ['email'], keep: 'first', maintainOrder: true })
        .sinkCSV(output)
        .collect();
      return;
    }
    const selected = all.select(...SELECTED.map(([column, name]) => col(column).alias(name)));
    await (workload === 'W1' ? selected.sinkCSV(output) : selected.sinkNdJson(output)).collect();
  },
};
