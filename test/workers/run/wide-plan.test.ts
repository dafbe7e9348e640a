// The plan of a wide file is reported to the collector when its Run ends: without the report, an idle thread would keep the plan
// as garbage.
import { setImmediate } from 'node:timers/promises';
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
    // What the Run before has left is collected only after a turn of the event loop.
    bytes();
    await setImmediate();
    before = bytes();
    let looks = 0;
    const cancelled = (): boolean => {
      if (run > 0 && looks++ % LOOKS === 0) mostBytes = Math.max(mostBytes, bytes() - before);
      return false;
    };
    const { outcome } = await applyTemplate(
      { operations, defaults: { on_error: 'blank' } },
      `${names}\n`.repeat(1 + ROWS),
      1,
      {},
      { cancelled },
    );
    if (outcome.failure !== null) throw new Error(outcome.failure.message);
  }
  return mostBytes / COLUMNS;
}

const COLUMNS = 4096;

/** The heap is measured each time that the Run has asked so many times whether it is cancelled. */
const LOOKS = 25;

/** A Run asks at least once for each batch, and each row is a batch. So the heap is measured on any machine. */
const ROWS = 2 * LOOKS;

test('the columns of a wide file share what an operation needs', async (t) => {
  const parse = { op: 'parse_number', columns: '*' };
  // Bytes per column: 1,200 to 1,560 for one operation on Node 20 to 26, and 1,740 to 1,910 for two. If the columns
  // shared nothing, it would be about twice as much.
  const cases: readonly (readonly [operations: readonly object[], bytesMax: number])[] = [
    [[parse], 1_900],
    [[{ op: 'parse_date', columns: '*', formats: ['yyyy-MM-dd', 'dd.MM.yyyy'] }], 1_900],
    [[{ op: 'parse_time', columns: '*' }], 1_900],
    [[parse, { op: 'round', columns: '*', scale: -2 }], 2_400],
    [[parse, { op: 'format_number', columns: '*', scale: 2, prefix: '-'.repeat(100) }], 2_400],
  ];
  for (const [operations, bytesMax] of cases) {
    const bytes = await heapBytesPerColumn(operations);
    t.ok(bytes > 100 && bytes < bytesMax, `${JSON.stringify(operations)}: ${bytes.toFixed(0)} bytes`);
  }
});

/** Long parameters of operations on cells: what they need is the same for one column and for thousands. */
const LONG_PARAMETERS: Readonly<Record<string, readonly object[]>> = {
  'an expression for each column': [{ op: 'set', each: '*', expr: longSum('value') }],
  'a condition for the cells of each column': [
    { op: 'text', columns: '*', steps: ['trim'], where: longCondition('value') },
  ],
  'a condition for filled cells of each column': [{ op: 'fill_down', columns: '*', where: longCondition('value') }],
  'an expression for empty cells': [{ op: 'fill_empty', columns: '*', expr: longSum('`1`') }],
  'many columns for empty cells': [{ op: 'fill_empty', columns: '*', from: numbers(1000) }],
  'many columns for empty numbers': [
    { op: 'parse_number', columns: '*' },
    { op: 'fill_empty', columns: '*', from: numbers(1000) },
  ],
  'a long text for empty cells': [{ op: 'fill_empty', columns: '*', value: 'x'.repeat(1000) }],
  'texts that are compared loosely': [{ op: 'map_values', columns: '*', map: { x: 'y' }, match: 'loose' }],
  'JSON in each column': [{ op: 'parse_json', columns: '*' }],
  'a digest of each column': [{ op: 'hash', columns: '*', method: 'sha256_unkeyed' }],
};

function longSum(name: string): string {
  return `"a" + ${new Array(200).fill(name).join(' + ')}`;
}

function longCondition(name: string): string {
  return numbers(150)
    .map((number) => `${name} != "a${number}"`)
    .join(' && ');
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index));
}

/** The operations above with more than this would need a part of a parameter for each column. */
const LONG_BYTES_MAX = 3_000;

for (const [name, operations] of Object.entries(LONG_PARAMETERS)) {
  test(`the columns of a wide file share ${name}`, async (t) => {
    const bytes = await heapBytesPerColumn(operations);
    t.comment(`${bytes.toFixed(0)} bytes`);
    t.ok(bytes > 100 && bytes < LONG_BYTES_MAX, `${bytes.toFixed(0)} bytes`);
  });
}
