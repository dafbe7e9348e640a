// Outputs of a standalone node: the response for an output that expires during the request.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { LocalOutputs } from '../../../src/outputs/local-outputs.ts';

t.test('an output that is removed between its opening and its digest has no digest', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-outputs-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, '1.out');
  writeFileSync(path, 'a,b\n');
  const outputs = new LocalOutputs(new MemoryBudget(64 * 1024 * 1024, 1));
  const output = { sizeBytes: 4, path, bytes: null };
  const source = await outputs.open(output, 0);
  await outputs.remove(output);
  t.equal(await outputs.sha256(output), null);
  t.equal(Buffer.from(await source!.read(0, 4)).toString(), 'a,b\n', 'what was opened can be read');
  source!.close();
  t.equal(await outputs.open(output, 0), null);
});
