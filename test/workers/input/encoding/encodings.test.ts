// Texts of all encodings converted to UTF-8, in pieces of any size: against TextDecoder, and against the kernel's scalar
// reference implementation.
import { TextDecoder } from 'node:util';
import { test } from 'tap';
import { encodingName, SUGGESTED_NAMES } from '../../../../workers/input/encoding/encoding.ts';
import { SingleByteSource } from '../../../../workers/input/encoding/single-byte-source.ts';
import { charactersOf, DOS_NAMES, SINGLE_BYTE_NAMES } from '../../../../workers/input/encoding/single-byte-table.ts';
import { MultiByteSource } from '../../../../workers/input/encoding/text-source.ts';
import { Undecodable } from '../../../../workers/input/encoding/undecodable.ts';
import type { ByteSource } from '../../../../workers/input/source/source.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';
import { decodeSingleBytes } from '../../kernel/scalar/single-byte.ts';
import { makeMemory } from '../../operations/harness.ts';
import { ChunkedSource } from '../read-rows.ts';
import { encode } from './encode.ts';

const MULTI_BYTE_NAMES = ['shift_jis', 'euc-jp', 'gb18030', 'gbk', 'big5', 'euc-kr', 'utf-16le', 'utf-16be'];
const { heap, kernel } = makeMemory();

async function readAll(source: ByteSource, readBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const target = Buffer.alloc(readBytes);
  while (!source.ended) {
    const bytes = source.read(target);
    pieces.push(Buffer.from(target.subarray(0, bytes)));
    if (bytes === 0 && !source.ended) await source.wait();
  }
  return Buffer.concat(pieces);
}

function single(bytes: Uint8Array, name: string, chunks: readonly number[] = [Number.POSITIVE_INFINITY]): ByteSource {
  heap.reset();
  const encoding = { name, characters: charactersOf(name)!, utf8Lines: null };
  return new SingleByteSource(new ChunkedSource(bytes, chunks), encoding, heap, kernel.exports);
}

/** The line of the first byte that cannot be decoded; 0 if all bytes can be decoded. */
async function invalidLine(source: ByteSource): Promise<number> {
  try {
    await readAll(source, 4096);
    return 0;
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error;
    return Number(/^Line (\d+) is not valid/.exec(error.failure.message)![1]);
  }
}

test('each byte of each single-byte encoding is decoded as by TextDecoder', async (t) => {
  for (const name of SINGLE_BYTE_NAMES) {
    if (DOS_NAMES.includes(name)) continue;
    for (let byte = 0; byte < 0x100; byte++) {
      const bytes = Uint8Array.of(0x41, byte, 0x42);
      let expected: string | null = null;
      try {
        expected = new TextDecoder(name, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
      } catch {
        // The encoding does not define the byte.
      }
      const source = single(bytes, name);
      // ICU swaps three control characters of ibm866, which WHATWG decodes as in ASCII.
      if (name === 'ibm866' && [0x1a, 0x1c, 0x7f].includes(byte)) expected = `A${String.fromCharCode(byte)}B`;
      const made = (await invalidLine(source)) === 0 ? (await readAll(single(bytes, name), 64)).toString() : null;
      if (made !== expected) t.fail(`${name} 0x${byte.toString(16)}`);
    }
  }
  t.equal(SINGLE_BYTE_NAMES.length, 29);
});

test('windows-1252 has its marks above 0x7f, whatever the runtime makes of them', async (t) => {
  const text = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
  const bytes = Uint8Array.of(...Array.from({ length: 32 }, (_, index) => 0x80 + index));
  t.equal((await readAll(single(bytes, 'windows-1252'), 512)).toString(), text);
});

test('code pages of DOS', async (t) => {
  t.equal((await readAll(single(Uint8Array.of(0x84, 0x94, 0x81, 0xe1, 0xd5), 'ibm850'), 64)).toString(), 'äöüßı');
  t.equal((await readAll(single(Uint8Array.of(0x84, 0x94, 0x81, 0xe1, 0x9b), 'ibm437'), 64)).toString(), 'äöüß¢');
  for (const name of DOS_NAMES) t.equal(new Set(charactersOf(name)).size, 128, name);
});

test('random pieces of single-byte texts are decoded as by the scalar reference', async (t) => {
  const bytes = fc.array(fc.oneof(fc.nat(127), fc.integer({ min: 128, max: 255 })), { maxLength: 300 });
  const runs = fc.array(fc.tuple(bytes, fc.nat(60)), { maxLength: 8 });
  const property = fc.asyncProperty(
    fc.constantFrom(...SINGLE_BYTE_NAMES),
    runs,
    fc.array(fc.nat(40), { minLength: 1, maxLength: 5 }).filter((sizes) => sizes.some((size) => size > 0)),
    fc.integer({ min: 1, max: 400 }),
    async (name, parts, chunks, readBytes) => {
      const input = Uint8Array.from(
        parts.flatMap(([some, ascii]) => [...some, ...new Array<number>(ascii).fill(0x61)]),
      );
      const expected = decodeSingleBytes(input, charactersOf(name)!);
      if (expected.bytes < input.length) {
        const line = 1 + input.subarray(0, expected.bytes).filter((byte) => byte === 10).length;
        return (await invalidLine(single(input, name, chunks))) === line;
      }
      return (await readAll(single(input, name, chunks), readBytes)).toString() === expected.text;
    },
  );
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 75, long: 3_000 }) }));
});

