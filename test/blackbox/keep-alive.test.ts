// Many requests on one connection, with any status, framing and packets: each request gets a response. Then either the
// next request is answered, or the response has `Connection: close` and the connection is closed.
// With all tests only: attacks and faults of the machine.

import t from 'tap';
import { skipBehindBalancer } from '../fixtures/test-stores.ts';
import { fc } from '../random.ts';
import { ALL_SCOPES, PICK, plan } from './catalog-folder.ts';
import { rawExchange, until } from './client.ts';
import { file, form } from './multipart.ts';
import { RawConnection } from './raw-connection.ts';
import { checkLogs, startService } from './service.ts';
import { SLOW, slowUpload } from './slow-run.ts';

/** Until what must come has come, on a busy machine. The HTTP library closes a connection that waits for its body before. */
const PATIENCE_MILLISECONDS = 60_000;

const BYTES_MAX = 4096;
const service = await startService(
  t,
  {
    plans: {
      small: plan({ upload_bytes_max: BYTES_MAX }),
      rated: plan({ rate_limits: { create_run: { requests: 1, window_seconds: 86_400 } } }),
    },
    accounts: {
      acme: {
        templates: { pick: PICK, slow: SLOW },
        keys: { full: { scopes: ALL_SCOPES }, read: { scopes: ['templates:read'] } },
      },
      small: { plan: 'small' },
      rated: { plan: 'rated' },
    },
  },
  // Room for few Runs: held uploads make the node busy.
  { 'memory-budget': '57MiB' },
);
const key = (account: string, name = 'full'): string => `Authorization: Bearer ${service.catalog.key(account, name)}`;
const ACME = key('acme');
const RUNS = '/api/v1/templates/pick/runs';
const NEXT = `GET /api/v1/templates HTTP/1.1\r\nHost: x\r\n${ACME}\r\n\r\n`;
const { body: BODY, contentType } = form([file('id,amount,CanaryColumn\n001,1.50,CanaryCell\n')]);
const LARGE = form([file(`id,amount\n${'1,2\n'.repeat(20_000)}`)]).body;
const TYPE = `Content-Type: ${contentType}`;

