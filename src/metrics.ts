// Counters, gauges and histograms in Prometheus' text form. The only importer of prom-client. No label holds anything
// that a client chose: operations, codes and accounts are closed lists of ours.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, type Histogram, Registry } from 'prom-client';
import type { FinishedExchange } from './http/exchange.ts';
import type { RunEnded } from './runs/node-state.ts';
import type { RunRecord } from './runs/run.ts';

/** What is read at the moment of a scrape. */
export interface MetricSources {
  /** Bytes by what holds them, and the limit. */
  budget(): { readonly limitBytes: number; readonly heldBytes: Readonly<Record<string, number>> };
  runsInPool(): number;
  runsKept(): number;
  liveThreads(): number;
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
const NANOSECONDS = 1e9;

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
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    requestFinished: ({ operation, status, code, milliseconds, receivedBytes, sentBytes }) => {
      const name = operation === '' ? 'none' : operation;
      requests(`${name} ${status} ${code ?? ''}`);
      seconds.observe(milliseconds / 1000, name);
      received(receivedBytes);
      sent(sentBytes);
    },
    runEnded: ({ status, errorCode }, { milliseconds, rowsRead }) => {
      runs(`${status} ${errorCode ?? ''}`);
      runSeconds.observe(milliseconds / 1000);
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

/** A histogram with one label or none, as the library reads it: the library's own cannot be told what is added up here. */
class SecondsHistogram {
  readonly name: string;
  #help: string;
  #labelName: string | null;
  /** By the label's value. */
  #seconds = new Map<string, Seconds>();

  constructor(
    registry: Registry,
    { name, help, labelName }: { readonly name: string; readonly help: string; readonly labelName: string | null },
  ) {
    this.name = name;
    this.#help = help;
    this.#labelName = labelName;
    // Without a label it is there from the start.
    if (labelName === null) this.#of('');
    registry.registerMetric(this as unknown as Histogram);
  }

  observe(seconds: number, label = ''): void {
    const observed = this.#of(label);
    let bucket = 0;
    while (seconds > SECONDS_BUCKETS[bucket]!) bucket += 1;
    observed.counts[bucket]! += 1;
    observed.sum += seconds;
  }

  /** What the library asks for. */
  async get(): Promise<object> {
    const { name } = this;
    const values: object[] = [];
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
    return { name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
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
  gauge('template_run_runs_in_pool', 'Runs that the worker threads hold or wait for.', () => sources.runsInPool());
  gauge('template_run_runs_kept', 'Runs in the registry.', () => sources.runsKept());
  gauge('template_run_threads_live', 'Worker threads that can take Runs.', () => sources.liveThreads());
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  gauge('template_run_event_loop_delay_p99_seconds', 'Since the last scrape.', () => {
    const p99 = delay.percentile(99) / NANOSECONDS;
    delay.reset();
    return Number.isFinite(p99) ? p99 : 0;
  });
  new Gauge({
    name: 'template_run_budget_held_bytes',
    help: 'Bytes of the memory budget by what holds them.',
    labelNames: ['charge'],
    registers,
    collect() {
      for (const [charge, bytes] of Object.entries(sources.budget().heldBytes)) this.set({ charge }, bytes);
    },
  });
  const limit = new Gauge({
    name: 'template_run_quota_limit',
    help: 'Runs per billing period; absent: no limit.',
    labelNames: ['account'],
    registers,
  });
  new Gauge({
    name: 'template_run_quota_used',
    help: 'Runs of the current billing period, committed and reserved.',
    labelNames: ['account'],
    registers,
    async collect() {
      this.reset();
      limit.reset();
      for (const quota of await sources.quotas()) {
        this.set({ account: quota.account }, quota.used);
        if (quota.limit !== null) limit.set({ account: quota.account }, quota.limit);
      }
    },
  });
}