test('characters of several bytes may lie across pieces', async (t) => {
  const texts: Readonly<Record<string, string>> = {
    shift_jis: '日本語テスト,ｱｲｳ\\~\n',
    'euc-jp': '日本語テスト\n',
    gb18030: '中文测试,订单\n',
    gbk: '中文测试\n',
    big5: '繁體中文測試\n',
    'euc-kr': '한국어 시험\n',
  };
  for (const name of MULTI_BYTE_NAMES) {
    const text = (texts[name] ?? '漢字 and 😀\n').repeat(50);
    const bytes = name.startsWith('utf-16') ? utf16(text, name) : encode(text, name);
    for (const chunks of [[1], [2], [3], [7, 0, 1], [1000]]) {
      const source = new MultiByteSource(new ChunkedSource(bytes, chunks), name);
      t.equal((await readAll(source, 13)).toString(), text, `${name} in pieces of ${chunks}`);
    }
  }
});

test('bytes that cannot be decoded are reported with their line', async (t) => {
  const good = encode('日本語,テスト\n'.repeat(5000), 'shift_jis');
  for (const [bad, lines] of [
    [Buffer.from([0x61, 0x81, 0x0a]), 5001],
    [Buffer.from([0x0a, 0x0a, 0x61, 0xff, 0x0a]), 5003],
    [Buffer.from([0x61, 0x0a, 0x81]), 5002],
  ] as const) {
    for (const chunks of [[Number.POSITIVE_INFINITY], [1000], [7]]) {
      const source = new MultiByteSource(new ChunkedSource(Buffer.concat([good, bad]), chunks), 'shift_jis');
      t.equal(await invalidLine(source), lines, `${bad.toString('hex')} in pieces of ${chunks}`);
    }
  }
  t.equal(await invalidLine(single(Buffer.from('a\nb\n\xff'.repeat(3), 'latin1'), 'windows-1253')), 3);
});

test('labels follow WHATWG and DOS', async (t) => {
  for (const label of SUGGESTED_NAMES) if (label !== 'auto') t.type(encodingName(label), 'string', label);
  t.equal(encodingName(' Latin1 '), 'windows-1252');
  t.equal(encodingName('CP850'), 'ibm850');
  for (const label of ['auto', 'utf-9', '', 'replacement', 'iso-8859-99']) t.equal(encodingName(label), null, label);
});

function utf16(text: string, name: string): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return name === 'utf-16le' ? bytes : bytes.swap16();
}
