// Sources that convert the text of another source: the result does not depend on the boundaries of pieces. They yield to other
// work of the thread, however many bytes in a row they drop.
import { test } from 'tap';
import { NulFreeSource, RecordLengthSource, SeparatedSource } from '../../../workers/input/source/converted-source.ts';
import type { ByteSource } from '../../../workers/input/source/source.ts';
import { UncommentedSource } from '../../../workers/input/source/uncommented-source.ts';
import { UnescapedSource } from '../../../workers/input/source/unescaped-source.ts';
import type { Failed } from '../../../workers/protocol/failure.ts';
import { ChunkedSource } from './read-rows.ts';

const PIECES = 100;

/** Reads of the inner source between two pauses: 2 MiB. */
const READS_MAX = 32;

/** Many pieces of bytes that conversion drops completely, and then a row. */
class LeftOutBytes implements ByteSource {
  reads = 0;
  readonly #piece: string;
  readonly #row: string;

  constructor(piece: string, row: string) {
    this.#piece = piece;
    this.#row = row;
  }

  get ended(): boolean {
    return this.reads > PIECES;
  }

  read(target: Uint8Array): number {
    if (this.ended) return 0;
    this.reads++;
    if (this.reads <= PIECES) return Buffer.from(target.buffer, target.byteOffset, target.length).write(this.#piece);
    return Buffer.from(target.buffer, target.byteOffset, target.length).write(this.#row);
  }

  wait(): Promise<void> {
    throw new Error('a source that has bytes was waited for');
  }

  close(): void {}
}

const COMMENT = { mark: '#', delimiter: ',', quote: '"', spaced: false };

const CASES: Readonly<Record<string, readonly [piece: string, row: string, (inner: ByteSource) => ByteSource]>> = {
  'NUL bytes': ['\0'.repeat(1000), 'a', (inner) => new NulFreeSource(inner)],
  comments: ['# comment\n'.repeat(100), 'a', (inner) => new UncommentedSource(inner, COMMENT)],
  'line breaks between records': ['\r\n'.repeat(500), 'a\n', (inner) => new RecordLengthSource(inner, 1)],
  'both, one in the other': [
    '\0'.repeat(1000),
    'a',
    (inner) => new UncommentedSource(new NulFreeSource(inner), COMMENT),
  ],
};

for (const [name, [piece, row, make]] of Object.entries(CASES)) {
  test(name, async (t) => {
    const inner = new LeftOutBytes(piece, row);
    const source = make(inner);
    const target = new Uint8Array(100);
    let text = '';
    let turns = 0;
    while (!source.ended) {
      const readsBefore = inner.reads;
      const bytes = source.read(target);
      t.ok(inner.reads - readsBefore <= READS_MAX, `${inner.reads - readsBefore} reads in one turn`);
      text += Buffer.from(target.subarray(0, bytes)).toString();
      if (bytes > 0 || source.ended) continue;
      let hasTurned = false;
      setImmediate(() => {
        hasTurned = true;
      });
      await source.wait();
      t.ok(hasTurned, 'other work had its turn');
      turns++;
    }
    t.ok(turns > 0);
    t.equal(text.trim(), 'a');
  });
}

test('sources also yield if the result is much shorter than the text', async (t) => {
  const inner = new ChunkedSource(Buffer.alloc(4_000_000, '#'), [Number.POSITIVE_INFINITY]);
  let readBytes = 0;
  const counted: ByteSource = {
    get ended() {
      return inner.ended;
    },
    read: (target) => {
      const bytes = inner.read(target);
      readBytes += bytes;
      return bytes;
    },
    wait: () => inner.wait(),
    close: () => inner.close(),
  };
  const source = new SeparatedSource(counted, { separator: '########', delimiter: '|', quote: '"', spaced: false });
  // One read of a reader asks for as many bytes as it has space.
  const target = new Uint8Array(1_000_000);
  let made = 0;
  while (!source.ended) {
    const before = readBytes;
    let bytes: number;
    do {
      bytes = source.read(target);
      made += bytes;
    } while (bytes > 0);
    t.ok(readBytes - before <= 8 * PIECE_BYTES, `${readBytes - before} bytes in one turn`);
    if (!source.ended) await source.wait();
  }
  t.equal(made, 500_000);
});

test('few line breaks and spaces are held back before a separator', async (t) => {
  const form = { separator: '##', delimiter: '|', quote: '"', spaced: true };
  const made = (text: string): Promise<string> =>
    textOf(new SeparatedSource(new ChunkedSource(Buffer.from(text), [Number.POSITIVE_INFINITY]), form));
  const [most, more] = ['\n'.repeat(65_536), ' '.repeat(70_000)];
  t.ok((await made(`1|x${most}##2|y##`)) === '"1"|"x"\n"2"|"y"\n', 'removed at the end of a record');
  t.ok((await made(`1|x${most}y##`)) === `"1"|"x${most}y"\n`, 'kept within a cell');
  t.ok((await made(`1|${more}y##`)) === `"1"|"${more}y"\n`, 'more spaces are text');
  t.ok((await made(`1|${more}##`)) === `"1"|"${more}"\n`, 'more spaces without text');
  const message = 'A cell has more than 65536 consecutive line breaks.';
  const failed = await made(`1|x${most}\ny##`).catch((error: unknown) => (error as Failed).failure);
  t.match(failed, { code: 'MALFORMED_FILE', message });
});

/** Bytes that these sources read at a time. */
const PIECE_BYTES = 65_536;

async function textOf(source: ByteSource): Promise<string> {
  const target = Buffer.alloc(1_000);
  let text = '';
  while (!source.ended) {
    const bytes = source.read(target);
    text += target.toString('latin1', 0, bytes);
    if (bytes === 0 && !source.ended) await source.wait();
  }
  return Buffer.from(text, 'latin1').toString();
}

const ESCAPE_FORM = { delimiter: ',', quote: '"', keepsNull: true };

/**
 * A text that is repeated at the start, and a text in which a boundary between two pieces could cause errors, with their results.
 */
const BORDERS: Readonly<
  Record<
    string,
    readonly [before: string, made: string, text: string, result: string, (inner: ByteSource) => ByteSource]
  >
> = {
  'NUL bytes': ['\0a', 'a', '1\0\0\0,\0é\0\n\0', '1,é\n', (inner) => new NulFreeSource(inner)],
  escapes: [
    'a,',
    '"a",',
    '"\\"é\\\\","x\\\r\ny",p\\,q,\\N\n"a""b\\"",\\"c\n',
    '"""é\\","x\r\ny","p,q","\\N"\n"a""b""","""c"\n',
    (inner) => new UnescapedSource(inner, ESCAPE_FORM),
  ],
  'records of a fixed length': [
    'ab\r\n',
    'ab\n',
    'cé\r\nefgh\n\x1a',
    'cé\nef\ngh\n',
    (inner) => new RecordLengthSource(inner, 2),
  ],
};

for (const [name, [before, made, text, result, make]] of Object.entries(BORDERS)) {
  test(`pieces may be cut anywhere: ${name}`, async (t) => {
    const length = Buffer.byteLength(text);
    t.equal(
      await textOf(make(new ChunkedSource(Buffer.from(text), [Number.POSITIVE_INFINITY]))),
      result,
      'in one piece',
    );
    for (const chunks of [[1], [2], [3], [5, 0, 1]]) {
      t.equal(await textOf(make(new ChunkedSource(Buffer.from(text), chunks))), result, `in pieces of ${chunks}`);
    }
    for (let cut = 0; cut <= length; cut++) {
      const repeats = Math.floor((PIECE_BYTES - cut) / before.length);
      const first = repeats * before.length + cut;
      const source = new ChunkedSource(Buffer.from(before.repeat(repeats) + text), [first, Number.POSITIVE_INFINITY]);
      const got = await textOf(make(source));
      t.ok(got === made.repeat(repeats) + result, `${cut} bytes before the border`);
    }
  });
}
