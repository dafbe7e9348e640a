// Counters, gauges and histograms in Prometheus' text form. The only importer of prom-client. No label holds anything
// that a client chose: operations, codes and accounts are closed lists of ours.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { FinishedExchange } from '../http/finished-exchange.ts';
import type { RunEnded } from '../runs/node-state.ts';
import type { RunRecord } from '../runs/run.ts';
import type { StoreFigure } from '../stores/stores.ts';
import { EventLoopDelay } from './event-loop-delay.ts';
import { figureText } from './figure-text.ts';

/** By result. */
type Counts = Readonly<Record<string, number>>;

/** What is read at the moment of a scrape. */
export interface MetricSources {
  /** Bytes by what holds them, and the limit. */
  budget(): { readonly limitBytes: number; readonly heldBytes: Readonly<Record<string, number>> };
  /** Of the API port. */
  connectionsOpen(): number;
  /** Since the start. */
  connectionsRefused(): number;
  runsInPool(): number;
  /** Runs that have given their memory back for now. */
  runsAside(): number;
  runsKept(): number;
  liveThreads(): number;
  stuckThreads(): number;
  isReady(): Promise<boolean>;
  /** Readings of the catalog's folder and Templates' tests by their end, and whether the last reading is in force. */
  catalog(): { readonly readings: Counts; readonly tests: Counts; readonly isInForce: boolean };
  /** What its stores and the node tell of themselves. */
  figures(): Promise<readonly StoreFigure[]>;
  /** Quota of each account with a subscription; a limit of null = none. */
  quotas(): Promise<readonly { readonly account: string; readonly used: number; readonly limit: number | null }[]>;
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  requestFinished(exchange: FinishedExchange): void;
  runEnded(run: RunRecord, details: RunEnded): void;
  threadLost(): void;
}

const SECONDS_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30, 120, 600];

export function openMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = tally(registers, {
    name: 'template_run_requests_total',
    help: 'Requests by operation, status and error code; status 0: the client left.',
    labelNames: ['operation', 'status', 'code'],
  });
  const seconds = new SecondsHistogram(registry, {
    name: 'template_run_request_seconds',
    help: 'Time from the head of a request to its answer.',
    labelName: 'operation',
  });
  const received = total(registers, 'template_run_received_bytes_total', 'Bytes of bodies.');
  const sent = total(registers, 'template_run_sent_bytes_total', 'Bytes of answers.');
  const runs = tally(registers, {
    name: 'template_run_runs_total',
    help: 'Ended Runs by status and error code.',
    labelNames: ['status', 'code'],
  });
  const runSeconds = new SecondsHistogram(registry, {
    name: 'template_run_run_seconds',
    help: 'Time from the last byte of a body to the end of its Run.',
    labelName: null,
  });
  const rows = total(registers, 'template_run_rows_read_total', 'Data rows read by Runs.');
  const lost = new Counter({ name: 'template_run_threads_lost_total', help: 'Worker threads lost.', registers });
  gauges(sources, registers);
  const readQuotas = quotaGauges(sources, registers);
  return {
    contentType: registry.contentType,
    text: async () => {
      await readQuotas();
      return `${await registry.metrics()}${figureText(await sources.figures())}`;
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
  };
}

// Each small Run is counted eight times, and the library takes half a microsecond for each: what it needs for its labels.
// So counts are added up here and told to it when it is read.

/** What it returns counts one; the labels' values are one text, with a space between them. */
function tally(
  registers: Registry[],
  config: { readonly name: string; readonly help: string; readonly labelNames: string[] },
): (labels: string) => void {
  const counts = new Map<string, number>();
  const counter = new Counter({
    ...config,
    registers,
    collect: () => {
      counter.reset();
      for (const [labels, count] of counts) counter.labels(...labels.split(' ')).inc(count);
    },
  });
  return (labels) => void counts.set(labels, (counts.get(labels) ?? 0) + 1);
}

