// Only the owner can read the ledger, whatever the mode of the folder above it; also if an older version created it.
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { LedgerStore } from '../../../src/stores/leveldb/ledger-store.ts';

t.test('the mode of the ledger', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'template-run-ledger-'));
  t.teardown(() => rmSync(data, { recursive: true, force: true }));
  chmodSync(data, 0o777);
  const ledger = join(data, 'ledger');
  for (const before of [null, 0o755]) {
    if (before !== null) chmodSync(ledger, before);
    const store = await LedgerStore.open(ledger);
    t.equal(statSync(ledger).mode & 0o777, 0o700);
    await store.close();
  }
});
