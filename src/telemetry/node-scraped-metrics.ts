// Metrics of the node that are read during a scrape only: build, disk, waiting Runs, dropped log lines.
import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import type { MetricValues } from '../stores/stores.ts';
import { readMetrics, type ScrapedMetricDefinition } from './metric-definition.ts';

export interface ScrapedMetricSources {
  /** null if the disk cannot be queried. */
  readonly diskFreeBytes: number | null;
  readonly oldestRunSeconds: number;
  readonly waited: { readonly seconds: number; readonly runs: number };
  readonly logLinesLost: number;
  readonly answersClosed: number;
  /** Name of the HTTP front end. */
  readonly httpLibrary: string;
}

export const NODE_SCRAPED_METRICS: readonly ScrapedMetricDefinition<
  ScrapedMetricSources & { readonly build: string }
>[] = [
  {
    name: 'template_run_build_info',
    kind: 'gauge',
    help: 'Always 1; `build` contains the version of the program and of Node.',
    labels: ['build'],
    read: ({ build }) => new Map([[build, 1]]),
  },
  {
    name: 'template_run_http_library_info',
    kind: 'gauge',
    help: 'Always 1; `library` is the HTTP server of this node: `uws` (uWebSockets.js) or `node`, which is slower.',
    labels: ['library'],
    read: ({ httpLibrary }) => new Map([[httpLibrary, 1]]),
  },
  {
    name: 'template_run_run_wait_seconds_total',
    kind: 'counter',
    help: 'Total time for which Runs waited for a thread.',
    labels: [],
    read: ({ waited }) => waited.seconds,
  },
  {
    name: 'template_run_runs_begun_total',
    kind: 'counter',
    help: 'Runs that a thread has started.',
    labels: [],
    read: ({ waited }) => waited.runs,
  },
  {
    name: 'template_run_oldest_run_seconds',
    kind: 'gauge',
    help: 'Age of the oldest Run in a worker thread or its queue; 0 without such a Run.',
    labels: [],
    read: ({ oldestRunSeconds }) => oldestRunSeconds,
  },
  {
    name: 'template_run_log_lines_lost_total',
    kind: 'counter',
    help: 'Lost lines of the log.',
    labels: [],
    read: ({ logLinesLost }) => logLinesLost,
  },
  {
    name: 'template_run_answers_closed_total',
    kind: 'counter',
    help: 'Connections that were closed because unread responses used too much memory.',
    labels: [],
    read: ({ answersClosed }) => answersClosed,
  },
  {
    name: 'template_run_disk_free_bytes',
    kind: 'gauge',
    help: 'Free disk space below `--data`; absent if the folder cannot be used.',
    labels: [],
    // No value if unknown: 0 would mean a full disk.
    read: ({ diskFreeBytes }) => diskFreeBytes,
  },
];

/** Returns a function that converts the sources to metrics. */
export function nodeMetricReader(): (sources: ScrapedMetricSources) => readonly MetricValues[] {
  const { version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')) as { version: string };
  const build = `template-run ${version}, Node ${process.version.slice(1)}`;
  return (sources) => readMetrics(NODE_SCRAPED_METRICS, { ...sources, build });
}
