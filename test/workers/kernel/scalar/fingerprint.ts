// Scalar reference implementation of fingerprints: SipHash-2-4 with 128 bits, computed with bigints.

const BYTES = 8;
const MASK = (1n << 64n) - 1n;

/** 16 bytes of a text's fingerprint under a key of 16 bytes. The fingerprint of null is all zeros. */
export function fingerprint(text: Uint8Array | null, key: Uint8Array): Uint8Array {
  const print = Buffer.alloc(2 * BYTES);
  if (text === null) return print;
  const keys = Buffer.from(key);
  const [low, high] = [keys.readBigUInt64LE(0), keys.readBigUInt64LE(BYTES)];
  let state: State = [
    low ^ 0x736f6d6570736575n,
    high ^ 0x646f72616e646f6dn ^ 0xeen,
    low ^ 0x6c7967656e657261n,
    high ^ 0x7465646279746573n,
  ];
  for (const word of words(text)) {
    const [a, b, c, d] = state;
    const [e, f, g, h] = rounds([a, b, c, d ^ word], 2);
    state = [e ^ word, f, g, h];
  }
  for (const [half, [second, third]] of [[0n, 0xeen] as const, [0xddn, 0n] as const].entries()) {
    const [a, b, c, d] = state;
    state = rounds([a, b ^ second, c ^ third, d], 4);
    print.writeBigUInt64LE(state[0] ^ state[1] ^ state[2] ^ state[3], half * BYTES);
  }
  return print;
}

type State = readonly [bigint, bigint, bigint, bigint];

/** The text in words of 8 bytes. The last word has the text's length in its highest byte. */
function words(text: Uint8Array): bigint[] {
  const padded = Buffer.alloc((Math.floor(text.length / BYTES) + 1) * BYTES);
  padded.set(text);
  padded[padded.length - 1] = text.length & 0xff;
  return Array.from({ length: padded.length / BYTES }, (_, at) => padded.readBigUInt64LE(at * BYTES));
}

function rounds(state: State, count: number): State {
  let [a, b, c, d] = state;
  for (let round = 0; round < count; round++) {
    a = (a + b) & MASK;
    b = turned(b, 13n) ^ a;
    a = turned(a, 32n);
    c = (c + d) & MASK;
    d = turned(d, 16n) ^ c;
    a = (a + d) & MASK;
    d = turned(d, 21n) ^ a;
    c = (c + b) & MASK;
    b = turned(b, 17n) ^ c;
    c = turned(c, 32n);
  }
  return [a, b, c, d];
}

function turned(word: bigint, bits: bigint): bigint {
  return ((word << bits) | (word >> (64n - bits))) & MASK;
}
