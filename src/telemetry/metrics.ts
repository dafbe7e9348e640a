// Counters, gauges and histograms in Prometheus text format: their definitions, and their values.

import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { BUDGET_CHARGES } from '../admission/memory-budget.ts';
import type { FinishedExchange } from '../http/exchange.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import type { RunEnded, RunRecord } from '../runs/run.ts';
import {
  type MetricDefinition,
  type MetricValues,
  plainHelp,
  readMetrics,
  type ScrapedMetricDefinition,
} from './metric-definition.ts';

// Measures the delay of the event loop in fixed windows, so that reading it, however often, does not change the result
// for other readers.

/** Longer than the usual scrape interval, so that each window is included in at least one scrape. */
const WINDOW_MILLISECONDS = 30_000;

/** Interval of the measurement. */
const RESOLUTION_MILLISECONDS = 10;

const NANOSECONDS = 1e9;

export interface DelayHistogram {
  /** In nanoseconds. */
  percentile(percentile: number): number;
  reset(): void;
}

export class EventLoopDelay {
  readonly #histogram: DelayHistogram;
  /** Value of the last full window in seconds, or null before the first one is full. */
  #last: number | null = null;

  constructor(histogram: DelayHistogram = measured()) {
    this.#histogram = histogram;
    // Does not keep the process alive.
    setInterval(() => this.turn(), WINDOW_MILLISECONDS).unref();
  }

  /** 99th percentile of the last full window, in seconds. Before the first window is full, since the start. */
  get p99Seconds(): number {
    return this.#last ?? this.#now();
  }

  /** Ends a window. */
  turn(): void {
    this.#last = this.#now();
    this.#histogram.reset();
  }

  #now(): number {
    const seconds = this.#histogram.percentile(99) / NANOSECONDS;
    // Without any measurement, the percentile is not a number.
    return Number.isFinite(seconds) ? seconds : 0;
  }
}

function measured(): DelayHistogram {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MILLISECONDS });
  histogram.enable();
  return histogram;
}

// Formats metrics of the stores in Prometheus text format. They are counted elsewhere.

/** Names, labels and values are constants of the service, so nothing needs escaping. */
function metricText(metricValues: readonly MetricValues[]): string {
  return metricValues
    .map(({ metric, values }) => {
      const { name, kind, labels } = metric;
      const samples = [...values].map(([text, value]) => {
        return `${name}${labels.map((label) => `{${label}="${text}"}`).join('')} ${value}\n`;
      });
      return `# HELP ${name} ${plainHelp(metric)}\n# TYPE ${name} ${kind}\n${samples.join('')}`;
    })
    .join('');
}

// Names, kinds, labels and help texts of the metrics that are counted here.

const HOLDERS = [...BUDGET_CHARGES, 'threads'].map((holder) => `\`${holder}\``).join(', ');

