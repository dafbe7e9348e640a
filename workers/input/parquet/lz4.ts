// Inflates LZ4 into a place of known length: single blocks (LZ4_RAW), and blocks in the frames that Hadoop wrote before
// (LZ4). Work is bounded by both lengths.

const MATCH_MIN = 4;

/** Of a length that does not fit its four bits. */
const MORE = 15;

/** Bytes of a frame's two lengths, high byte first: inflated, compressed. */
const FRAME_BYTES = 8;

/** @returns whether `input` was a sound block that filled `output` to its last byte */
export function inflateLz4Block(input: Uint8Array, output: Uint8Array): boolean {
  let at = 0;
  let out = 0;
  /** The length whose first part is `start`; -1 where the input ends before. */
  const length = (start: number): number => {
    let sum = start;
    if (start !== MORE) return sum;
    for (;;) {
      const byte = input[at++];
      if (byte === undefined || sum > output.length) return -1;
      sum += byte;
      if (byte !== 255) return sum;
    }
  };
  while (at < input.length) {
    const token = input[at++]!;
    const literals = length(token >>> 4);
    if (literals < 0 || literals > input.length - at || literals > output.length - out) return false;
    output.set(input.subarray(at, at + literals), out);
    at += literals;
    out += literals;
    // The last sequence has literals alone.
    if (at === input.length) return out === output.length;
    const offset = input[at]! + (input[at + 1] ?? 0) * 256;
    at += 2;
    const match = length(token & MORE) + MATCH_MIN;
    if (match < MATCH_MIN || offset === 0 || offset > out || match > output.length - out) return false;
    if (offset >= match) output.copyWithin(out, out - offset, out - offset + match);
    else for (let index = 0; index < match; index++) output[out + index] = output[out + index - offset]!;
    out += match;
  }
  return input.length === 0 && output.length === 0;
}

/** As inflateLz4Block, of Hadoop's frames; a file that says LZ4 may hold a block without them. */
export function inflateLz4Frames(input: Uint8Array, output: Uint8Array): boolean {
  return inflateFrames(input, output) || inflateLz4Block(input, output);
}

function inflateFrames(input: Uint8Array, output: Uint8Array): boolean {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  let out = 0;
  for (let at = 0; at < input.length; ) {
    if (input.length - at < FRAME_BYTES) return false;
    const inflated = view.getUint32(at);
    const compressed = view.getUint32(at + 4);
    at += FRAME_BYTES;
    if (compressed === 0 || compressed > input.length - at || inflated > output.length - out) return false;
    if (!inflateLz4Block(input.subarray(at, at + compressed), output.subarray(out, out + inflated))) return false;
    at += compressed;
    out += inflated;
  }
  return out === output.length;
}
