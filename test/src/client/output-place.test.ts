// Where the client for Node puts outputs: links, permissions, pipes and long names, with real files.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { TemplateRunClient } from '../../../src/client/node/template-run-client.ts';
import { ScriptedService } from './scripted-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-run-outputs-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
/** For outputs on their way into a pipe. */
const temporary = join(folder, 'temporary');
mkdirSync(temporary);
process.env['TMPDIR'] = temporary;

/** More than a pipe holds. */
const OUTPUT = Buffer.from(`id,total\n${'1,2\n'.repeat(100_000)}`);
const DIGEST = createHash('sha256').update(OUTPUT).digest('base64');
const RUN = { id: 'run_1' };

async function scripted(t: Test) {
  const headers = { etag: '"run_1"', 'repr-digest': `sha-256=:${DIGEST}:` };
  const service = await ScriptedService.open(t, [{ status: 200, headers, body: OUTPUT }]);
  const client = new TemplateRunClient({ baseUrl: service.url, apiKey: 'trs_key' });
  t.teardown(() => client.close());
  return { service, client };
}

function parts(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.part'));
}

t.test('a link stays one, and the file behind it keeps its permissions', async (t) => {
  const { client } = await scripted(t);
  const elsewhere = join(folder, 'elsewhere');
  mkdirSync(elsewhere);
  const [file, link, early] = [join(elsewhere, 'file.csv'), join(folder, 'link.csv'), join(folder, 'early.csv')];
  writeFileSync(file, 'what was there');
  // A umask takes from what a file is made with.
  chmodSync(file, 0o662);
  symlinkSync(file, link);
  await client.download(RUN, link);
  t.ok(lstatSync(link).isSymbolicLink());
  t.ok(readFileSync(file).equals(OUTPUT));
  t.equal(statSync(file).mode & 0o777, 0o662);
  symlinkSync(join('elsewhere', 'later.csv'), early);
  await client.download(RUN, early);
  t.ok(lstatSync(early).isSymbolicLink());
  t.ok(readFileSync(join(elsewhere, 'later.csv')).equals(OUTPUT), 'a file is made where a link leads to none');
  t.strictSame(parts(), []);
});

t.test('a pipe is written into, once somebody reads it', async (t) => {
  const { service, client } = await scripted(t);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const downloaded = client.download(RUN, pipe);
  while (service.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => reader.kill());
  const [bytes] = await Promise.all([buffer(reader.stdout), downloaded]);
  t.ok(bytes.equals(OUTPUT), `${bytes.length} bytes`);
  t.ok(statSync(pipe).isFIFO());
  const aborter = new AbortController();
  const reason = new Error('no longer wanted');
  const unread = client.download(RUN, pipe, {
    signal: aborter.signal,
    onProgress: ({ bytes, totalBytes }) => bytes === totalBytes && setTimeout(() => aborter.abort(reason), 50),
  });
  await t.rejects(unread, reason, 'nobody reads it');
  t.strictSame(parts(), []);
});

t.test('a name as long as names can be is one, and a longer one is told before a Run is made', async (t) => {
  const { service, client } = await scripted(t);
  const longest = join(folder, `${'n'.repeat(251)}.csv`);
  await client.download(RUN, longest);
  t.ok(readFileSync(longest).equals(OUTPUT));
  service.asked.length = 0;
  const longer = join(folder, `${'n'.repeat(252)}.csv`);
  await t.rejects(client.transform('pick', Buffer.from('a\n'), longer), { code: 'ENAMETOOLONG' });
  await t.rejects(client.transform('pick', Buffer.from('a\n'), `${folder}/new/`), { code: 'EISDIR' });
  t.strictSame(service.asked, [], 'nothing was sent');
});

const skip = process.getuid?.() === 0 && 'nothing is closed to the superuser';

t.test('a file that may only be read is not replaced', { skip }, async (t) => {
  const { service, client } = await scripted(t);
  const path = join(folder, 'closed.csv');
  writeFileSync(path, 'what was there', { mode: 0o444 });
  await t.rejects(client.transform('pick', Buffer.from('a\n'), path), { code: 'EACCES' });
  t.strictSame(service.asked, [], 'nothing was sent');
  t.equal(readFileSync(path, 'utf8'), 'what was there');
});
