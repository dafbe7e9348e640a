// Miller 6 in a separate process. Its start of some milliseconds is included in its time.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Contender } from './contender.ts';

/** Interval at which the peak memory of the process is read, in milliseconds. */
const PROBE_MILLISECONDS = 20;

export const miller: Contender = {
  async prepare() {},
  async run({ workload, input, output }) {
    const file = openSync(output, 'w');
    const format = workload.ending === 'csv' ? '--ocsv' : '--ojsonl';
    const args = ['--icsv', format, ...workload.miller.flags, ...workload.miller.verbs, input];
    const child = spawn('mlr', args, { stdio: ['ignore', file, 'inherit'] });
    let peakBytes: number | null = null;
    const probe = setInterval(() => {
      peakBytes = peakOf(child.pid!) ?? peakBytes;
    }, PROBE_MILLISECONDS);
    try {
      const status = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
      if (status !== 0) throw new Error(`mlr ended with ${status}`);
    } finally {
      clearInterval(probe);
      closeSync(file);
    }
    return peakBytes;
  },
};

/** Peak memory of the process in bytes, or null if it is unknown or the process is gone. */
function peakOf(pid: number): number | null {
  try {
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return peak === null ? null : Number(peak[1]) * 1024;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