/** What it returns adds to the counter. */
function total(registers: Registry[], name: string, help: string): (more: number) => void {
  let sum = 0;
  const counter = new Counter({
    name,
    help,
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
  /** By bucket; the last is for what is beyond all. */
  readonly counts: number[];
  sum: number;
}

type MetricValues = Awaited<ReturnType<Histogram['get']>>['values'];

/** A histogram with one label or none, whose values are added up here: the library's own cannot be told them. */
class SecondsHistogram extends Histogram {
  readonly #name: string;
  #labelName: string | null;
  /** By the label's value. */
  #seconds = new Map<string, Seconds>();

  constructor(
    registry: Registry,
    { name, help, labelName }: { readonly name: string; readonly help: string; readonly labelName: string | null },
  ) {
    super({ name, help, labelNames: labelName === null ? [] : [labelName], registers: [registry] });
    this.#name = name;
    this.#labelName = labelName;
    // Without a label it is there from the start.
    if (labelName === null) this.#of('');
  }

  add(seconds: number, label = ''): void {
    const observed = this.#of(label);
    let bucket = 0;
    while (seconds > SECONDS_BUCKETS[bucket]!) bucket += 1;
    observed.counts[bucket]! += 1;
    observed.sum += seconds;
  }

  /** What the library asks for. */
  override async get(): ReturnType<Histogram['get']> {
    const name = this.#name;
    const values: MetricValues = [];
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
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge('template_run_budget_limit_bytes', 'The memory budget.', () => sources.budget().limitBytes);
  gauge('template_run_connections', 'Open connections of the API port.', () => sources.connectionsOpen());
  gauge('template_run_runs_in_pool', 'Runs that the worker threads hold or wait for.', () => sources.runsInPool());
  const aside = 'Runs that hold no memory: their uploads are slow, or whole, and they wait for their turn.';
  gauge('template_run_runs_aside', aside, () => sources.runsAside());
  gauge('template_run_runs_kept', 'Runs in the registry.', () => sources.runsKept());
  gauge('template_run_threads_live', 'Worker threads that can take Runs.', () => sources.liveThreads());
  new Counter({
    name: 'template_run_connections_refused_total',
    help: 'Connections of the API port that were closed at once: over --connections-max or --connections-per-address-max.',
    registers,
    collect() {
      this.reset();
      this.inc(sources.connectionsRefused());
    },
  });
  gauge('template_run_threads_stuck', 'Lost worker threads that do not end.', () => sources.stuckThreads());
  const ready = new Gauge({
    name: 'template_run_ready',
    help: '1: /readyz says 200; 0: it says 503.',
    registers,
    async collect() {
      ready.set((await sources.isReady()) ? 1 : 0);
    },
  });
  const inForce = '1: what lies in the catalog folder is in force; 0: it was refused, and the former goes on.';
  gauge('template_run_catalog_in_force', inForce, () => (sources.catalog().isInForce ? 1 : 0));
  const readings = 'Readings of the catalog folder by result: loaded, refused, fault.';
  countResults(registers, 'template_run_catalog_readings_total', readings, () => sources.catalog().readings);
  const tests = "Templates' tests that were run when the catalog was read, by result: passed, failed.";
  countResults(registers, 'template_run_catalog_tests_total', tests, () => sources.catalog().tests);
  const delay = new EventLoopDelay();
  const window = '99th percentile of the last full 30 s.';
  gauge('template_run_event_loop_delay_p99_seconds', window, () => delay.p99Seconds);
  new Gauge({
    name: 'template_run_budget_held_bytes',
    help: 'Bytes of the memory budget by what holds them.',
    labelNames: ['charge'],
    registers,
    collect() {
      for (const [charge, bytes] of Object.entries(sources.budget().heldBytes)) this.set({ charge }, bytes);
    },
  });
}

/**
 * What it returns reads them, before the registry is asked: that asks one gauge after the other, and a gauge that another
 * one sets late shows the scrape before, or nothing.
 */
function quotaGauges(sources: MetricSources, registers: Registry[]): () => Promise<void> {
  const used = new Gauge({
    name: 'template_run_quota_used',
    help: 'Runs of the current billing period, committed and reserved.',
    labelNames: ['account'],
    registers,
  });
  const limit = new Gauge({
    name: 'template_run_quota_limit',
    help: 'Runs per billing period; absent: no limit.',
    labelNames: ['account'],
    registers,
  });
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

/** A counter for each of several results. */
function countResults(registers: Registry[], name: string, help: string, counts: () => Counts): void {
  new Counter({
    name,
    help,
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(counts())) this.inc({ result }, count);
    },
  });
}
