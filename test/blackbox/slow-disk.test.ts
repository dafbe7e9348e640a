// A disk that does not report its free space: requests that need space wait for it, other requests do not.
// With all tests only: attacks and faults of the machine.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { PICK } from './catalog-folder.ts';
import { type Answer, pause, until } from './client.ts';
import { expectNew, expectReplay } from './expect.ts';
import { file } from './multipart.ts';
import { COMMAND, Service } from './service.ts';

const DISK = fileURLToPath(new URL('../fixtures/slow-disk.js', import.meta.url));

/** After this time, an upload that is not answered may be waiting for the disk. */
const PATIENCE_MILLISECONDS = 500;
const SMALL = [file('id,amount\n1,2\n')];

t.test('a repeat is answered while an upload waits for the disk', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'slow-disk-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const slow = join(folder, 'slow');
  const accounts = { acme: { templates: { pick: PICK } } };
  const service = new Service({ accounts }, {}, { SLOW_DISK: slow }, ['--import', DISK, COMMAND, 'serve']);
  t.teardown(() => service.remove());
  await service.start();
  const client = service.client();
  const first = await client.upload('pick', SMALL, { key: 'kept' });
  expectNew(t, first);
  writeFileSync(slow, '');
  // The previous result of the disk is valid for a second, on each node: requests within this second do not wait. Probes ask
  // the disk, too.
  const uploads: Promise<Answer>[] = [];
  let answered = 0;
  const isHeld = await until(async () => {
    const upload = client.upload('pick', SMALL, { key: `new-${uploads.length}` });
    void upload.then(() => (answered += 1));
    uploads.push(upload);
    await Promise.race([upload, pause(PATIENCE_MILLISECONDS)]);
    expectReplay(t, await client.upload('pick', SMALL, { key: 'kept' }), first);
    return existsSync(`${slow}.asked`) && answered < uploads.length;
  }, Boolean);
  t.ok(isHeld, 'an upload waits for the disk, and the repeat after it is answered');
  rmSync(slow);
  for (const upload of uploads) expectNew(t, await upload);
});
