// The plan of a wide file is reported to the collector when its Run ends: without the report, an idle thread would keep the plan
// as garbage.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'tap';
import { compileKernels } from '../../../workers/kernel/bindings/kernel.ts';
import { unlimitedShare } from '../../../workers/memory/budget.ts';
import { NO_COLLECTOR } from '../../../workers/memory/collector.ts';
import { KernelPool } from '../../../workers/memory/kernel-pool.ts';
import { applyTemplate } from '../apply-template.ts';

/** Bytes that the Run of a file with this many columns reports. */
async function reportedBytes(columns: number): Promise<number> {
  let bytes = 0;
  const madeTexts = (more: number): void => {
    bytes += more;
  };
  const kernels = new KernelPool(compileKernels(), unlimitedShare(), { ...NO_COLLECTOR, madeTexts });
  const names = Array.from({ length: columns }, (_, index) => `c${index}`).join(',');
  const operations = [{ op: 'rename', style: 'upper' }];
  const { text } = await applyTemplate({ operations }, `${names}\n${names}\n`, 4096, {}, { kernels });
  if (text !== `${names.toUpperCase()}\n${names}\n`) throw new Error(`${columns} columns are wrong`);
  return bytes;
}

test('the plan of a wide file is reported, that of a usual one is not', async (t) => {
  const wide = await reportedBytes(16_384);
  t.ok(wide > 16_384 * 1_000, `${wide} bytes`);
  t.equal(await reportedBytes(30), 0);
});

/** Heap of a Run in bytes per column, while it works on a wide file. */
async function heapBytesPerColumn(operations: readonly object[]): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const names = Array.from({ length: COLUMNS }, (_, index) => String(index)).join(',');
  const bytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  let before = 0;
  let mostBytes = 0;
  // The second Run finds everything that is shared by all Runs.
  for (let run = 0; run < 2; run++) {
    before = bytes();
    let looks = 0;
    const cancelled = (): boolean => {
      if (run > 0 && looks++ % LOOKS === 0) mostBytes = Math.max(mostBytes, bytes() - before);
      return false;
    };
    const { outcome } = await applyTemplate(
      { operations, defaults: { on_error: 'blank' } },
      `${names}\n${names}\n`,
      4096,
      {},
      { cancelled },
    );
    if (outcome.failure !== null) throw new Error(outcome.failure.message);
  }
  return mostBytes / COLUMNS;
}

const COLUMNS = 8192;

/** The heap is measured each time that the Run has asked so many times whether it is cancelled. */
const LOOKS = 25;

test('the columns of a wide file share what an operation needs, so that its plan is not larger than its charge', async (t) => {
  const parse = { op: 'parse_number', columns: '*' };
  const cases: readonly (readonly [operations: readonly object[], chargedBytes: number])[] = [
    [[parse], 1_200],
    [[{ op: 'parse_date', columns: '*', formats: ['yyyy-MM-dd', 'dd.MM.yyyy'] }], 1_200],
    [[{ op: 'parse_time', columns: '*' }], 1_200],
    [[parse, { op: 'round', columns: '*', scale: -2 }], 1_600],
    [[parse, { op: 'format_number', columns: '*', scale: 2, prefix: '-'.repeat(100) }], 1_600],
  ];
  for (const [operations, chargedBytes] of cases) {
    const heapBytes = await heapBytesPerColumn(operations);
    // Objects of the engine that V8 has not collected yet add up to 200.
    t.ok(
      heapBytes > 100 && heapBytes < chargedBytes + 200,
      `${JSON.stringify(operations)}: ${heapBytes.toFixed(0)} bytes`,
    );
  }
});
