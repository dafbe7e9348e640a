// The maximum size of a kept Run with any message and report, and the share of the memory budget for the kept Runs of one
// account.
import t from 'tap';
import { MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { endedRun, newRun, RECORD_BYTES_MAX, type RunRecord, type RunResult } from '../../../src/runs/run.ts';
import { KeptMemory } from '../../../src/stores/memory/kept-entries.ts';
import { RunRecords } from '../../../src/stores/memory/run-records.ts';
import { encodeRecord } from '../../../src/stores/redis/run-codec.ts';
import { TimeTexts } from '../../../src/telemetry/time-texts.ts';

const NOW = 1_790_000_000_000;
const MIB = 1024 * 1024;

function failed(message: string, reportText: string | null): RunRecord {
  const result: RunResult = {
    completedAt: NOW + 5,
    expiresAt: NOW + 1000,
    rowsWritten: null,
    truncated: false,
    output: null,
    rejects: null,
    error: { code: 'TEMPLATE_ROW_ERROR', message },
    reportText,
  };
  const texts = { baseUrl: () => 'https://runs.example.com', times: new TimeTexts() };
  return endedRun(newRun('run_a', 'acme', 'pick', NOW), result, texts);
}

const shown = ({ json }: RunRecord): { error: { message: string }; report: Record<string, unknown> | null } =>
  JSON.parse(json!.toString()) as ReturnType<typeof shown>;

t.test('a record holds 64 KiB at most, whatever its message and report', async (t) => {
  const operations = (count: number): object[] =>
    Array.from({ length: count }, () => ({ operation: 'select', errors: {} }));
  const report = (count: number, rest = ''): string =>
    JSON.stringify({ rows_read: 1, operations: operations(count), rest });
  const messages = ['short', 'x'.repeat(4 * MIB), '\u0001'.repeat(4 * MIB), '😀'.repeat(MIB), `${'a'.repeat(2047)}😀`];
  const reports = [null, report(1), report(10_000), report(1, 'x'.repeat(MIB)), report(1_400, '\u0001'.repeat(9_000))];
  for (const message of messages) {
    for (const reportText of reports) {
      const record = failed(message, reportText);
      t.ok(record.json!.length <= RECORD_BYTES_MAX, `${record.json!.length} bytes`);
      t.ok(message.startsWith(shown(record).error.message.slice(0, 5)), 'the message is there');
    }
  }
  t.equal(shown(failed('short', report(1))).report?.['shortened'], undefined, 'a short report is whole');
  t.equal(shown(failed('short', report(10_000))).report?.['shortened'], true, 'a long one says that it was shortened');
});

t.test('neither store keeps a longer record', async (t) => {
  const record = { ...failed('short', null), json: Buffer.alloc(RECORD_BYTES_MAX + 1, ' ') };
  const runs = new RunRecords(new MemoryBudget(64 * MIB, 1), () => {});
  t.throws(() => runs.finish(record, NOW), /65537 bytes/);
  t.equal(runs.size, 0);
  t.throws(() => encodeRecord(record), /65537 bytes/);
});

t.test('the kept Runs of one account leave others their share', async (t) => {
  const budget = new MemoryBudget(256 * MIB, 1);
  const kept = new KeptMemory(budget);
  const fill = (account: string): number => {
    while (kept.hasShare(account)) kept.charge(MIB, account);
    return kept.bytesOf(account) / MIB;
  };
  t.equal(fill('a'), 129, 'an account alone may hold half of the budget');
  t.ok(kept.hasShare('b'), 'another one may keep Runs');
  const second = fill('b');
  t.ok(second > 32 && second < 64, `a second one has its share too: ${second} MiB`);
  for (const account of ['c', 'd', 'e', 'f', 'g']) fill(account);
  t.ok(budget.availableBytes() >= 60 * MIB, 'a quarter of the budget is left for Runs');
  t.ok(kept.hasShare('newcomer'), 'whoever keeps nothing is never refused');
  kept.charge(-100 * MIB, 'a');
  t.ok(kept.hasShare('a'), 'once some of its own have expired it has a share again');
});
