// The search for lines of UTF-8 against the runtime's check of each line, in pieces of any size.
import { isAscii, isUtf8 } from 'node:buffer';
import { test } from 'tap';
import { Utf8Lines } from '../../../../workers/input/encoding/utf8-lines.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';

/** Returns true if a line of the text is UTF-8 and not ASCII. The last line may have no line end. */
function expected(text: Buffer): boolean {
  return text
    .toString('latin1')
    .split(/[\r\n]/)
    .map((line) => Buffer.from(line, 'latin1'))
    .some((line) => isUtf8(line) && !isAscii(line));
}

/** Searches the text in pieces of these sizes, repeated. */
function found(text: Uint8Array, sizes: readonly number[]): boolean {
  const lines = new Utf8Lines();
  let isFound = false;
  for (let at = 0, piece = 0; at < text.length; piece++) {
    const size = sizes[piece % sizes.length]!;
    // Pieces are aligned to words or not, as in the memory of a Run.
    const isAligned = piece % 3 > 0;
    const copy = new Uint8Array(size + 1).subarray(isAligned ? 0 : 1, isAligned ? size : size + 1);
    const bytes = text.subarray(at, at + size);
    copy.set(bytes);
    isFound = lines.add(copy.subarray(0, bytes.length));
    at += size;
  }
  return lines.end() || isFound;
}

test('a line of UTF-8 is found wherever pieces are cut', async (t) => {
  const parts = fc.constantFrom(
    ...['a', 'name,1,2,3', ' ', '\n', '\n', '\r\n', '\r', 'ü', '€', '漢字', '😀'].map((text) => Buffer.from(text)),
    // Invalid UTF-8: single bytes, cut characters, overlong forms, surrogates, and codes beyond Unicode.
    ...['\xfc', '\xa0', '\xc3', '\xe2\x82', '\xc0\x80', '\xe0\x80\x80', '\xed\xa0\x80', '\xf0\x80\x80\x80'].map(latin),
    ...['\xf4\x90\x80\x80', '\xf5\x80\x80\x80', '\xff\xff', '\xed\x9f\xbf', '\xf4\x8f\xbf\xbf', '\xf0\x90\x80\x80'].map(
      latin,
    ),
  );
  const texts = fc.array(parts, { maxLength: 40 }).map((some) => Buffer.concat(some));
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });
  const answers = new Set<boolean>();
  const property = fc.property(texts, sizes, (text, cut) => {
    answers.add(expected(text));
    return found(text, cut) === expected(text);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 2_000, long: 100_000 }) }));
  t.equal(answers.size, 2, 'some texts have such a line, and some do not');
});

function latin(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
