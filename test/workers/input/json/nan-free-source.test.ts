// NaN and Infinity become null wherever the pieces of a file end, and texts stay unchanged.
import { test } from 'tap';
import { NanFreeSource } from '../../../../workers/input/source/nan-free-source.ts';
import type { ByteSource } from '../../../../workers/input/source/source.ts';
import { fc } from '../../../random.ts';

/** Gives the bytes in pieces of the given sizes, in turn. */
class Pieces implements ByteSource {
  readonly #bytes: Uint8Array;
  readonly #sizes: readonly number[];
  #at = 0;
  #turn = 0;

  constructor(text: string, sizes: readonly number[]) {
    this.#bytes = Buffer.from(text);
    this.#sizes = sizes;
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }

  read(target: Uint8Array): number {
    const size = Math.min(this.#sizes[this.#turn++ % this.#sizes.length]!, target.length);
    const piece = this.#bytes.subarray(this.#at, this.#at + size);
    target.set(piece);
    this.#at += piece.length;
    return piece.length;
  }

  async wait(): Promise<void> {}

  close(): void {}
}

function filtered(text: string, sizes: readonly number[]): { readonly text: string; readonly values: number } {
  const source = new NanFreeSource(new Pieces(text, sizes));
  const target = new Uint8Array(7);
  const made: Buffer[] = [];
  while (!source.ended) made.push(Buffer.from(target.subarray(0, source.read(target))));
  return { text: Buffer.concat(made).toString(), values: source.values };
}

const TEXTS = ['""', '"NaN"', '"-Infinity\\""', '"\\\\"', '"é"'];
const OTHERS = ['null', '-1', '1e-5', 'true', '{"NaN":', '[', ']', '}', ',', ' ', '\n'];

/** Words and their replacements, which have the length of the word, except that of NaN. */
const WORDS: Readonly<Record<string, string>> = {
  NaN: 'null',
  Infinity: 'null    ',
  '-Infinity': 'null     ',
  '-NaN': 'null',
};

test('words outside texts become null', async (t) => {
  const token = fc.constantFrom(...TEXTS, ...OTHERS, ...Object.keys(WORDS));
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(token, { maxLength: 30 }), sizes, (tokens, pieces) => {
      const made = filtered(tokens.join(' '), pieces);
      const words = tokens.filter((one) => one in WORDS).length;
      const expected = tokens.map((one) => WORDS[one] ?? one).join(' ');
      return made.text === expected && made.values === words;
    }),
  );
  t.equal(filtered('[1,Na', [3]).text, '[1,', 'the beginning of a word at the end is left out');
  t.equal(filtered('[None, Inf]', [4]).text, '[None, Inf]');
});
