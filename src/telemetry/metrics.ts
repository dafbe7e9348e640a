// Counters, gauges and histograms in Prometheus' text form. The only importer of prom-client. What they are called and mean is
// in node-metrics.ts.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { FinishedExchange } from '../http/finished-exchange.ts';
import type { RunEnded } from '../runs/node-state.ts';
import type { RunRecord } from '../runs/run.ts';
import type { StoreFigure } from '../stores/stores.ts';
import { EventLoopDelay } from './event-loop-delay.ts';
import { figureText } from './figure-text.ts';
import { type MetricDefinition, plainHelp } from './metric-definition.ts';
import { NODE_METRICS } from './node-metrics.ts';

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
  const requests = tally(registers, NODE_METRICS.requests);
  const seconds = new SecondsHistogram(registry, NODE_METRICS.requestSeconds);
  const received = total(registers, NODE_METRICS.receivedBytes);
  const sent = total(registers, NODE_METRICS.sentBytes);
  const runs = tally(registers, NODE_METRICS.runs);
  const runSeconds = new SecondsHistogram(registry, NODE_METRICS.runSeconds);
  const rows = total(registers, NODE_METRICS.rowsRead);
  const lost = new Counter({ ...configOf(NODE_METRICS.threadsLost), registers });
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

/** What it returns adds to the counter. */
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

  constructor(registry: Registry, definition: MetricDefinition) {
    super({ ...configOf(definition), registers: [registry] });
    const [labelName = null] = definition.labels;
    this.#name = definition.name;
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
  gauge(NODE_METRICS.runsAside, () => sources.runsAside());
  gauge(NODE_METRICS.runsKept, () => sources.runsKept());
  gauge(NODE_METRICS.threadsLive, () => sources.liveThreads());
  gauge(NODE_METRICS.threadsStuck, () => sources.stuckThreads());
  gauge(NODE_METRICS.catalogInForce, () => (sources.catalog().isInForce ? 1 : 0));
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
 * What it returns reads them, before the registry is asked: that asks one gauge after the other, and a gauge that another
 * one sets late shows the scrape before, or nothing.
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

/** A counter for each of several results. */
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

/** As the library wants it. */
function configOf(definition: MetricDefinition): { name: string; help: string; labelNames: string[] } {
  return { name: definition.name, help: plainHelp(definition), labelNames: [...definition.labels] };
}
