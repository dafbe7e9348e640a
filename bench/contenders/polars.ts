// The streaming engine of Polars in this process, with the number of threads in POLARS_MAX_THREADS.
import { INPUTS } from '../inputs/index.ts';
import type { Job } from '../workloads/job.ts';
import type { PolarsLibrary } from '../workloads/polars-names.ts';
import type { Contender } from './contender.ts';
import { requiredPeer } from './peers.ts';

export const polars: Contender<Job> = {
  async prepare() {
    requiredPeer('nodejs-polars');
  },
  async run({ workload, input, output, threads }) {
    if (process.env['POLARS_MAX_THREADS'] !== String(threads)) throw new Error('Polars takes its threads at its start');
    const library = requiredPeer<PolarsLibrary>('nodejs-polars');
    const { delimiter, type } = INPUTS[workload.input];
    const rows =
      type === undefined
        ? library.scanCSV(input, { inferSchemaLength: 0, sep: delimiter })
        : type === 'parquet'
          ? library.scanParquet(input)
          : library.scanJson(input);
    if (workload.polars === null) throw new Error(`${workload.name} cannot be said in Polars`);
    const result = workload.polars(rows, library);
    await (workload.ending === 'csv' ? result.sinkCSV(output) : result.sinkNdJson(output)).collect();
    return null;
  },
};