export const NODE_METRICS = {
  requests: {
    name: 'template_run_requests_total',
    kind: 'counter',
    help: 'Requests by endpoint, status and error code; status 0: the client disconnected.',
    labels: ['operation', 'status', 'code'],
  },
  requestSeconds: {
    name: 'template_run_request_seconds',
    kind: 'histogram',
    help: 'Time from the head of a request to its response, by endpoint.',
    labels: ['operation'],
  },
  receivedBytes: {
    name: 'template_run_received_bytes_total',
    kind: 'counter',
    help: 'Bytes of request bodies.',
    labels: [],
  },
  sentBytes: { name: 'template_run_sent_bytes_total', kind: 'counter', help: 'Bytes of responses.', labels: [] },
  runs: {
    name: 'template_run_runs_total',
    kind: 'counter',
    help: 'Ended Runs by status and error code.',
    labels: ['status', 'code'],
  },
  runSeconds: {
    name: 'template_run_run_seconds',
    kind: 'histogram',
    help: 'Time from the last byte of a body to the end of its Run.',
    labels: [],
  },
  rowsRead: { name: 'template_run_rows_read_total', kind: 'counter', help: 'Data rows read by Runs.', labels: [] },
  ready: { name: 'template_run_ready', kind: 'gauge', help: '1 while `/readyz` returns 200, otherwise 0.', labels: [] },
  catalogInForce: {
    name: 'template_run_catalog_in_force',
    kind: 'gauge',
    help: '0 if the current catalog folder was refused or could not be read, so that the previous catalog is still used; otherwise 1.',
    labels: [],
  },
  catalogReadings: {
    name: 'template_run_catalog_readings_total',
    kind: 'counter',
    help: 'Readings of the catalog folder by result: `loaded`, `refused`, `fault`.',
    labels: ['result'],
  },
  catalogTests: {
    name: 'template_run_catalog_tests_total',
    kind: 'counter',
    help: 'Tests of Templates that ran when the catalog was read, by result: `passed`, `failed`.',
    labels: ['result'],
  },
  runsInPool: {
    name: 'template_run_runs_in_pool',
    kind: 'gauge',
    help: 'Runs in worker threads or in their queues.',
    labels: [],
  },
  runsSuspended: {
    name: 'template_run_runs_aside',
    kind: 'gauge',
    help: 'Runs without reserved memory: suspended because their upload is slow, or waiting to reserve memory again.',
    labels: [],
  },
  runsKept: { name: 'template_run_runs_kept', kind: 'gauge', help: 'Runs in the registry.', labels: [] },
  threadsLive: {
    name: 'template_run_threads_live',
    kind: 'gauge',
    help: 'Worker threads that accept Runs.',
    labels: [],
  },
  threadsLost: {
    name: 'template_run_threads_lost_total',
    kind: 'counter',
    help: 'Worker threads that were lost.',
    labels: [],
  },
  outputsMissing: {
    name: 'template_run_outputs_missing_total',
    kind: 'counter',
    help: 'Downloads that failed because the output of a finished Run was missing: the file was removed, or the nodes do not share their storage of outputs.',
    labels: [],
  },
  threadsStuck: {
    name: 'template_run_threads_stuck',
    kind: 'gauge',
    help: 'Lost worker threads that cannot be terminated.',
    labels: [],
  },
  budgetLimitBytes: {
    name: 'template_run_budget_limit_bytes',
    kind: 'gauge',
    help: 'The memory budget.',
    labels: [],
  },
  budgetHeldBytes: {
    name: 'template_run_budget_held_bytes',
    kind: 'gauge',
    help: `Used bytes of the memory budget by use: ${HOLDERS}.`,
    labels: ['charge'],
  },
  connections: {
    name: 'template_run_connections',
    kind: 'gauge',
    help: 'Open connections to the API port.',
    labels: [],
  },
  connectionsRefused: {
    name: 'template_run_connections_refused_total',
    kind: 'counter',
    help: 'Connections to the API port that were closed at once because of `--connections-max` or `--connections-per-address-max`.',
    labels: [],
  },
  quotaUsed: {
    name: 'template_run_quota_used',
    kind: 'gauge',
    help: 'Charged Runs of the billing period, and Runs in flight that may be charged, by account.',
    labels: ['account'],
  },
  quotaLimit: {
    name: 'template_run_quota_limit',
    kind: 'gauge',
    help: 'Maximum number of Runs in a billing period, by account; absent without a limit.',
    labels: ['account'],
  },
  eventLoopDelay: {
    name: 'template_run_event_loop_delay_p99_seconds',
    kind: 'gauge',
    help: '99th percentile of the last full interval of 30 s, independent of scrapes; should stay below 0.05. The metrics `nodejs_eventloop_lag_*` restart with each scrape.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

// Counters, gauges and histograms in Prometheus text format. The only importer of prom-client.

/** Counts by result. */
type Counts = Readonly<Record<string, number>>;

/** Sources that are read during a scrape. */
export interface MetricSources {
  /** Held bytes by holder, and the limit. */
  budget(): { readonly limitBytes: number; readonly heldBytes: Readonly<Record<string, number>> };
  /** Open connections of the API port. */
  connectionsOpen(): number;
  /** Total since the start. */
  connectionsRefused(): number;
  runsInPool(): number;
  /** Number of suspended Runs, which have released their memory. */
  runsSuspended(): number;
  runsKept(): number;
  liveThreads(): number;
  stuckThreads(): number;
  isReady(): Promise<boolean>;
  /** Results of reading the catalog's folder and of Template tests, and whether the last catalog read is in use. */
  catalog(): { readonly readings: Counts; readonly tests: Counts; readonly isLive: boolean };
  /** Metrics of the stores and of the node. */
  metricValues(): Promise<readonly MetricValues[]>;
  /** Quota of each account with a subscription. A limit of null means no limit. */
  quotas(): Promise<readonly { readonly account: string; readonly used: number; readonly limit: number | null }[]>;
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  requestFinished(exchange: FinishedExchange): void;
  runEnded(run: RunRecord, details: RunEnded): void;
  threadLost(): void;
  outputMissing(): void;
}

const SECONDS_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30, 120, 600];

export function openMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = tally(registers, NODE_METRICS.requests);
  const seconds = new SecondsHistogram(registry, NODE_METRICS.requestSeconds);
  const received = total(registers, NODE_METRICS.receivedBytes);
  const sent = total(registers, NODE_METRICS.sentBytes);
  const runs = tally(registers, NODE_METRICS.runs);
  const runSeconds = new SecondsHistogram(registry, NODE_METRICS.runSeconds);
  const rows = total(registers, NODE_METRICS.rowsRead);
  const missing = new Counter({ ...configOf(NODE_METRICS.outputsMissing), registers });
  const lost = new Counter({ ...configOf(NODE_METRICS.threadsLost), registers });
  gauges(sources, registers);
  const readQuotas = quotaGauges(sources, registers);
  return {
    contentType: registry.contentType,
    text: async () => {
      await readQuotas();
      return `${await registry.metrics()}${metricText(await sources.metricValues())}`;
    },
    requestFinished: ({ endpoint, status, code, milliseconds, receivedBytes, sentBytes }) => {
      const name = endpoint === '' ? 'none' : endpoint;
      requests(`${name} ${status} ${code ?? ''}`);
      seconds.add(milliseconds / 1000, name);
      received(receivedBytes);
      sent(sentBytes);
    },
    runEnded: ({ status, errorCode }, { milliseconds, rowsRead }) => {
      runs(`${status} ${errorCode ?? ''}`);
      runSeconds.add(milliseconds / 1000);
      rows(rowsRead ?? 0);
    },
    threadLost: () => lost.inc(),
    outputMissing: () => missing.inc(),
  };
}

