// Limits of connections and wrong keys, without a network: networks of addresses, the system's table, paces, shares.
import { endianness } from 'node:os';
import t from 'tap';
import { FailurePace } from '../../../src/admission/authenticate.ts';
import { connectionsMaxFor, countByNetwork, networkOf } from '../../../src/http/connections.ts';
import { endsForCertain, type HeaderPair, headProblem } from '../../../src/http/request-head.ts';

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');
const never = (): void => {};

t.test('an IPv4 address is one, of IPv6 the first 64 bits are', async (t) => {
  t.equal(networkOf(bytes('7f000001')), '7f000001');
  t.equal(networkOf(bytes('00000000000000000000ffff7f000001')), '7f000001', 'written as IPv6');
  t.equal(networkOf(bytes('20010db800010002aaaaaaaaaaaaaaaa')), networkOf(bytes('20010db800010002bbbbbbbbbbbbbbbb')));
  t.not(networkOf(bytes('20010db800010002aaaaaaaaaaaaaaaa')), networkOf(bytes('20010db800010003aaaaaaaaaaaaaaaa')));
  t.equal(networkOf(bytes('')), '', 'closed already');
});

t.test("open connections of one port by network, from the system's table", async (t) => {
  const word = (hex: string): string =>
    endianness() === 'LE' ? Buffer.from(hex, 'hex').swap32().toString('hex') : hex;
  const address = (hex: string): string => hex.replace(/.{8}/g, word).toUpperCase();
  const line = (local: string, remote: string, state: string): string =>
    `   7: ${address(local)}:1F90 ${address(remote)}:C001 ${state} 00000000:00000000 00:00000000 00000000 0 0 1`;
  const v6 = '20010db800010002aaaaaaaaaaaaaaaa';
  const table = [
    '  sl  local_address rem_address   st tx_queue',
    line('00000000', '00000000', '0A'),
    line('7f000001', '7f000002', '01'),
    line('7f000001', '7f000002', '08'),
    line('7f000001', '7f000002', '06'),
    line('7f000001', '7f000003', '01'),
    line('7f000001', '7f000003', '01').replace(':1F90', ':1F91'),
    line('00000000000000000000ffff7f000001', '00000000000000000000ffff7f000002', '01'),
    line(v6, v6, '01'),
    '',
  ].join('\n');
  t.strictSame(Object.fromEntries(countByNetwork(table, 8080)), {
    '7f000002': 3,
    '7f000003': 1,
    '20010db800010002': 1,
  });
});

t.test('connections take half of the files that are left, and never none', async (t) => {
  t.equal(connectionsMaxFor(null, 2), Number.POSITIVE_INFINITY);
  t.equal(connectionsMaxFor(256, 2), 88);
  t.equal(connectionsMaxFor(20_000, 2), 9960);
  t.equal(connectionsMaxFor(32, 2), 1);
});

t.test('wrong keys: some at once, then at a pace, by network, and never longer than is said', async (t) => {
  const pace = new FailurePace();
  t.teardown(() => {
    for (const leave of gone) leave();
  });
  const gone: (() => void)[] = [];
  let answered = 0;
  const fail = (network: string, now: number): string =>
    pace.pace(
      network,
      now,
      () => {
        answered += 1;
      },
      (listener) => gone.push(listener),
    );
  for (let count = 0; count < 200; count++) t.equal(fail('a', 0), 'at once');
  t.equal(fail('a', 0), 'later');
  t.equal(fail('b', 0), 'at once', 'another network');
  t.equal(answered, 201);
  t.equal(fail('a', 100), 'at once', 'its turn has come');
  for (let count = 0; count < 10_000; count++) fail('a', 100);
  t.equal(answered, 202 + 10_000 - 1023, 'no more than so many wait');
  t.equal(
    fail('a', 100 + 5_000 + 50),
    'at once',
    'whoever failed ten thousand times is slow for seconds, not for hours',
  );
});

t.test('a client that has gone no longer waits, and does not keep another from it', async (t) => {
  const pace = new FailurePace();
  for (let count = 0; count < 200; count++) pace.pace('a', 0, never, never);
  for (let count = 0; count < 3000; count++) {
    const when = pace.pace(
      'a',
      0,
      () => t.fail('nobody reads it'),
      (listener) => listener(),
    );
    if (when !== 'later') t.fail(`the ${count}th`);
  }
  t.equal(
    pace.pace('a', 0, never, (leave) => setImmediate(leave)),
    'later',
  );
});

t.test('networks that failed are remembered up to a ceiling, those that failed last', async (t) => {
  const pace = new FailurePace();
  for (let count = 0; count < 200; count++) pace.pace('old', 0, never, never);
  for (let count = 0; count < 200; count++) pace.pace('busy', 0, never, never);
  for (let count = 0; count < 10_000; count++) {
    pace.pace(`n${count}`, 0, never, never);
    if (count % 1000 === 0) pace.pace('busy', 0, never, (leave) => setImmediate(leave));
  }
  t.equal(pace.size, 4096);
  t.equal(pace.pace('old', 0, never, never), 'at once', 'forgotten');
  t.equal(
    pace.pace('busy', 0, never, (leave) => setImmediate(leave)),
    'later',
    'kept',
  );
});

t.test('heads that say for certain where a request ends', async (t) => {
  const check = (method: string, ...headers: HeaderPair[]) => {
    const head = { method, path: '/', headers: [['host', 'x'] as const, ...headers] };
    const problem = headProblem(head);
    return problem === null ? endsForCertain(head) : problem.foundByLibrary ? 'library' : 'refused';
  };
  t.equal(check('GET'), true);
  t.equal(check('GET', ['content-length', '5']), true);
  t.equal(check('POST', ['content-length', '5']), true);
  t.equal(check('POST'), false);
  t.equal(check('POST', ['transfer-encoding', 'CHUNKED']), false);
  t.equal(check('GET', ['transfer-encoding', 'chunked']), 'refused');
  t.equal(check('POST', ['content-length', '']), 'refused');
  t.equal(check('POST', ['content-length', '5'], ['content-length', 'x']), 'refused');
  t.equal(check('POST', ['content-length', 'x'], ['content-length', '5']), 'library');
  t.equal(check('POST', ['content-length', '5'], ['transfer-encoding', 'chunked']), 'refused');
  t.equal(check('POST', ['host', 'x']), 'refused');
});
