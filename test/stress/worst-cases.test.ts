// Each operation and each function of expressions with its worst cell, widest row and longest parameter, in a service with little
// memory: four Runs at once may not take more memory than the budget and the base. test/operations/cases.test.ts fails
// if an operation or function is missing in the tables.
// With all tests only: minutes of hostile files, clients and load.
import tap, { type Test } from 'tap';
import { template } from '../blackbox/catalog-folder.ts';
import { Client, until } from '../blackbox/client.ts';
import { file } from '../blackbox/multipart.ts';
import { type Service, startService } from '../blackbox/service.ts';
import { loadOperationCases } from '../operations/operation-cases.ts';
import type { WorstCase } from '../operations/worst-cases.ts';
import { isLong, partOf, skipUnlessLong } from '../sweep.ts';
import { BASE_BYTES, forgetPeak, gauges, heldBytes, MIB, mebibytes, resident } from './probe.ts';
import { WORST_EXPRESSIONS, WORST_FUNCTIONS } from './worst-expressions.ts';
import { WORST_FILES } from './worst-files.ts';

const BUDGET_BYTES = 256 * MIB;
/** Number of Runs that work at the same time; one in the ordinary suite. */
const AT_ONCE = isLong ? 4 : 1;
const MINUTES_20 = 1_200_000;
/** A busy machine may take minutes for a Run. */
const PATIENCE_MILLISECONDS = 600_000;
tap.setTimeout(MINUTES_20);

const OPERATION_CASES = await loadOperationCases();

type Named = WorstCase & { readonly name: string };

interface NamedCase extends Named {
  /** Name of its Template. */
  readonly template: string;
}

/** Cases that exceeded the promised memory when four of the same ran at once, before their memory was bounded. */
const FOUR_OF_THE_SAME =
  /^(rename 1 |reorder 0 |merge_rows [02] |redact [1-5] |text (25|69|70|71) |strip_accents 0|fingerprint 2|set 1 |expression 2 )/;

/** In a shortened check, every third of them runs four times at once, and each of them runs beside its neighbours. */
const COPIED_DIVISOR_MAX = 3;

/**
 * A case that may exceed the promised memory when four of the same run at once (SECURITY.md names it): 360 to 410 MiB on a quiet
 * service. The ceiling may only be lowered.
 */
const KNOWN_OVER = /^rename 1 /;
const KNOWN_BYTES_MAX = 560 * MIB;

/** Cases of the ordinary suite: those that exceeded the promised memory before it was bounded. */
const QUICK = /^(aggregate (\d+ shortRows|14 )|split_column 0|flatten_json 1 |set 1 |expression 0)/;

tap.test(
  'no worst case takes more than the budget and the base',
  { timeout: MINUTES_20, buffered: false },
  async (t) => {
    const cases = allCases().filter(({ name }) => isLong || QUICK.test(name));
    const service = await startWith(t, cases);
    for (const group of atOnce(cases)) {
      forgetPeak(service);
      const files = new Map(group.map(({ file: made }) => [made, WORST_FILES[made]!()]));
      const begun = performance.now();
      const outcomes = await Promise.all(group.map((one) => upload(service, one.template, files.get(one.file)!)));
      const { peakBytes } = resident(service);
      const what = group.map(({ name }, index) => `${name} (${outcomes[index]})`).join(', ');
      t.comment(`${(performance.now() - begun).toFixed(0)} ms`);
      const isKnown = new Set(group).size === 1 && KNOWN_OVER.test(group[0]!.name);
      t.ok(peakBytes < (isKnown ? KNOWN_BYTES_MAX : BUDGET_BYTES + BASE_BYTES), `${mebibytes(peakBytes)}: ${what}`);
      t.notOk(outcomes.includes('INTERNAL_ERROR'), what);
    }
    const samples = await until(
      () => gauges(service),
      (now) => heldBytes(now, 'reservations') === 0,
    );
    t.equal(heldBytes(samples, 'reservations'), 0, 'no reservation is left');
  },
);