// Each small Run increments eight counters, and the library needs half a microsecond for each, because of its labels.
// Therefore counts are accumulated here and passed to the library during a scrape.

/** Returns a function that increments the counter. Its argument is the label values, separated by spaces. */
function tally(registers: Registry[], definition: MetricDefinition): (labels: string) => void {
  const counts = new Map<string, number>();
  const counter = new Counter({
    ...configOf(definition),
    registers,
    collect: () => {
      counter.reset();
      for (const [labels, count] of counts) counter.labels(...labels.split(' ')).inc(count);
    },
  });
  return (labels) => void counts.set(labels, (counts.get(labels) ?? 0) + 1);
}

/** Returns a function that adds to the counter. */
function total(registers: Registry[], definition: MetricDefinition): (more: number) => void {
  let sum = 0;
  const counter = new Counter({
    ...configOf(definition),
    registers,
    collect: () => {
      counter.reset();
      counter.inc(sum);
    },
  });
  return (more) => {
    sum += more;
  };
}

interface Seconds {
  /** Counts by bucket. The last bucket is for values above all limits. */
  readonly counts: number[];
  sum: number;
}

type HistogramValues = Awaited<ReturnType<Histogram['get']>>['values'];

/** A histogram with at most one label whose values are accumulated here, because the library's own cannot be set. */
class SecondsHistogram extends Histogram {
  readonly #name: string;
  #labelName: string | null;
  /** Values by label. */
  #seconds = new Map<string, Seconds>();

  constructor(registry: Registry, definition: MetricDefinition) {
    super({ ...configOf(definition), registers: [registry] });
    const [labelName = null] = definition.labels;
    this.#name = definition.name;
    this.#labelName = labelName;
    // Without a label, it exists from the start.
    if (labelName === null) this.#of('');
  }

