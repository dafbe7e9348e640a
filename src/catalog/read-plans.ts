// plans.json: the limits of each plan, with defaults for those that are absent.
import type { RateLimit } from '../stores/rate-limiter.ts';
import { ENDPOINT_NAMES, type EndpointName } from './access.ts';
import type { Plan } from './catalog.ts';
import { FieldReader, SLUG, SLUG_RULE } from './field-reader.ts';
import type { ProblemList } from './problems.ts';

const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 ** 3;

/** What an absent limit is; docs/how-to/catalog.md lists them. Rates are those of a client that polls, not of a load test. */
const PLAN_DEFAULTS = {
  uploadBytesMax: 100 * MEBIBYTE,
  rowsMax: 1_000_000,
  outputRowsMax: null,
  runsInFlightMax: 4,
  runsPerPeriod: 10_000,
  period: 'month',
  rateLimits: {
    list_templates: { requests: 600, windowSeconds: 60 },
    create_run: { requests: 600, windowSeconds: 60 },
    get_run: { requests: 6000, windowSeconds: 60 },
    get_run_output: { requests: 600, windowSeconds: 60 },
    get_run_rejects: { requests: 600, windowSeconds: 60 },
    get_usage: { requests: 600, windowSeconds: 60 },
  },
} as const;

/** Absent `inflated_bytes_max` and `output_bytes_max` are this many times `upload_bytes_max`, at most the ceiling. */
const INFLATED_RATIO = 20;
const INFLATED_BYTES_MAX_DEFAULT = 20 * GIBIBYTE;

/** More requests than a node could answer in a second, and a year: what lies beyond is a mistake. */
const RATE_REQUESTS_MAX = 1_000_000_000;
const RATE_WINDOW_SECONDS_MAX = 366 * 86_400;

/** Requests times seconds: buckets count in thousandths of these, which must stay whole numbers below 2^53. */
const RATE_CAPACITY_MAX = 4_000_000_000_000;

const PLAN_FIELDS = [
  'name',
  'description',
  'upload_bytes_max',
  'inflated_bytes_max',
  'rows_max',
  'output_rows_max',
  'output_bytes_max',
  'runs_in_flight_max',
  'runs_per_period',
  'period',
  'rate_limits',
];

/** @param value what plans.json holds: plans by name */
export function readPlans(file: string, value: unknown, problems: ProblemList): ReadonlyMap<string, Plan> {
  const plans = new Map<string, Plan>();
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const all = FieldReader.of(file, '', value, names, problems);
  for (const id of all === null ? [] : names) {
    if (!SLUG.test(id)) all?.problem(id, `is no name for a plan: write ${SLUG_RULE}.`);
    const fields = FieldReader.of(file, all?.pointerOf(id) ?? '', all?.raw(id), PLAN_FIELDS, problems);
    if (fields !== null) plans.set(id, readPlan(id, fields));
  }
  return plans;
}

function readPlan(id: string, fields: FieldReader): Plan {
  fields.text('name', 200);
  fields.text('description', 2000);
  const max = Number.MAX_SAFE_INTEGER;
  const uploadBytesMax = fields.limit('upload_bytes_max', 1, max, PLAN_DEFAULTS.uploadBytesMax);
  const derived =
    uploadBytesMax === null
      ? INFLATED_BYTES_MAX_DEFAULT
      : Math.min(uploadBytesMax * INFLATED_RATIO, INFLATED_BYTES_MAX_DEFAULT);
  return {
    id,
    uploadBytesMax,
    inflatedBytesMax: fields.limit('inflated_bytes_max', 1, max, derived),
    rowsMax: fields.limit('rows_max', 0, max, PLAN_DEFAULTS.rowsMax),
    outputRowsMax: fields.limit('output_rows_max', 0, max, PLAN_DEFAULTS.outputRowsMax),
    outputBytesMax: fields.limit('output_bytes_max', 1, max, derived),
    runsInFlightMax: fields.limit('runs_in_flight_max', 0, max, PLAN_DEFAULTS.runsInFlightMax),
    runsPerPeriod: fields.limit('runs_per_period', 0, max, PLAN_DEFAULTS.runsPerPeriod),
    period: fields.choice('period', ['day', 'month'], PLAN_DEFAULTS.period),
    rateLimits: readRateLimits(fields),
  };
}

function readRateLimits(fields: FieldReader): Record<EndpointName, RateLimit | null> {
  const limits: Record<EndpointName, RateLimit | null> = { ...PLAN_DEFAULTS.rateLimits };
  if (fields.raw('rate_limits') === null) {
    for (const endpoint of ENDPOINT_NAMES) limits[endpoint] = null;
    return limits;
  }
  const endpoints = fields.child('rate_limits', ENDPOINT_NAMES);
  for (const endpoint of ENDPOINT_NAMES) {
    if (endpoints === null || endpoints.raw(endpoint) === undefined) continue;
    const limit = endpoints.child(endpoint, ['requests', 'window_seconds']);
    limits[endpoint] = limit === null ? null : readRateLimit(limit);
  }
  return limits;
}

function readRateLimit(fields: FieldReader): RateLimit | null {
  for (const name of ['requests', 'window_seconds']) {
    if (fields.raw(name) === undefined) fields.problem(name, 'is missing: write a whole number.');
  }
  const requests = fields.limit('requests', 1, RATE_REQUESTS_MAX, null);
  const windowSeconds = fields.limit('window_seconds', 1, RATE_WINDOW_SECONDS_MAX, null);
  if (requests === null || windowSeconds === null) return null;
  if (requests * windowSeconds <= RATE_CAPACITY_MAX) return { requests, windowSeconds };
  return fields.problem('requests', 'are too many for so long a window: write a shorter one, or null for no limit.');
}
