// Large uploads, one after the other and concurrent: each reuses the spool file of an earlier upload. No output ever
// contains bytes of another upload, and no files remain at the end.
// With all tests only: attacks and faults of the machine.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { template } from './catalog-folder.ts';
import { until } from './client.ts';
import { expectNew } from './expect.ts';
import { field, file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

/** That of src/uploads/idle-files.ts. */
const IDLE_MILLISECONDS_MAX = 1_000;

const SENDERS = 4;
const UPLOADS_PER_LANE = 12;

/** From just above what stays in memory to ten times that. */
const ROWS = [11_000, 100_000, 25_000, 60_000];

/** Every cell names its upload, and every line contains a comma and a bar. */
function csv(sender: number, index: number): string {
  const rows = ROWS[(sender + index) % ROWS.length]!;
  return `id,x|text\n${`${sender}${index % 10},Canary|sender ${sender} upload ${index}\n`.repeat(rows)}`;
}

t.test('no upload sees another one', { timeout: 1_200_000 }, async (t) => {
  const service = await startService(t, { accounts: { acme: { templates: { all: template([]) } } } });
  const client = service.client();
  const spool = join(service.dataFolder, 'spool');

  const run = async (sender: number, index: number): Promise<void> => {
    const text = csv(sender, index);
    if (index % 4 === 3) client.hold('all', [file(text)], text.length >> 1).vanish();
    // Comes after the file: what was made of it with a comma is void, and the file is read again.
    const isLate = index % 3 === 1;
    const answer = await client.upload('all', isLate ? [file(text), field('delimiter', '|')] : [file(text)]);
    expectNew(t, answer);
    const output = await client.get(`/api/v1/runs/${answer.run.id}/output`);
    const expected = isLate ? text.replace(/^(.*)\|(.*)$/gm, '"$1",$2') : text;
    t.equal(output.status, 200);
    // Not `equal`: it would print megabytes.
    t.ok(output.text === expected, `upload ${index} of sender ${sender} comes out as it went in`);
  };
  const sender = async (number: number): Promise<void> => {
    for (let index = 0; index < UPLOADS_PER_LANE; index++) await run(number, index);
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, number) => sender(number)));

  const begun = performance.now();
  expectNew(t, await client.upload('all', [file(csv(0, 0))]));
  const left = await until(
    async () => readdirSync(spool),
    (names) => names.length === 0,
  );
  t.strictSame(left, [], 'the last file went when no upload came');
  // Of several nodes another one may have had the last upload.
  const waited = performance.now() - begun;
  if (service.nodeCount === 1) t.ok(waited > IDLE_MILLISECONDS_MAX - 50, `it waited for another upload: ${waited} ms`);
  await checkLogs(t, service, [service.catalog.key('acme')]);
});