  add(seconds: number, label = ''): void {
    const observed = this.#of(label);
    let bucket = 0;
    while (seconds > SECONDS_BUCKETS[bucket]!) bucket += 1;
    observed.counts[bucket]! += 1;
    observed.sum += seconds;
  }

  /** Called by the library. */
  override async get(): ReturnType<Histogram['get']> {
    const name = this.#name;
    const values: HistogramValues = [];
    for (const [label, { counts, sum }] of this.#seconds) {
      const labels = this.#labelName === null ? {} : { [this.#labelName]: label };
      let value = 0;
      counts.forEach((count, bucket) => {
        value += count;
        const le = SECONDS_BUCKETS[bucket] ?? '+Inf';
        values.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value });
      });
      values.push({ metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value });
    }
    return { ...(await super.get()), values };
  }

  #of(label: string): Seconds {
    let seconds = this.#seconds.get(label);
    if (seconds === undefined) {
      seconds = { counts: new Array<number>(SECONDS_BUCKETS.length + 1).fill(0), sum: 0 };
      this.#seconds.set(label, seconds);
    }
    return seconds;
  }
}

function gauges(sources: MetricSources, registers: Registry[]): void {
  const gauge = (definition: MetricDefinition, read: () => number): void => {
    new Gauge({
      ...configOf(definition),
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge(NODE_METRICS.budgetLimitBytes, () => sources.budget().limitBytes);
  gauge(NODE_METRICS.connections, () => sources.connectionsOpen());
  gauge(NODE_METRICS.runsInPool, () => sources.runsInPool());
  gauge(NODE_METRICS.runsSuspended, () => sources.runsSuspended());
  gauge(NODE_METRICS.runsKept, () => sources.runsKept());
  gauge(NODE_METRICS.threadsLive, () => sources.liveThreads());
  gauge(NODE_METRICS.threadsStuck, () => sources.stuckThreads());
  gauge(NODE_METRICS.catalogInForce, () => (sources.catalog().isLive ? 1 : 0));
  countResults(registers, NODE_METRICS.catalogReadings, () => sources.catalog().readings);
  countResults(registers, NODE_METRICS.catalogTests, () => sources.catalog().tests);
  const delay = new EventLoopDelay();
  gauge(NODE_METRICS.eventLoopDelay, () => delay.p99Seconds);
  new Counter({
    ...configOf(NODE_METRICS.connectionsRefused),
    registers,
    collect() {
      this.reset();
      this.inc(sources.connectionsRefused());
    },
  });
  const ready = new Gauge({
    ...configOf(NODE_METRICS.ready),
    registers,
    async collect() {
      ready.set((await sources.isReady()) ? 1 : 0);
    },
  });
  new Gauge({
    ...configOf(NODE_METRICS.budgetHeldBytes),
    registers,
    collect() {
      for (const [charge, bytes] of Object.entries(sources.budget().heldBytes)) this.set({ charge }, bytes);
    },
  });
}

/**
 * Returns a function that sets the gauges and must be called before the registry is read. The registry reads one gauge
 * after the other, so a gauge that another one sets later would show the value of the previous scrape, or no value.
 */
function quotaGauges(sources: MetricSources, registers: Registry[]): () => Promise<void> {
  const used = new Gauge({ ...configOf(NODE_METRICS.quotaUsed), registers });
  const limit = new Gauge({ ...configOf(NODE_METRICS.quotaLimit), registers });
  return async () => {
    const quotas = await sources.quotas();
    used.reset();
    limit.reset();
    for (const quota of quotas) {
      used.set({ account: quota.account }, quota.used);
      if (quota.limit !== null) limit.set({ account: quota.account }, quota.limit);
    }
  };
}

/** A counter with one value per result. */
function countResults(registers: Registry[], definition: MetricDefinition, counts: () => Counts): void {
  new Counter({
    ...configOf(definition),
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(counts())) this.inc({ result }, count);
    },
  });
}

/** In the form that the library expects. */
function configOf(definition: MetricDefinition): { name: string; help: string; labelNames: string[] } {
  return { name: definition.name, help: plainHelp(definition), labelNames: [...definition.labels] };
}

// Metrics of the node that are read during a scrape only: build, disk, waiting Runs, dropped log lines.

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
