// `/metrics` contains exactly the defined metrics, each with its kind and its help.
import t from 'tap';
import { FLEET_METRICS } from '../../../src/stores/redis/redis-stores.ts';
import type { MetricValues } from '../../../src/telemetry/metric-definition.ts';
import { type MetricDefinition, readMetrics } from '../../../src/telemetry/metric-definition.ts';
import { NODE_METRICS, NODE_SCRAPED_METRICS, nodeMetricReader, openMetrics } from '../../../src/telemetry/metrics.ts';

const READ = {
  oldestRunSeconds: 1.5,
  waited: { seconds: 2, runs: 3 },
  logLinesLost: 4,
  answersClosed: 0,
  httpLibrary: 'uws',
};

async function textOf(metricValues: readonly MetricValues[]): Promise<string> {
  const metrics = openMetrics({
    budget: () => ({ limitBytes: 9, heldBytes: { bodies: 5 } }),
    connectionsOpen: () => 1,
    connectionsRefused: () => 2,
    runsInPool: () => 3,
    runsSuspended: () => 4,
    runsKept: () => 5,
    liveThreads: () => 6,
    stuckThreads: () => 7,
    isReady: async () => true,
    catalog: () => ({ readings: { loaded: 1 }, tests: { passed: 8 }, isLive: false }),
    metricValues: async () => metricValues,
    quotas: async () => [{ account: 'acme', used: 1, limit: null }],
  });
  metrics.threadLost();
  return metrics.text();
}

t.test('every metric of a node is there as it is defined, and no other', async (t) => {
  const text = await textOf(nodeMetricReader()({ ...READ, diskFreeBytes: 10 }));
  const defined: readonly MetricDefinition[] = [...Object.values(NODE_METRICS), ...NODE_SCRAPED_METRICS];
  for (const { name, kind, help } of defined) {
    t.ok(text.includes(`# HELP ${name} ${help.replaceAll('`', '')}\n# TYPE ${name} ${kind}\n`), name);
    t.equal(name.endsWith('_total'), kind === 'counter', `${name} is a ${kind}`);
  }
  const names = [...text.matchAll(/^# TYPE (template_run_\w+) /gm)].map(([, name]) => name!);
  t.strictSame(names.sort(), defined.map(({ name }) => name).sort());
  for (const line of [
    'template_run_connections_refused_total 2',
    'template_run_catalog_tests_total{result="passed"} 8',
    'template_run_budget_held_bytes{charge="bodies"} 5',
    'template_run_run_seconds_count 0',
    'template_run_quota_used{account="acme"} 1',
    'template_run_run_wait_seconds_total 2',
    'template_run_disk_free_bytes 10',
  ]) {
    t.ok(text.includes(`\n${line}\n`), line);
  }
  t.match(text, /^template_run_build_info\{build="template-run \S+, Node \S+"\} 1$/m);
});

t.test('a metric with an unknown value is left out: 0 would mean a full disk', async (t) => {
  t.notMatch(await textOf(nodeMetricReader()({ ...READ, diskFreeBytes: null })), /template_run_disk_free_bytes/);
});

t.test(
  'metrics of a fleet have help texts and names of their kind, and no metric has more than one label',
  async (t) => {
    const known = new Map([['eval', 1]]);
    const metrics = FLEET_METRICS.map((metric) => ({
      ...metric,
      read: () => (metric.labels.length === 0 ? 7 : known),
    }));
    const text = await textOf(readMetrics(metrics, null));
    for (const { name, kind, help, labels } of FLEET_METRICS) {
      const sample = labels.length === 0 ? `${name} 7` : `${name}{${labels[0]}="eval"} 1`;
      t.ok(text.includes(`# HELP ${name} ${help.replaceAll('`', '')}\n# TYPE ${name} ${kind}\n${sample}\n`), name);
      t.equal(name.endsWith('_total'), kind === 'counter', `${name} is a ${kind}`);
      t.ok(labels.length <= 1, 'a metric has at most one label');
    }
  },
);
