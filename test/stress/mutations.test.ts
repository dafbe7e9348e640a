// Thousands of damaged files of every format, one after the other over HTTP. Each is read, or refused with a clean message,
// within two seconds of processor time, and the service stays within 256 MiB. TEMPLATE_RUN_SEED and TEMPLATE_RUN_MUTATION send
// one of the files again, alone.
// With all tests only: attacks and faults of the machine.
import { existsSync } from 'node:fs';
import t from 'tap';
import { plan, template } from '../blackbox/catalog-folder.ts';
import type { Answer } from '../blackbox/client.ts';
import { file } from '../blackbox/multipart.ts';
import { checkLogs, startService } from '../blackbox/service.ts';
import { Chance } from '../fuzz/chance.ts';
import { mutatedFile } from '../fuzz/mutated-files.ts';
import { processorClock } from '../processor-clock.ts';
import { seed } from '../random.ts';
import { isLong, sweep } from '../sweep.ts';
import { forgetPeak, MIB, mebibytes, resident } from './probe.ts';

const ONLY = process.env['TEMPLATE_RUN_MUTATION'];
const MUTATIONS = sweep({ short: 38, long: 10_000 });
/** Maximum processor time for one file. The same work takes longer while the other tests of the suite run. */
const MILLISECONDS_MAX = isLong ? 2_000 : 8_000;
const RESIDENT_BYTES_MAX = 256 * MIB;
const FINDINGS_MAX = 20;
const FILE_MILLISECONDS_MAX = 1_200_000;

t.setTimeout(FILE_MILLISECONDS_MAX);

t.test('mutations', { timeout: FILE_MILLISECONDS_MAX }, async (t) => {
  const templates = {
    all: template([]),
    workbook: template([], { output: { format: 'xlsx' } }),
    merged: template([], { input: { merged: 'fill', sheet: '*' }, output: { format: 'ndjson' } }),
    flat: template([], { input: { json: { flatten: '.' } }, output: { format: 'json' } }),
  };
  const plans = { tight: plan({ upload_bytes_max: 16 * MIB, inflated_bytes_max: 64 * MIB }) };
  const service = await startService(
    t,
    { plans, accounts: { acme: { plan: 'tight', templates } } },
    { workers: 1, 'memory-budget': 64 * MIB, 'disk-floor': 0, 'retention-ms': 1000 },
  );
  const client = service.client();
  /** Only Linux reports the peak memory of a process. */
  const canMeasure = existsSync('/proc/self/clear_refs');
  if (canMeasure) forgetPeak(service);
  const findings: string[] = [];
  const answers = new Map<string, number>();
  let slowest = 0;
  const now = processorClock(service);
  const send = async (number: number): Promise<void> => {
    const chance = new Chance(seed, number);
    const { ending, bytes } = mutatedFile(chance);
    const name = chance.of(Object.keys(templates));
    const since = now();
    const answer = await client.upload(name, [file(bytes, { filename: `x.${ending}` })]);
    const milliseconds = now() - since;
    slowest = Math.max(slowest, milliseconds);
    const what = `${ending} ${answer.status} ${answer.code ?? ''}`.trim();
    answers.set(what, (answers.get(what) ?? 0) + 1);
    const wrong = wrongWith(answer) ?? (milliseconds > MILLISECONDS_MAX ? `${Math.round(milliseconds)} ms` : null);
    if (wrong !== null) findings.push(`mutation ${number}, seed ${seed}, ${ending} to ${name}: ${wrong}`);
  };
  if (ONLY !== undefined) await send(Number(ONLY));
  else for (let number = 0; number < MUTATIONS && findings.length < FINDINGS_MAX; number++) await send(number);
  t.strictSame(findings, []);
  t.comment(`${MUTATIONS} mutations, the slowest ${slowest} ms`, Object.fromEntries([...answers].sort()));
  if (canMeasure) {
    const { peakBytes } = resident(service);
    t.ok(peakBytes < RESIDENT_BYTES_MAX, `resident memory: at most ${mebibytes(peakBytes)}`);
  }
  const faults = service.events.filter(({ level, event }) => level === 'error' || /fault|lost/.test(String(event)));
  t.strictSame(faults.slice(0, 5), []);
  await checkLogs(t, service);
});

/** Null if the answer is a Run or a refusal of the upload. */
function wrongWith({ status, code, run }: Answer): string | null {
  if (status >= 400 && status < 500) return null;
  if (status !== 201) return `${status} ${code}`;
  return run.error?.code === 'INTERNAL_ERROR' ? run.error.code : null;
}
