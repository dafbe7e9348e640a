// The metrics that every node counts or gauges in metrics.ts: their names, kinds, labels and what they mean.
import { BUDGET_CHARGES } from '../admission/memory-budget.ts';
import type { MetricDefinition } from './metric-definition.ts';

const HOLDERS = [...BUDGET_CHARGES, 'threads'].map((holder) => `\`${holder}\``).join(', ');

export const NODE_METRICS = {
  requests: {
    name: 'template_run_requests_total',
    kind: 'counter',
    help: 'Requests by operation, status and error code; status 0: the client left.',
    labels: ['operation', 'status', 'code'],
  },
  requestSeconds: {
    name: 'template_run_request_seconds',
    kind: 'histogram',
    help: 'Time from the head of a request to its answer, by operation.',
    labels: ['operation'],
  },
  receivedBytes: {
    name: 'template_run_received_bytes_total',
    kind: 'counter',
    help: 'Bytes of bodies.',
    labels: [],
  },
  sentBytes: { name: 'template_run_sent_bytes_total', kind: 'counter', help: 'Bytes of answers.', labels: [] },
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
  ready: { name: 'template_run_ready', kind: 'gauge', help: '1 while `/readyz` says 200, else 0.', labels: [] },
  catalogInForce: {
    name: 'template_run_catalog_in_force',
    kind: 'gauge',
    help: '0 while the catalog folder holds what was refused or could not be read, and the former catalog goes on; else 1.',
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
    help: "Templates' tests that were run when the catalog was read, by result: `passed`, `failed`.",
    labels: ['result'],
  },
  runsInPool: {
    name: 'template_run_runs_in_pool',
    kind: 'gauge',
    help: 'Runs that the worker threads hold or wait for.',
    labels: [],
  },
  runsAside: {
    name: 'template_run_runs_aside',
    kind: 'gauge',
    help: 'Runs that hold no memory: set aside because their upload is slow, or waiting for their turn.',
    labels: [],
  },
  runsKept: { name: 'template_run_runs_kept', kind: 'gauge', help: 'Runs in the registry.', labels: [] },
  threadsLive: {
    name: 'template_run_threads_live',
    kind: 'gauge',
    help: 'Worker threads that can take Runs.',
    labels: [],
  },
  threadsLost: {
    name: 'template_run_threads_lost_total',
    kind: 'counter',
    help: 'Worker threads that were lost.',
    labels: [],
  },
  threadsStuck: {
    name: 'template_run_threads_stuck',
    kind: 'gauge',
    help: 'Lost worker threads that do not end.',
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
    help: `Bytes of the memory budget by what holds them: ${HOLDERS}.`,
    labels: ['charge'],
  },
  connections: {
    name: 'template_run_connections',
    kind: 'gauge',
    help: 'Open connections of the API port.',
    labels: [],
  },
  connectionsRefused: {
    name: 'template_run_connections_refused_total',
    kind: 'counter',
    help: 'Connections of the API port that were closed at once: over `--connections-max` or `--connections-per-address-max`.',
    labels: [],
  },
  quotaUsed: {
    name: 'template_run_quota_used',
    kind: 'gauge',
    help: 'Runs of the billing period by account: those charged, and those in flight that may be.',
    labels: ['account'],
  },
  quotaLimit: {
    name: 'template_run_quota_limit',
    kind: 'gauge',
    help: 'Runs that an account may have in a billing period; absent where there is no limit.',
    labels: ['account'],
  },
  eventLoopDelay: {
    name: 'template_run_event_loop_delay_p99_seconds',
    kind: 'gauge',
    help: '99th percentile of the last full 30 s, whoever scrapes; it should stay below 0.05. Beside it the `nodejs_eventloop_lag_*` begin anew with each scrape.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;
