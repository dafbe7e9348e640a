// The plan of a wide file is reported to the collector when its Run ends: without the report, an idle thread would keep the plan
// as garbage.
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
