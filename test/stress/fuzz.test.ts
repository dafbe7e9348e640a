// Fuzzes the service over files, forms and Templates: looks for 5xx, stalls, memory above the documented limit, lost cells, and words
// of uploads in answers and logs. A few seconds, or two minutes in `npm run test:all`. A finding names its case:
// TEMPLATE_RUN_SEED and TEMPLATE_RUN_FUZZ_CASE send it again, alone.
// With all tests only: minutes of hostile files, clients and load.
import t, { type Test } from 'tap';
import { PICK, plan, step, template } from '../blackbox/catalog-folder.ts';
import { Client, until } from '../blackbox/client.ts';
import { checkLogs, type Service, startService } from '../blackbox/service.ts';
import { type AnyTemplate, anyTemplate } from '../fuzz/any-template.ts';
import type { FIXED } from '../fuzz/cases.ts';
import { Chance } from '../fuzz/chance.ts';
import { Fuzzing } from '../fuzz/fuzzing.ts';
import { Neighbour } from '../fuzz/neighbour.ts';
import { processorClock } from '../processor-clock.ts';
import { seed } from '../random.ts';
import { isLong, sweep } from '../sweep.ts';
import { BASE_BYTES, MIB, mebibytes, resident, strayFiles } from './probe.ts';

const CASE = process.env['TEMPLATE_RUN_FUZZ_CASE'];
const SECONDS = Number(process.env['TEMPLATE_RUN_FUZZ_SECONDS'] ?? sweep({ short: 5, long: 120 }));
const BUDGET_BYTES = 128 * MIB;
/**
 * Memory of the spare thread, which takes over while all other threads are silent. It is not part of the base
 * (docs/explanation/memory.md).
 */
const SPARE_BYTES = 24 * MIB;
/**
 * Freed memory that the C library keeps after 20,000 hostile files: it has an arena for each of a dozen threads, and raises its
 * thresholds with every larger block that is freed. With MALLOC_MMAP_THRESHOLD_ set, it keeps nothing.
 */
const FRAGMENTS_BYTES = 48 * MIB;
/**
 * Maximum work of the service while another account's small Run waits: 250 ms on two processors. Measured in processor time,
 * because everything takes longer on a machine that is busy with other work.
 */
const STALL_MILLISECONDS = 500;
/**
 * A stall counts only if one case alone causes it this many times: three cases that run beside each other can together cause a
 * stall that none of them causes alone.
 */
const STALL_TRIES = 3;
const SUSPECTS_MAX = 20;
const SENDERS = 3;
const TEMPLATES = 80;
const FINDINGS_MAX = 50;
const ANSWER_MILLISECONDS_MAX = 240_000;

const FIXED_TEMPLATES: Readonly<Record<(typeof FIXED)[number], object>> = {
  plain: template([]),
  text: template([
    step('text', {
      columns: '*',
      steps: ['nfkc', 'trim', 'collapse_spaces', 'title', 'strip_accents', 'remove_tags', 'unescape_html'],
    }),
    step('redact', { columns: '*', patterns: ['email', 'iban', 'card', 'phone'] }),
  ]),
  headers: template([step('drop_repeated_headers'), step('drop_blank_rows')], {
    input: { header_match: 'loose', columns: [{ name: 'a', match: ['A b', { pattern: '^a' }], required: false }] },
  }),
  json: template([step('to_json', { columns: ['a', 'b'], into: 'j' })], {
    input: { columns: ['a', 'b'].map((name, position) => ({ name, match: [{ position: position + 1 }] })) },
    output: { format: 'ndjson' },
  }),
  state: template(
    [
      step('dedupe', { by: '*' }),
      step('sort', { by: [{ column: 'a', compare: 'natural' }] }),
      step('window', { columns: [{ fn: 'previous', column: 'b', as: 'before' }] }),
    ],
    { input: { columns: ['a', 'b'].map((name, position) => ({ name, match: [{ position: position + 1 }] })) } },
  ),
};

/** Suspects are sent again, each alone, when the time is over. */
const FILE_MILLISECONDS_MAX = (SECONDS * 4 + 1200) * 1000;
t.setTimeout(FILE_MILLISECONDS_MAX);

