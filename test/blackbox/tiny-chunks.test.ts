// Bodies in chunks of few bytes: each chunk costs a call. A stream of tiny ones is refused, with or without a key; rows that a
// client sends one by one are not.
// With all tests only: files of all formats over HTTP.
import net from 'node:net';
import t from 'tap';
import { skipBehindBalancer } from '../fixtures/test-stores.ts';
import { PICK } from './catalog-folder.ts';
import { pause } from './client.ts';
import { expectNew } from './expect.ts';
import { file, form } from './multipart.ts';
import { RawConnection } from './raw-connection.ts';
import { checkLogs, startService } from './service.ts';

/** A refused connection ends long before: what the kernel takes for it is less. */
const SENT_BYTES_MAX = 16 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const CONNECTIONS = 4;
const PATIENCE_MILLISECONDS = 60_000;

const skip = skipBehindBalancer('it joins the chunks');
const service = await startService(t, { accounts: { acme: { templates: { pick: PICK } } } });
const KEY = `Authorization: Bearer ${service.catalog.key('acme')}`;
const RUNS = '/api/v1/templates/pick/runs';
const { body: BODY, contentType } = form([file(`id,amount\n${'1,CanaryCell\n'.repeat(5_000)}`)]);

function head(path: string, headers: readonly string[]): string {
  const lines = [`POST ${path} HTTP/1.1`, 'Host: x', ...headers, `Content-Type: ${contentType}`];
  return [...lines, 'Transfer-Encoding: chunked', '', ''].join('\r\n');
}

function chunked(bytes: Buffer, chunkBytes: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const piece = bytes.subarray(at, at + chunkBytes);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat(pieces);
}

const TINY = chunked(Buffer.alloc(Math.floor(PIECE_BYTES / 6), 'a'), 1);

const REFUSED: Readonly<Record<string, [string, string[]]>> = {
  'without a key': [RUNS, []],
  'with a wrong key': [RUNS, ['Authorization: Bearer nobody']],
  'to no endpoint': ['/nowhere', []],
  'with a key': [RUNS, [KEY]],
};

for (const [name, [path, headers]] of Object.entries(REFUSED)) {
  t.test(`an endless body in chunks of one byte ${name}`, { skip }, async (t) => {
    const begin = Buffer.concat([
      Buffer.from(head(path, headers)),
      chunked(Buffer.from(`${BODY.toString('latin1', 0, 200)}`), 200),
    ]);
    const sent = await Promise.all(Array.from({ length: CONNECTIONS }, () => sendUntilClosed(begin)));
    for (const bytes of sent) t.ok(bytes < SENT_BYTES_MAX, `closed after ${bytes} bytes at most`);
    expectNew(t, await service.client().upload('pick', form([file('id,amount\n1,2\n')])));
  });
}

t.test('short chunks, and a few tiny ones, are taken', { skip }, async (t) => {
  const tinyBytes = 500;
  const kinds = {
    'rows one by one': chunked(BODY, 20),
    'tiny ones at the beginning': Buffer.concat([
      chunked(BODY.subarray(0, tinyBytes), 1),
      chunked(BODY.subarray(tinyBytes), 16_384),
    ]),
  };
  for (const [name, chunks] of Object.entries(kinds)) {
    const connection = await RawConnection.open(service.port);
    await connection.send(Buffer.concat([Buffer.from(head(RUNS, [KEY])), chunks, Buffer.from('0\r\n\r\n')]));
    t.equal((await connection.answer(PATIENCE_MILLISECONDS))?.status, '201', name);
    connection.destroy();
  }
});

t.test('nothing of it is in the logs', async (t) => checkLogs(t, service));

/** Sends tiny chunks until the service closes the connection. Returns how many bytes were accepted at most. */
async function sendUntilClosed(begin: Buffer): Promise<number> {
  const socket = net.connect({ port: service.port, host: '127.0.0.1' });
  let isOpen = true;
  socket.on('error', () => {
    isOpen = false;
  });
  socket.on('close', () => {
    isOpen = false;
  });
  socket.resume();
  socket.write(begin);
  while (isOpen && socket.bytesWritten < SENT_BYTES_MAX) {
    if (socket.writableLength > PIECE_BYTES) await pause(1);
    else {
      socket.write(TINY);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const sentBytes = isOpen ? SENT_BYTES_MAX : socket.bytesWritten;
  socket.destroy();
  return sentBytes;
}
