// Miller 6, a process of its own; its start of some milliseconds is part of its time.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Contender } from './contender.ts';

/** How often the process is asked for its peak memory, in milliseconds. */
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

/** The most that the process ever held, in bytes; null where the system does not tell or the process is gone. */
function peakOf(pid: number): number | null {
  try {
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return peak === null ? null : Number(peak[1]) * 1024;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
