// Clients that are slow for longer than a test run should last: only in `npm run test:all`.
// With all tests only: attacks and faults of the machine.
import net from 'node:net';
import t from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { template } from './catalog-folder.ts';
import { Client, pause, rawExchange, until } from './client.ts';
import { expectNew, expectRun } from './expect.ts';
import { file, form } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const options = { skip: skipUnlessLong };
const MINUTES_10 = 600_000;
t.setTimeout(2 * MINUTES_10);

t.test('slow clients', { ...options, timeout: 2 * MINUTES_10, buffered: false }, async (t) => {
  const service = await startService(t, { accounts: { acme: { templates: { all: template([]) } } } });
  const client = new Client(service.port, service.catalog.key('acme'), MINUTES_10);
  const head = (length: number, type: string): string =>
    `POST /api/v1/templates/all/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
  const csv = (rows: number): string => `id,text\n${'1,CanaryCell\n'.repeat(rows)}`;

  // All at once; what follows waits for them.
  await t.test('at once', { timeout: MINUTES_10, jobs: 4 }, async (t) => {
    t.test('an upload of 2 KB/s for a minute is served', { timeout: MINUTES_10 }, async (t) => {
      const upload = form([file(csv(9_300))]);
      const held = client.hold('all', upload, 100);
      for (let at = 100; at < upload.body.length - 2000; at += 2000) {
        held.send(upload.body.subarray(at, at + 2000));
        await pause(1000);
      }
      const rest = (upload.body.length - 100) % 2000 || 2000;
      held.send(upload.body.subarray(-rest));
      const answer = await held.answer;
      expectRun(t, answer, 201, 'succeeded');
    });

    t.test('a client that sends nothing for 30 s is cut, not before', { timeout: MINUTES_10 }, async (t) => {
      const { body, contentType } = form([file(csv(100))]);
      const begun = Date.now();
      const { text } = await rawExchange(service.port, (socket) => {
        socket.write(head(body.length, contentType));
        socket.write(body.subarray(0, 300));
      });
      const lasted = Date.now() - begun;
      t.ok(lasted > 25_000, `cut after ${lasted} ms`);
      if (text !== '') t.match(text, /^HTTP\/1.1 400 [\s\S]*MALFORMED_FILE/);
    });

    t.test('a download of 20 KB/s is served', { timeout: MINUTES_10 }, async (t) => {
      const upload = csv(80_000);
      const { run } = await client.upload('all', [file(upload)]);
      const socket = net.connect({ port: service.port, host: '127.0.0.1' });
      socket.write(
        `GET /api/v1/runs/${run.id}/output HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\n\r\n`,
      );
      let bytes = 0;
      for (let second = 0; second < 40 && !socket.readableEnded; second++) {
        const chunk = socket.read(20_000) ?? socket.read();
        if (chunk !== null) bytes += (chunk as Buffer).length;
        await pause(1000);
      }
      t.ok(bytes > 600_000, `the slow part was served: ${bytes}`);
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      await until(
        async () => bytes,
        (count) => count > upload.length,
      );
      t.ok(bytes > upload.length, 'and the rest');
      socket.destroy();
    });

    t.test('a refused client that never ends its body is closed after 30 s', { timeout: MINUTES_10 }, async (t) => {
      const begun = Date.now();
      let timer: NodeJS.Timeout | undefined;
      const { text } = await rawExchange(service.port, (socket) => {
        socket.write(head(1_000_000, 'text/csv'));
        timer = setInterval(() => socket.write('x'), 500);
      });
      clearInterval(timer);
      t.match(text, /^HTTP\/1.1 415 /);
      const lasted = Date.now() - begun;
      t.ok(lasted > 20_000, `closed after ${lasted} ms`);
    });
  });

  t.test('then everything is released', async (t) => {
    expectNew(t, await client.upload('all', [file(csv(1))]));
    await checkLogs(t, service, [service.catalog.key('acme')]);
  });
});
