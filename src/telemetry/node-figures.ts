// Figures of the node that nothing counts for their own sake: its build, its disk, the Runs that wait, lines of the log that
// were lost. Read at the moment of a scrape.
import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import type { StoreFigure } from '../stores/stores.ts';

export interface NodeFigureSources {
  /** null: the disk cannot be asked. */
  readonly diskFreeBytes: number | null;
  readonly oldestRunSeconds: number;
  readonly waited: { readonly seconds: number; readonly runs: number };
  readonly logLinesLost: number;
}

/** What it returns makes them of what is read. */
export function nodeFigures(): (sources: NodeFigureSources) => readonly StoreFigure[] {
  const { version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')) as { version: string };
  const build = `template-run ${version}, Node ${process.version.slice(1)}`;
  return ({ diskFreeBytes, oldestRunSeconds, waited, logLinesLost }) => [
    figure('template_run_build_info', 'Always 1; the label tells the build.', 1, ['build', build]),
    figure('template_run_run_wait_seconds_total', 'Time that Runs waited for a thread.', waited.seconds),
    figure('template_run_runs_begun_total', 'Runs that a thread has begun.', waited.runs),
    figure('template_run_oldest_run_seconds', 'Age of the oldest Run in the pool; 0: there is none.', oldestRunSeconds),
    figure('template_run_log_lines_lost_total', 'Lines of the log that were not taken.', logLinesLost),
    // Without a value where it is not known: 0 would be a full disk.
    ...(diskFreeBytes === null ? [] : [figure('template_run_disk_free_bytes', 'Free below --data.', diskFreeBytes)]),
  ];
}

function figure(name: string, help: string, value: number, label: readonly [string, string] = ['', '']): StoreFigure {
  return { name, help, label: label[0] === '' ? null : label[0], values: new Map([[label[1], value]]) };
}
