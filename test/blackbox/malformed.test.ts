// Requests whose end another reader on the way may see elsewhere: two lengths, invalid chunks, empty header names.
// Each gets at most one response, its connection is closed, and no part of its body is served as a request.
import t, { type Test } from 'tap';
import { skipBehindBalancer } from '../fixtures/test-stores.ts';
import { file, form } from './multipart.ts';
import { RawConnection } from './raw-connection.ts';
import { checkLogs, startService } from './service.ts';

const CLOSED_MILLISECONDS = 5_000;
/** The HTTP library gives up a head that does not end after 8 to 12 s. */
const GIVEN_UP_MILLISECONDS = 20_000;

/** A balancer reads requests itself and sends others, or none: balancers.test.ts. */
const skip = skipBehindBalancer('what the node reads is what HAProxy wrote');
const service = await startService(t, { accounts: { acme: {} } });
const KEY = `Authorization: Bearer ${service.catalog.key('acme')}`;
const SMUGGLED = `GET /api/v1/templates HTTP/1.1\r\nHost: x\r\nX-Request-Id: smuggled\r\n${KEY}\r\n\r\n`;
const LENGTH = SMUGGLED.length;
const { body: BODY, contentType } = form([file('id,amount\n001,1.50\n')]);

/** A create_run with these headers beside the usual ones. */
const post = (headers: string, body = SMUGGLED): string =>
  `POST /api/v1/templates/pick/runs HTTP/1.1\r\nHost: x\r\n${KEY}\r\nContent-Type: ${contentType}\r\n${headers}\r\n\r\n${body}`;
const get = (headers: string, body = SMUGGLED): string =>
  `GET /api/v1/templates HTTP/1.1\r\n${headers}\r\n${KEY}\r\n\r\n${body}`;
const chunked = (body: string): string => post('Transfer-Encoding: chunked', body);
const chunk = `${LENGTH.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;
const part = BODY.toString('latin1');
const size = part.length.toString(16);

/** Requests that reach our handler: 400 as JSON. */
const SEEN: Readonly<Record<string, string>> = {
  'two lengths': post(`Content-Length: ${LENGTH}\r\nContent-Length: 5`),
  'two lengths, 0 first': post(`Content-Length: 0\r\nContent-Length: ${LENGTH}`),
  'two lengths, 0 last': post(`Content-Length: ${LENGTH}\r\nContent-Length: 0`),
  'twice the same length': post(`Content-Length: ${LENGTH}\r\nContent-Length: ${LENGTH}`),
  'two lengths apart': post(`Content-Length: 0\r\nX-Between: y\r\ncontent-length: ${LENGTH}`),
  'an empty length': post('Content-Length:'),
  'an empty length with a blank': post('Content-Length: '),
  'an empty length, then one': post(`Content-Length:\r\nContent-Length: ${LENGTH}`),
  'a length of 16 digits': post('Content-Length: 1000000000000000'),
  'an empty length and chunks': post('Content-Length:\r\nTransfer-Encoding: chunked', chunk),
  'an empty coding': post('Transfer-Encoding:'),
  'an empty coding and a length': post(`Transfer-Encoding:\r\nContent-Length: ${LENGTH}`),
  'an empty coding, then chunked': post('Transfer-Encoding:\r\nTransfer-Encoding: chunked', chunk),
  xchunked: post('Transfer-Encoding: xchunked', chunk),
  'gzip, chunked': post('Transfer-Encoding: gzip, chunked', chunk),
  'chunked, gzip': post('Transfer-Encoding: chunked, gzip', chunk),
  'chunked, chunked': post('Transfer-Encoding: chunked, chunked', chunk),
  'chunked with a parameter': post('Transfer-Encoding: chunked;q=1', chunk),
  'quoted "chunked"': post('Transfer-Encoding: "chunked"', chunk),
  identity: post('Transfer-Encoding: identity', chunk),
  'chunked twice': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', chunk),
  'two codings': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', chunk),
  'two Hosts': get('Host: x\r\nHost: y'),
  'the same Host twice': get('Host: x\r\nHost: x'),
  'an empty Host, then one': get('Host:\r\nHost: x'),
  'two Hosts in one': get('Host: x, y'),
  'a Host with a path': get('Host: x/y'),
  'a Host with a user': get('Host: a@x'),
  'chunks of a GET': get('Host: x\r\nTransfer-Encoding: chunked', chunk),
  'two lengths of a GET': get(`Host: x\r\nContent-Length: 0\r\nContent-Length: ${LENGTH}`),
};

/** Requests that the library itself refuses, with 400, 431 or 505. */
const REFUSED_BY_LIBRARY: Readonly<Record<string, string>> = {
  'a list of lengths': post(`Content-Length: ${LENGTH}, ${LENGTH}`),
  'a negative length': post('Content-Length: -1'),
  'a length with a plus': post(`Content-Length: +${LENGTH}`),
  'a length in hex': post('Content-Length: 0x10'),
  'a length with a blank inside': post('Content-Length: 1 0'),
  'a length with a point': post('Content-Length: 10.0'),
  'two colons': post(`Content-Length:: ${LENGTH}`),
  'a length beyond 64 bits': post('Content-Length: 18446744073709551616'),
  'a bad length, then a good one': post(`Content-Length: x\r\nContent-Length: ${LENGTH}`),
  'a length and chunks': post(`Content-Length: ${LENGTH}\r\nTransfer-Encoding: chunked`, chunk),
  'chunks and a length': post(`Transfer-Encoding: chunked\r\nContent-Length: ${LENGTH}`, chunk),
  'no Host': get('X-Nothing: y'),
  'an empty name before all': get(`: y\r\nHost: x\r\nContent-Length: ${LENGTH}`),
  'an origin in the request line': `GET http://x/api/v1/templates HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`,
  'HTTP/1.0': `GET /api/v1/templates HTTP/1.0\r\nHost: x\r\n\r\n${SMUGGLED}`,
  'HTTP/1.2': `GET /api/v1/templates HTTP/1.2\r\nHost: x\r\n\r\n${SMUGGLED}`,
  'a chunk size that is not a number': chunked(`xyz\r\n${SMUGGLED}\r\n0\r\n\r\n`),
  'a negative chunk size': chunked(`-5\r\n${SMUGGLED}\r\n0\r\n\r\n`),
  'a chunk size with 0x': chunked(`0x${chunk}`),
  'a chunk size beyond 64 bits': chunked(`fffffffffffffffff\r\n${SMUGGLED}\r\n0\r\n\r\n`),
};

