// Counters, gauges and histograms in Prometheus' text form. The only importer of prom-client. No label holds anything
// that a client chose: operations, codes and accounts are closed lists of ours.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
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
  const requests = new Counter({
    name: 'template_run_requests_total',
    help: 'Requests by operation, status and error code; status 0: the client left.',
    labelNames: ['operation', 'status', 'code'],
    registers,
  });
  const seconds = new Histogram({
    name: 'template_run_request_seconds',
    help: 'Time from the head of a request to its answer.',
    labelNames: ['operation'],
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const received = new Counter({ name: 'template_run_received_bytes_total', help: 'Bytes of bodies.', registers });
  const sent = new Counter({ name: 'template_run_sent_bytes_total', help: 'Bytes of answers.', registers });
  const runs = new Counter({
    name: 'template_run_runs_total',
    help: 'Ended Runs by status and error code.',
    labelNames: ['status', 'code'],
    registers,
  });
  const runSeconds = new Histogram({
    name: 'template_run_run_seconds',
    help: 'Time from the last byte of a body to the end of its Run.',
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const rows = new Counter({ name: 'template_run_rows_read_total', help: 'Data rows read by Runs.', registers });
  const lost = new Counter({ name: 'template_run_threads_lost_total', help: 'Worker threads lost.', registers });
  gauges(sources, registers);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    requestFinished: ({ operation, status, code, milliseconds, receivedBytes, sentBytes }) => {
      const name = operation === '' ? 'none' : operation;
      requests.inc({ operation: name, status: String(status), code: code ?? '' });
      seconds.observe({ operation: name }, milliseconds / 1000);
      received.inc(receivedBytes);
      sent.inc(sentBytes);
    },
    runEnded: ({ status, errorCode }, { milliseconds, rowsRead }) => {
      runs.inc({ status, code: errorCode ?? '' });
      runSeconds.observe(milliseconds / 1000);
      rows.inc(rowsRead ?? 0);
    },
    threadLost: () => lost.inc(),
  };
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
