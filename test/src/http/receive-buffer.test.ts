// Connections of a port with a limited receive buffer never fill the buffer of the HTTP library at once, which would make
// it continue to read.
import { connect } from 'node:net';
import t from 'tap';
import { Connections } from '../../../src/http/connections.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import { chooseFrontEnd } from '../../../src/http/front-end.ts';
import { boundReceiveBuffer, RECEIVE_BUFFER_BYTES } from '../../../src/http/ports.ts';
import { ReadTurns } from '../../../src/http/read-turns.ts';
import { Router } from '../../../src/http/router.ts';
import { WaitingAnswers } from '../../../src/http/send-bytes.ts';

const BODY_BYTES = 30_000_000;

interface Received {
  readonly bytes: number;
  readonly largestChunk: number;
}

/** Takes a body slowly, so that the system gathers as much as it may. */
function takeSlowly(exchange: Exchange): Promise<Received> {
  let bytes = 0;
  let largestChunk = 0;
  return new Promise((resolve, reject) => {
    exchange.body!.flow({
      chunk: (chunk) => {
        bytes += chunk.length;
        largestChunk = Math.max(largestChunk, chunk.length);
        exchange.body!.pause();
        setTimeout(() => exchange.body!.resume(), 2);
      },
      end: () => {
        exchange.empty(204);
        resolve({ bytes, largestChunk });
      },
      cut: reject,
    });
  });
}

async function receive(bind: (port: number) => Promise<boolean>): Promise<Received> {
  let answered = (_: Promise<Received>): void => {};
  const received = new Promise<Received>((resolve) => {
    answered = resolve;
  });
  const handle = (exchange: Exchange): void => answered(takeSlowly(exchange));
  const router = new Router([{ name: 'test', method: 'POST', path: '/', handle }]);
  const settings = {
    uploadMilliseconds: 60_000,
    turns: new ReadTurns(() => true),
    answers: new WaitingAnswers({ budgetBytes: 64 * 1024 * 1024, charge: () => {} }),
    onFinished: () => {},
    onFault: (fault: unknown) => t.fail(String(fault)),
  };
  const connections = new Connections({ connectionsMax: 1, addresses: null });
  const { frontEnd } = await chooseFrontEnd('auto');
  const server = await frontEnd.listen('127.0.0.1', 0, router, settings, connections);
  t.teardown(() => server.close());
  t.equal(await bind(server.port), true);
  const client = connect(server.port, '127.0.0.1');
  t.teardown(() => client.destroy());
  client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`);
  client.write(Buffer.alloc(BODY_BYTES));
  return received;
}

t.test('a bounded port', { skip: process.platform === 'linux' ? false : 'Linux only' }, async (t) => {
  const { bytes, largestChunk } = await receive(boundReceiveBuffer);
  t.equal(bytes, BODY_BYTES);
  t.ok(largestChunk <= 2 * RECEIVE_BUFFER_BYTES, `at most ${largestChunk} bytes at once`);
});

t.test('a port on which nobody listens here', async (t) => {
  t.equal(await boundReceiveBuffer(1), false);
});