/** Requests that never reach our handler: the library may respond, and the connection is closed. */
const CLOSED: Readonly<Record<string, string>> = {
  'a length after an empty name': post(`: y\r\nContent-Length: ${LENGTH}`),
  'chunks after an empty name': post(': y\r\nTransfer-Encoding: chunked', chunk),
  'a POST without a length': post('X-Nothing: y'),
  'an empty chunk size': chunked(`\r\n${SMUGGLED}`),
  'a blank before a chunk size': chunked(` ${chunk}`),
  'words after a chunk size': chunked(`${size} words\r\n${part}\r\n0\r\n\r\n${SMUGGLED}`),
  'a chunk size of g': chunked(`g\r\n0123456789abcdef\r\n0\r\n\r\n${SMUGGLED}`),
  'a chunk without its line end': chunked(`${size}\r\n${part}XX0\r\n\r\n${SMUGGLED}`),
  'a last chunk without its line end': chunked(`${size}\r\n${part}\r\n0\r\nXX${SMUGGLED}`),
  'line ends without CR': chunked(`${size}\n${part}\r\n0\r\n\r\n${SMUGGLED}`),
  'a trailer': chunked(`${size}\r\n${part}\r\n0\r\nX-Trailer: y\r\n\r\n${SMUGGLED}`),
  'a trailer that opens a request': chunked(`0\r\nG\r\n${SMUGGLED}`),
  'another request after chunks': chunked(`${size}\r\n${part}\r\n0\r\n\r\n${SMUGGLED}`),
};

/** Heads for whose end the library waits in vain. */
const NEVER_WHOLE: Readonly<Record<string, string>> = {
  'a blank before the colon of a length': post(`Content-Length : ${LENGTH}`),
  'a blank before the colon of a coding': post('Transfer-Encoding : chunked', chunk),
  'a folded length': post(`X-Folded: y\r\n Content-Length: ${LENGTH}`),
  'a blank name': post(` : y\r\nContent-Length: ${LENGTH}`),
  'no colon': post(`X-Nothing\r\nContent-Length: ${LENGTH}`),
  'a line feed in a value': post(`X-Value: y\nContent-Length: ${LENGTH}`),
  'a carriage return in a value': post(`X-Value: y\rContent-Length: ${LENGTH}`),
  'a zero byte in a name': post(`X\0Y: y\r\nContent-Length: ${LENGTH}`),
  'a control character before a length': post(`Content-Length: \x0b${LENGTH}`),
  'a control character before a coding': post('Transfer-Encoding: \x0bchunked', chunk),
};

/** In one packet, with the body apart, and with its last bytes apart. */
function packetings(text: string): string[][] {
  const body = text.indexOf('\r\n\r\n') + 4;
  return [[text], [text.slice(0, body), text.slice(body)], [text.slice(0, -LENGTH), text.slice(-LENGTH)]];
}

