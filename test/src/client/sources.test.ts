// Sources that the client for Node cannot send, and open sources when a call is aborted or the client is closed.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { SourceError, TemplateRunClient } from '../../../src/client/node/template-run-client.ts';
import { runAnswer, ScriptedService } from './scripted-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-run-sources-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

async function scripted(t: Test) {
  const service = await ScriptedService.open(t, [runAnswer(201, {})]);
  const client = new TemplateRunClient({ baseUrl: service.url, apiKey: 'trs_key' });
  t.teardown(() => client.close());
  return { service, client };
}

t.test('a signal ends the wait for a source, and what is opened too late is closed', async (t) => {
  const { service, client } = await scripted(t);
  const reason = new Error('no longer wanted');
  const never = new AbortController();
  const waiting = client.run('pick', () => new Promise<Readable>(() => {}), { signal: never.signal });
  setImmediate(() => never.abort(reason));
  await t.rejects(waiting, reason);
  const late = new AbortController();
  const stream = Readable.from(['id\n']);
  let open = (_: Readable): void => {};
  const opening = new Promise<Readable>((resolve) => {
    open = resolve;
  });
  const given = client.run('pick', () => opening, { signal: late.signal });
  setImmediate(() => late.abort(reason));
  await t.rejects(given, reason);
  const closed = once(stream, 'close');
  open(stream);
  await closed;
  t.ok(stream.destroyed);
  t.strictSame(service.asked, []);
});

t.test('a pipe and a folder are refused at once', async (t) => {
  const { service, client } = await scripted(t);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, folder]) {
    const error = await client.run('pick', path).catch((thrown: unknown) => thrown);
    t.ok(error instanceof SourceError && error.code === 'SOURCE_NOT_A_FILE', String(error));
  }
  t.strictSame(service.asked, []);
});

t.test('a file that becomes shorter while it is sent is told, and not sent again', async (t) => {
  const { service, client } = await scripted(t);
  const path = join(folder, 'shorter.csv');
  writeFileSync(path, Buffer.alloc(8_000_000, 'a'));
  const onProgress = ({ bytes }: { readonly bytes: number }): void => {
    if (bytes > 0) truncateSync(path, 10);
  };
  await t.rejects(client.run('pick', path, { onProgress }), { code: 'SOURCE_SHORTENED' });
  t.strictSame(service.asked, [], 'no whole request came');
});

t.test('a header that cannot be sent leaves no stream open', async (t) => {
  const { client } = await scripted(t);
  const stream = new Readable({ read: () => {} });
  await t.rejects(
    client.run('pick', () => stream, { idempotencyKey: 'a\nb' }),
    { code: 'ERR_INVALID_CHAR' },
  );
  t.ok(stream.destroyed);
});

t.test('close leaves what is under way to its end', async (t) => {
  let held: http.ServerResponse | null = null;
  let isAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const server = http.createServer((request, response) => {
    if (request.url!.endsWith('/templates')) return void response.end('{"data":[]}');
    held = response;
    isAsked();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const left = async (count: number): Promise<void> => {
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_, number) => resolve(number)));
    while ((await connections()) !== count) await new Promise((resolve) => setImmediate(resolve));
  };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new TemplateRunClient({ baseUrl, apiKey: 'trs_key', retries: 0 });
  const run = client.get('run_1');
  await asked;
  await client.templates();
  await left(2);
  client.close();
  await left(1);
  held!.end(JSON.stringify({ id: 'run_1', status: 'succeeded', rows_written: 1 }));
  t.match(await run, { id: 'run_1' });
  await left(0);
});
