// Maximum size of a request head, and responses to heads that the HTTP library does not accept.
import t from 'tap';
import { skipBehindBalancer } from '../fixtures/test-stores.ts';
import { RawConnection } from './raw-connection.ts';
import { checkLogs, Service, startService } from './service.ts';

const PATIENCE_MILLISECONDS = 60_000;
const HEAD_BYTES_MAX = 16 * 1024;
const skip = skipBehindBalancer('it has limits of its own');
const service = await startService(t, { accounts: { acme: {} } });

/** Maximum number of headers of a request. The library has no setting for it. */
const HEADERS_MAX = 98;

function statusOf(port: number, headBytes: number): Promise<string | undefined> {
  const begin = 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\nX-Filler: ';
  const end = '\r\n\r\n';
  return statusOfHead(port, begin + 'x'.repeat(headBytes - begin.length - end.length) + end);
}

async function statusOfHead(port: number, head: string): Promise<string | undefined> {
  const connection = await RawConnection.open(port);
  await connection.send(head);
  const answer = await connection.answer(PATIENCE_MILLISECONDS);
  const status = answer?.status ?? /^HTTP\/1\.1 (\d{3})/.exec(connection.unread)?.[1];
  connection.destroy();
  return status;
}

t.test('a head of 16 KiB is taken, and a longer one is 431', { skip }, async (t) => {
  for (const bytes of [100, 4_096, 4_200, 10_000, HEAD_BYTES_MAX - 16])
    t.equal(await statusOf(service.port, bytes), '200', `${bytes} bytes`);
  t.equal(await statusOf(service.port, HEAD_BYTES_MAX + 1_000), '431');
});

t.test('a request with more headers than documented is 431', { skip }, async (t) => {
  const others = (count: number): string => 'X-Filler: y\r\n'.repeat(count - 1);
  for (const [count, status] of [
    [HEADERS_MAX, '200'],
    [HEADERS_MAX + 1, '431'],
  ] as const) {
    const head = `GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n${others(count)}\r\n`;
    t.equal(await statusOfHead(service.port, head), status, `${count} headers`);
  }
});

t.test('the environment sets another limit', { skip }, async (t) => {
  const narrow = new Service({ accounts: { acme: {} } }, {}, { UWS_HTTP_MAX_HEADERS_SIZE: '4096' });
  t.teardown(() => narrow.remove());
  await narrow.start();
  t.equal(await statusOf(narrow.port, 4_000), '200');
  t.equal(await statusOf(narrow.port, 5_000), '431');
});

t.test('logs', async (t) => checkLogs(t, service));