interface Ended {
  readonly statuses: string[];
  readonly bodies: string[];
  readonly closed: boolean;
}

async function send(packets: readonly string[], milliseconds: number): Promise<Ended> {
  const connection = await RawConnection.open(service.port);
  await connection.send(...packets.map((packet) => Buffer.from(packet, 'latin1')));
  const closed = await connection.closed(milliseconds);
  const statuses: string[] = [];
  const bodies: string[] = [];
  for (let answer = await connection.answer(0); answer !== null; answer = await connection.answer(0)) {
    statuses.push(answer.status);
    bodies.push(answer.body);
  }
  connection.destroy();
  return { statuses, bodies, closed };
}

/** Checks that no request hidden in a body was served. */
function checkNothingSmuggled(t: Test): void {
  t.notOk(service.logs.includes('"request_id":"smuggled"'), 'no body became a request');
}

/** Sent before all others, for the library waits long: how each ended. */
const neverWhole = Object.entries(NEVER_WHOLE).flatMap(([what, text]) =>
  packetings(text).map(async (packets) => ({ what, ...(await send(packets, GIVEN_UP_MILLISECONDS)) })),
);

t.test('what is seen is 400 MALFORMED_REQUEST, once, and the connection is closed', { skip }, async (t) => {
  for (const [what, text] of Object.entries(SEEN)) {
    const ends = await Promise.all(packetings(text).map((packets) => send(packets, CLOSED_MILLISECONDS)));
    for (const [index, { statuses, bodies, closed }] of ends.entries()) {
      t.strictSame([statuses, closed], [['400'], true], `${what}, way ${index}`);
      t.equal(JSON.parse(bodies[0] ?? '{}').error, 'MALFORMED_REQUEST', what);
    }
  }
  checkNothingSmuggled(t);
});

t.test('what the library refuses is refused once, and the connection is closed', { skip }, async (t) => {
  for (const [what, text] of Object.entries(REFUSED_BY_LIBRARY)) {
    for (const [index, packets] of packetings(text).entries()) {
      const { statuses, closed } = await send(packets, CLOSED_MILLISECONDS);
      t.equal(statuses.length, 1, `${what}, way ${index}: one answer`);
      t.match(statuses[0], /^(400|431|505)$/, what);
      t.ok(closed, `${what}: closed`);
    }
  }
  checkNothingSmuggled(t);
});

t.test('what nobody sees is answered once at most, and the connection is closed', { skip }, async (t) => {
  for (const [what, text] of Object.entries(CLOSED)) {
    for (const [index, packets] of packetings(text).entries()) {
      const { statuses, closed } = await send(packets, CLOSED_MILLISECONDS);
      t.ok(statuses.length <= 1, `${what}, way ${index}: ${statuses}`);
      t.ok(closed, `${what}: closed`);
    }
  }
  checkNothingSmuggled(t);
});

t.test('a head that never ends is given up, and nothing of it is served', { skip }, async (t) => {
  for (const { what, statuses, closed } of await Promise.all(neverWhole)) {
    t.ok(closed, `${what}: closed`);
    t.match(statuses.join(' '), /^(400)?$/, what);
  }
  checkNothingSmuggled(t);
});

/** The parser of Node refuses a tab after a length, which RFC 9110 (5.6.3) allows. */
const hasNodeParser = service.events.some(
  ({ event, http_library }) => event === 'listening' && http_library === 'node',
);

t.test('what is sound in all of this is served', { skip }, async (t) => {
  for (const [headers, body] of [
    ...(hasNodeParser ? [] : [[`Content-Length:\t${BODY.length}\t`, part] as const]),
    [`CONTENT-LENGTH: 000${BODY.length}`, part],
    ['Transfer-Encoding: Chunked', `${size}\r\n${part}\r\n0\r\n\r\n`],
    ['TRANSFER-ENCODING: chunked', `000${size.toUpperCase()}\r\n${part}\r\n0\r\n\r\n`],
  ] as const) {
    const connection = await RawConnection.open(service.port);
    await connection.send(post(headers, body));
    t.equal((await connection.answer(CLOSED_MILLISECONDS))?.status, '201', headers);
    connection.destroy();
  }
  for (const host of [
    '',
    'example.com',
    'example.com:8080',
    '[::1]:8080',
    '127.0.0.1',
    'a_b.example',
    'xn--bcher-kva.example',
  ]) {
    const connection = await RawConnection.open(service.port);
    await connection.send(get(`Host: ${host}`, ''));
    t.equal((await connection.answer(CLOSED_MILLISECONDS))?.status, '200', `Host: ${host}`);
    connection.destroy();
  }
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
