// Chunks of a body on their way to the sink: short ones of one turn of the event loop arrive joined, in their order and
// without loss, because each call costs the form parser, the hash and the spool as much as some hundred bytes.
import t from 'tap';
import type { RawResponse } from '../../../src/http/raw-response.ts';
import { ReadTurns } from '../../../src/http/read-turns.ts';
import { RequestBody } from '../../../src/http/request-body.ts';

const CHUNKS = 20_000;
const CALLS_MAX = 40;

type Handler = (chunk: Buffer, isLast: boolean) => void;

class Rig {
  readonly calls: Buffer[] = [];
  ended = false;
  tinyChunks = 0;
  readonly body: RequestBody;
  #handler: Handler = () => {};

  constructor() {
    const response: Partial<RawResponse> = {
      pause: () => {},
      resume: () => {},
      onData: (handler: Handler) => {
        this.#handler = handler;
      },
    };
    const turns = new ReadTurns(() => true);
    this.body = new RequestBody(response as RawResponse, 60_000, turns, () => {
      this.tinyChunks += 1;
    });
  }

  flow(): void {
    this.body.flow({
      // The bytes are valid only during the call.
      chunk: (bytes) => this.calls.push(Buffer.from(bytes)),
      end: () => {
        this.ended = true;
      },
      cut: () => {},
    });
  }

  receive(bytes: Buffer, isLast = false): void {
    this.#handler(bytes, isLast);
  }
}

function numbered(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => Buffer.from(`row ${index} of the file\n`));
}

t.test('thousands of short chunks in one turn', async (t) => {
  const rig = new Rig();
  rig.flow();
  const chunks = numbered(CHUNKS);
  for (const chunk of chunks) rig.receive(chunk);
  rig.receive(Buffer.from('end'), true);
  t.ok(rig.calls.length <= CALLS_MAX, `${rig.calls.length} calls`);
  t.ok(Buffer.concat(rig.calls).equals(Buffer.concat([...chunks, Buffer.from('end')])), 'every byte in its order');
  t.ok(rig.ended);
  t.equal(rig.tinyChunks, 0);
});

t.test('short chunks between long ones, over several turns', async (t) => {
  const rig = new Rig();
  const sent: Buffer[] = [];
  const receive = (bytes: Buffer): void => {
    sent.push(bytes);
    rig.receive(bytes);
  };
  receive(Buffer.from('held until its use is decided'));
  rig.flow();
  for (const length of [3, 5_000, 1, 1_023, 1_024, 1_025, 20_000, 7]) receive(Buffer.alloc(length, String(length)));
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(Buffer.concat(rig.calls).equals(Buffer.concat(sent)), 'all of a turn arrives at its end');
  receive(Buffer.from('the next turn'));
  rig.receive(Buffer.alloc(0), true);
  t.ok(Buffer.concat(rig.calls).equals(Buffer.concat(sent)));
  t.ok(rig.ended);
});

t.test('a body that is dropped or lost passes nothing on', async (t) => {
  for (const end of ['drop', 'lose'] as const) {
    const rig = new Rig();
    rig.flow();
    rig.receive(Buffer.from('short'));
    if (end === 'drop') rig.body.drop(() => {});
    else rig.body.lose();
    await new Promise((resolve) => setImmediate(resolve));
    t.strictSame(rig.calls, [], end);
    rig.body.lose();
  }
});