tap.test(
  'twenty wide uploads that are held, and more operations than a plan may have',
  { timeout: MINUTES_20, skip: skipUnlessLong },
  async (t) => {
    const trim = { op: 'text', columns: '*', steps: ['trim'] };
    const budgetBytes = 64 * MIB;
    const templates = { one: template([trim]), many: template(Array.from({ length: 1000 }, () => trim)) };
    const flags = { workers: 2, 'memory-budget': budgetBytes, 'disk-floor': 0, 'wait-ms': PATIENCE_MILLISECONDS };
    const service = await startService(t, { accounts: { acme: { templates } } }, flags);
    const client = new Client(service.port, service.catalog.key('acme'), PATIENCE_MILLISECONDS);
    const wide = WORST_FILES['wide']!();
    const uploads = Array.from({ length: 20 }, () => client.hold('one', [file(wide)], -10));
    const held = await until(
      () => gauges(service),
      (now) => heldBytes(now, 'reservations') >= budgetBytes / 4,
    );
    t.ok(heldBytes(held, 'reservations') >= budgetBytes / 4, 'some are admitted');
    const answers = await Promise.all(uploads.map((one) => one.finish()));
    const ran = answers.filter(({ status }) => status === 201);
    t.ok(ran.length > 0 && answers.every(({ status }) => [201, 202, 503].includes(status)), `${ran.length} ran`);
    const errors = ran.flatMap(({ run }) => run.error ?? []);
    t.same(errors, [], 'those that waited for memory have succeeded');
    const { run } = await client.upload('many', [file(wide)]);
    t.equal(run.error?.code, 'RUN_RESOURCE_LIMIT', 'columns times operations have a ceiling');
    t.ok(resident(service).peakBytes < budgetBytes + BASE_BYTES, `all: ${mebibytes(resident(service).peakBytes)}`);
  },
);

/** Groups of cases that run beside each other: neighbours in the tables, which are similar, and copies of some cases. */
function* atOnce(cases: readonly NamedCase[]): Generator<readonly NamedCase[]> {
  for (let from = 0; from < cases.length; from += AT_ONCE) yield cases.slice(from, from + AT_ONCE);
  if (!isLong) return;
  const copied = cases.filter(({ name }) => FOUR_OF_THE_SAME.test(name));
  for (const one of partOf(copied, COPIED_DIVISOR_MAX)) yield Array.from({ length: AT_ONCE }, () => one);
}

function allCases(): NamedCase[] {
  const operations = [...OPERATION_CASES].flatMap(([operation, { worstCases }]) =>
    worstCases.map((one, index) => ({ ...one, name: `${operation} ${index} ${one.file}` })),
  );
  const functions = Object.entries(WORST_FUNCTIONS).flatMap(([name, list]) => expressionCases(name, list));
  const all = [...operations, ...functions, ...expressionCases('expression', WORST_EXPRESSIONS)];
  const others = partOf(all.filter(({ name }) => !FOUR_OF_THE_SAME.test(name)));
  const taken = all.filter((one) => FOUR_OF_THE_SAME.test(one.name) || others.includes(one));
  return taken.map((one, index) => ({ ...one, template: `t${index}` }));
}

/** The expression computes the value, but no cell stores the value. */
function expressionCases(name: string, list: readonly (string | readonly [string, string])[]): Named[] {
  return list.map((one, index) => {
    const [made, source] = typeof one === 'string' ? ['two', one] : one;
    const operations = [{ op: 'set', columns: { z: `dyn([${source}]).size() > 5 ? "many" : "one"` } }];
    return { name: `${name} ${index} ${source}`, file: made, operations };
  });
}

function startWith(t: Test, cases: readonly NamedCase[]): Promise<Service> {
  const rest = { tables: { t: { ref: 't' } }, defaults: { on_error: 'blank' } };
  const templates = Object.fromEntries(cases.map((one) => [one.template, template(one.operations, rest)]));
  const flags = { workers: 2, 'memory-budget': BUDGET_BYTES, 'disk-floor': 0, 'wait-ms': PATIENCE_MILLISECONDS };
  const others = {
    'tables/acme/t.csv': `key,value\n${Array.from({ length: 50 }, (_, row) => `${row % 2},${'w'.repeat(20_000)}\n`).join('')}`,
    'secrets/acme/pepper': 'p'.repeat(64),
  };
  return startService(t, { accounts: { acme: { templates } }, others }, { ...flags, 'run-timeout-ms': 30_000 });
}

/** Uploads a file. Returns the code of the result. */
async function upload({ port, catalog }: Service, name: string, content: string): Promise<string> {
  const client = new Client(port, catalog.key('acme'), PATIENCE_MILLISECONDS);
  const { run, code } = await client.upload(name, [file(content)]);
  return run.error?.code ?? code ?? run.status;
}