t.test('fuzzing', { timeout: FILE_MILLISECONDS_MAX }, async (t) => {
  const any = anyTemplates();
  const templates = { ...FIXED_TEMPLATES, ...Object.fromEntries([...any].map(([id, { content }]) => [id, content])) };
  const plans = { tight: plan({ upload_bytes_max: 16 * MIB, inflated_bytes_max: 64 * MIB }) };
  const service = await startService(
    t,
    { plans, accounts: { acme: { plan: 'tight', templates }, other: { templates: { pick: PICK } } } },
    { workers: 2, 'memory-budget': BUDGET_BYTES, 'disk-floor': 0, 'retention-ms': 2000 },
  );
  const fuzzing = new Fuzzing(seed, any, clientOf(service, 'acme'), processorClock(service));
  if (CASE === undefined) await fuzz(t, service, fuzzing);
  else await stallsAlone(service, fuzzing, Number(CASE));
  await judgeEnd(t, service);
  for (const finding of fuzzing.findings.slice(0, FINDINGS_MAX)) t.fail(`seed ${seed}: ${finding}`);
  t.equal(fuzzing.findings.length, 0, 'nothing was found');
});

function anyTemplates(): ReadonlyMap<string, AnyTemplate> {
  return new Map(Array.from({ length: TEMPLATES }, (_, at) => [`any-${at}`, anyTemplate(new Chance(seed, -at - 1))]));
}

function clientOf(service: Service, account: string): Client {
  return new Client(service.port, service.catalog.key(account), ANSWER_MILLISECONDS_MAX);
}

async function fuzz(t: Test, service: Service, fuzzing: Fuzzing): Promise<void> {
  const end = performance.now() + SECONDS * 1000;
  const neighbour = new Neighbour(clientOf(service, 'other'), processorClock(service), STALL_MILLISECONDS, () =>
    fuzzing.underWay(),
  );
  let next = 0;
  const sender = async (): Promise<void> => {
    while (performance.now() < end || next <= SECONDS || neighbour.times.length <= SECONDS) await fuzzing.send(next++);
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  await neighbour.end();
  const { times, stalls } = neighbour;
  const { peakBytes } = resident(service);
  const suspects = [...new Set(stalls.flatMap(({ beside }) => beside))].slice(0, SUSPECTS_MAX);
  t.comment(`${next} cases, seed ${seed}:`, Object.fromEntries([...fuzzing.answers].sort((a, b) => b[1] - a[1])));
  t.comment(
    `another account: ${times.length} Runs, p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms of work;`,
  );
  t.comment(`its refusals`, Object.fromEntries(neighbour.refused), `${stalls.length} stalls, suspects ${suspects}`);
  t.ok(next > SECONDS, 'cases were sent');
  t.ok(times.length > SECONDS, `another account was served ${times.length} times`);
  t.ok(
    peakBytes < BUDGET_BYTES + BASE_BYTES + SPARE_BYTES + FRAGMENTS_BYTES,
    `resident memory: at most ${mebibytes(peakBytes)}`,
  );
  // While the other tests of the suite run, every case stalls.
  if (isLong) for (const suspect of suspects) await stallsAlone(service, fuzzing, suspect);
}

/** Sends a case alone, several times, and checks whether another account's small Runs have to wait each time. */
async function stallsAlone(service: Service, fuzzing: Fuzzing, number: number): Promise<void> {
  const longest: number[] = [];
  for (let tries = 0; tries < STALL_TRIES; tries += 1) {
    const neighbour = new Neighbour(clientOf(service, 'other'), processorClock(service), STALL_MILLISECONDS, () => []);
    await fuzzing.send(number);
    await neighbour.end();
    longest.push(Math.round(Math.max(0, ...neighbour.times)));
    if (longest.at(-1)! <= STALL_MILLISECONDS) return;
  }
  fuzzing.findings.push(`case ${number}: another account's small Run waited for ${longest.join(', ')} ms of work`);
}

/** Checks that no fault was logged, that nothing is left over and that no word of an upload was reported. */
async function judgeEnd(t: Test, service: Service): Promise<void> {
  const faults = service.events.filter(
    ({ level, event }) => level === 'error' || /fault|lost|crash/.test(String(event)),
  );
  t.same(faults.slice(0, 5), [], 'no fault in the log');
  const isExpected = (path: string): boolean => /^(?:outputs|spool)/.test(path);
  const left = await until(
    async () => strayFiles(service).filter((path) => !isExpected(path)),
    (paths) => paths.length === 0,
  );
  t.same(left, [], 'no spill file is left');
  await checkLogs(t, service);
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
}
