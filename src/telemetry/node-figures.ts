// Figures of the node that nothing counts for their own sake: its build, its disk, the Runs that wait, lines of the log that
// were lost. Read at the moment of a scrape.
import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import type { StoreFigure } from '../stores/stores.ts';
import type { FigureDefinition } from './metric-definition.ts';
import { readFigures } from './read-figures.ts';

export interface NodeFigureSources {
  /** null: the disk cannot be asked. */
  readonly diskFreeBytes: number | null;
  readonly oldestRunSeconds: number;
  readonly waited: { readonly seconds: number; readonly runs: number };
  readonly logLinesLost: number;
}

export const NODE_FIGURES: readonly FigureDefinition<NodeFigureSources & { readonly build: string }>[] = [
  {
    name: 'template_run_build_info',
    kind: 'gauge',
    help: 'Always 1; `build` tells the version and that of Node.',
    labels: ['build'],
    read: ({ build }) => new Map([[build, 1]]),
  },
  {
    name: 'template_run_run_wait_seconds_total',
    kind: 'counter',
    help: 'Time that Runs waited for a thread.',
    labels: [],
    read: ({ waited }) => waited.seconds,
  },
  {
    name: 'template_run_runs_begun_total',
    kind: 'counter',
    help: 'Runs that a thread has begun.',
    labels: [],
    read: ({ waited }) => waited.runs,
  },
  {
    name: 'template_run_oldest_run_seconds',
    kind: 'gauge',
    help: 'Age of the oldest Run that the threads hold or that waits for them; 0 where there is none.',
    labels: [],
    read: ({ oldestRunSeconds }) => oldestRunSeconds,
  },
  {
    name: 'template_run_log_lines_lost_total',
    kind: 'counter',
    help: 'Lines of the log that were not taken.',
    labels: [],
    read: ({ logLinesLost }) => logLinesLost,
  },
  {
    name: 'template_run_disk_free_bytes',
    kind: 'gauge',
    help: 'Free below `--data`; absent where that cannot be used.',
    labels: [],
    // Without a value where it is not known: 0 would be a full disk.
    read: ({ diskFreeBytes }) => diskFreeBytes,
  },
];

/** What it returns makes them of what is read. */
export function nodeFigures(): (sources: NodeFigureSources) => readonly StoreFigure[] {
  const { version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')) as { version: string };
  const build = `template-run ${version}, Node ${process.version.slice(1)}`;
  return (sources) => readFigures(NODE_FIGURES, { ...sources, build });
}
