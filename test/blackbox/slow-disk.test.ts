// A disk that does not say how much room it has: what needs room waits for it, and what needs none does not.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { PICK } from './catalog-folder.ts';
import { type Answer, until } from './client.ts';
import { expectNew, expectReplay } from './expect.ts';
import { file } from './multipart.ts';
import { COMMAND, Service } from './service.ts';

const DISK = fileURLToPath(new URL('../fixtures/slow-disk.js', import.meta.url));
const MINUTE = 60_000;
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
  // What the disk said before holds for a second: those that come in it do not wait.
  const uploads: Promise<Answer>[] = [];
  let answered = 0;
  await until(
    async () => {
      const upload = client.upload('pick', SMALL, { key: `new-${uploads.length}` });
      void upload.then(() => (answered += 1));
      uploads.push(upload);
      await Promise.race([upload, until(async () => existsSync(`${slow}.asked`), Boolean)]);
      return existsSync(`${slow}.asked`);
    },
    Boolean,
    MINUTE,
  );
  expectReplay(t, await client.upload('pick', SMALL, { key: 'kept' }), first);
  t.ok(answered < uploads.length, 'an upload waits for the disk');
  rmSync(slow);
  for (const upload of uploads) expectNew(t, await upload);
});