interface Kind {
  readonly status: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

const KINDS: readonly Kind[] = [
  { status: '201', headers: [ACME, TYPE] },
  { status: '201', headers: [ACME, TYPE], body: LARGE },
  { status: '401', headers: [TYPE] },
  { status: '401', headers: [TYPE, 'Authorization: Bearer nobody'] },
  { status: '403', headers: [TYPE, key('acme', 'read')] },
  { status: '404', headers: [ACME, TYPE], path: '/nowhere' },
  { status: '404', headers: [ACME, TYPE], path: '/api/v1/templates/unknown/runs' },
  { status: '405', headers: [ACME, TYPE], path: '/api/v1/templates' },
  { status: '413', headers: [key('small'), TYPE], body: LARGE },
  { status: '415', headers: [ACME, 'Content-Type: text/csv'] },
  { status: '422', headers: [ACME, TYPE, 'Idempotency-Key:'] },
  { status: '429', headers: [key('rated'), TYPE] },
  { status: '200', headers: [ACME], method: 'GET', path: '/api/v1/templates' },
  { status: '404', headers: [ACME], method: 'GET', path: '/api/v1/runs/none' },
  { status: '200', headers: [ACME], method: 'HEAD', path: '/api/v1/templates' },
  { status: '204', headers: [ACME], method: 'OPTIONS', path: RUNS },
];

const FRAMINGS = ['length', 'chunk', 'chunks'] as const;

interface Sending {
  readonly kind: Kind;
  readonly framing: (typeof FRAMINGS)[number];
  /** Where head and body are cut into packets, as shares of them; without any they come together in one. */
  readonly headCuts: readonly number[];
  readonly bodyCuts: readonly number[];
  /** True if the body is sent after the response, where the response does not wait for the body. */
  readonly late: boolean;
}

const isBodiless = ({ method }: Kind): boolean => method !== undefined;

/** The request's bytes up to its body, and its body as it is sent. */
function bytesOf({ kind, framing }: Sending): [Buffer, Buffer] {
  const { method = 'POST', path = RUNS, headers, body = BODY } = kind;
  // The service takes chunks only where a body means something.
  const chunked = framing !== 'length' && !isBodiless(kind);
  const size = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const head = Buffer.from([`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, size, '', ''].join('\r\n'));
  if (!chunked) return [head, body];
  const pieces: Buffer[] = [];
  const step = framing === 'chunk' ? body.length : Math.ceil(body.length / 3);
  for (let at = 0; at < body.length; at += step) {
    const piece = body.subarray(at, at + step);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return [head, Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])];
}

function cut(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const places = [...new Set(shares.map((share) => Math.floor(share * bytes.length)))].sort((a, b) => a - b);
  return [0, ...places].map((place, index) => bytes.subarray(place, places[index] ?? bytes.length));
}

/** The head's packets and the body's; the last of the head and the first of the body are one. */
function packetsOf(sending: Sending): [Buffer[], Buffer[]] {
  const [head, body] = bytesOf(sending);
  // The library takes a request line in one piece only.
  const line = head.indexOf('\r\n') + 2;
  const heads = cut(head.subarray(line), sending.headCuts);
  heads[0] = Buffer.concat([head.subarray(0, line), heads[0]!]);
  return [heads, cut(body, sending.bodyCuts)];
}

/** Sends one request and checks its answer. False: the service has closed the connection, as it said. */
async function carries(connection: RawConnection, sending: Sending): Promise<boolean> {
  const { kind, framing } = sending;
  const [heads, bodies] = packetsOf(sending);
  const late = sending.late && !/201|413/.test(kind.status);
  if (late) await connection.send(...heads);
  else await connection.send(...heads.slice(0, -1), Buffer.concat([heads.at(-1)!, bodies[0]!]), ...bodies.slice(1));
  const answer = await connection.answer(PATIENCE_MILLISECONDS, kind.method === 'HEAD');
  const what = `${kind.status} ${framing}, ${late ? 'late' : `${heads.length} and ${bodies.length} packets`}`;
  if (answer?.status !== kind.status) throw new Error(`${what}: ${answer?.status ?? 'no answer'}`);
  if (late) await connection.send(...bodies);
  if (!answer.closes) return true;
  if (!(await connection.closed(PATIENCE_MILLISECONDS))) throw new Error(`${what}: it is not closed, as it was said`);
  return false;
}

/** Sends the requests on one connection, each followed by one that must be answered; on a new one where it was closed. */
async function checkSendings(sendings: readonly Sending[]): Promise<number> {
  let closed = 0;
  let connection = await RawConnection.open(service.port);
  for (const sending of sendings) {
    if (await carries(connection, sending)) {
      await connection.send(NEXT);
      const next = await connection.answer(PATIENCE_MILLISECONDS);
      if (next?.status !== '200') throw new Error(`after ${sending.kind.status} ${sending.framing}: ${next?.status}`);
    } else {
      closed += 1;
      if (connection.unread !== '') throw new Error(`after ${sending.kind.status}: a second answer`);
      connection = await RawConnection.open(service.port);
    }
  }
  connection.destroy();
  return closed;
}

const whole = { headCuts: [], bodyCuts: [], late: false };

t.before(async () => {
  // Number of requests that the plan's rate allows.
  await service.client('rated').upload('pick', [file('id,amount\n1,2\n')]);
});

t.test('every kind of answer, framing and first packet', async (t) => {
  const ways = [whole, { ...whole, headCuts: [1] }, { ...whole, late: true }, { ...whole, bodyCuts: [0, 0.5] }];
  for (const kind of KINDS) {
    const sendings = FRAMINGS.flatMap((framing) => ways.map((way) => ({ kind, framing, ...way })));
    const closed = await checkSendings(sendings);
    const told = `${kind.method ?? 'POST'} ${kind.status}: ${closed} of ${sendings.length} closed`;
    // A body that is not read to its end may close each connection; one that comes with its head closes none.
    if (kind.body === undefined) t.ok(closed < sendings.length, told);
    else t.pass(told);
    if (isBodiless(kind))
      t.equal(closed, kind.method === 'OPTIONS' ? closed : 0, 'what has no body keeps its connection');
  }
});

t.test('a length and its body in one packet keep the connection, whatever the answer', async (t) => {
  for (const kind of KINDS.filter(({ body }) => body === undefined)) {
    t.equal(await checkSendings(Array(5).fill({ kind, framing: 'length', ...whole })), 0, kind.status);
  }
});

t.test('any requests one after the other on one connection, cut anywhere', async (t) => {
  const share = fc.integer({ min: 0, max: 64 }).map((part) => part / 64);
  const shares = fc.array(share, { maxLength: 3 });
  const sending = fc.record({
    kind: fc.constantFrom(...KINDS),
    framing: fc.constantFrom(...FRAMINGS),
    headCuts: shares,
    bodyCuts: shares,
    late: fc.boolean(),
  });
  const sendings = fc.array(sending, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(sendings, async (list) => void (await checkSendings(list))),
    { numRuns: 60, endOnFailure: true },
  );
  t.pass('no request was lost');
});

const isKept = skipBehindBalancer("its connections to nodes and clients are not each other's");
t.test('a busy node refuses every framing, and the connection goes on', { skip: isKept }, async (t) => {
  const client = service.client();
  const held = [];
  const busy = { kind: { status: '503', headers: [ACME, TYPE] }, ...whole };
  for (let status = ''; status !== '503'; ) {
    held.push(client.hold('pick', [file('id,amount\n1,2\n')], -1));
    const connection = await RawConnection.open(service.port);
    await connection.send(...bytesOf({ ...busy, framing: 'length' }));
    status = (await connection.answer(PATIENCE_MILLISECONDS))?.status ?? 'none';
    connection.destroy();
    if (held.length > 20) throw new Error(`never busy: ${status}`);
  }
  for (const framing of FRAMINGS) {
    for (const way of [whole, { ...whole, headCuts: [1] }]) await checkSendings([{ ...busy, framing, ...way }]);
  }
  for (const { answer, finish } of held) {
    await finish();
    t.equal((await answer).status, 201, 'what was held is served');
  }
});

t.test('a client that goes away is noticed when its whole chunked body came at once', { skip: isKept }, async (t) => {
  const { body } = form(slowUpload(60_000));
  const path = '/api/v1/templates/slow/runs';
  const kind = { status: '', headers: [ACME, TYPE, 'X-Request-Id: vanishing'], path, body };
  const connection = await RawConnection.open(service.port);
  await connection.send(Buffer.concat(bytesOf({ kind, framing: 'chunk', ...whole })));
  t.equal(await connection.answer(500), null, 'the Run is at work');
  connection.destroy();
  const line = async () =>
    service.events.find(({ event, request_id }) => event === 'request' && request_id === 'vanishing');
  const found = await until(line, (event) => event !== undefined);
  t.equal(found?.['status'], 0, 'nobody was answered');
});

t.test(
  'Expect: 100-continue: a refusal comes though no byte of the body was sent, a sound upload goes on',
  async (t) => {
    const head = (auth: string, path: string, length: number): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\n${auth}Content-Type: ${contentType}\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`;
    const refused: [string, string][] = [
      ['401', head('', RUNS, BODY.length)],
      ['404', head(`${ACME}\r\n`, '/api/v1/templates/unknown/runs', BODY.length)],
      ['413', head(`${key('small')}\r\n`, RUNS, 10_000_000)],
    ];
    for (const [status, request] of refused) {
      const isAnswered = (text: string): boolean => text.includes(`HTTP/1.1 ${status} `);
      const { text } = await rawExchange(service.port, (socket) => socket.write(request), isAnswered);
      // Without its body the library would close the connection: the answer did not wait for it.
      t.ok(isAnswered(text), status);
    }
    const { text } = await rawExchange(
      service.port,
      (socket) => {
        socket.write(head(`${ACME}\r\n`, RUNS, BODY.length));
        socket.once('data', () => socket.write(BODY));
      },
      (answer) => answer.includes('"succeeded"'),
    );
    t.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created/);
  },
);

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
