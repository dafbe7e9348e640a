// Scalar reference implementation of the kernel that inflates Snappy (format_description.txt of google/snappy).

const LITERAL = 0;
const COPY_1 = 1;
const COPY_2 = 2;

/** The tag contains the length of literals up to this length. */
const SHORT_LITERAL = 60;

const LENGTH_BYTES_MAX = 5;

/** @returns true if `input` was valid and filled `output` to its last byte */
export function inflateSnappy(input: Uint8Array, output: Uint8Array): boolean {
  const body = bodyStart(input, output.length);
  if (body < 0) return false;
  let at = body;
  let out = 0;
  while (at < input.length) {
    const tag = input[at++]!;
    const kind = tag & 3;
    if (kind === LITERAL) {
      let length = (tag >>> 2) + 1;
      if (length > SHORT_LITERAL) {
        const bytes = length - SHORT_LITERAL;
        if (at + bytes > input.length) return false;
        length = littleEndian(input, at, bytes) + 1;
        at += bytes;
      }
      if (length > input.length - at || length > output.length - out) return false;
      copy(input, at, output, out, length);
      at += length;
      out += length;
      continue;
    }
    const offsetBytes = kind === COPY_1 ? 1 : kind === COPY_2 ? 2 : 4;
    if (at + offsetBytes > input.length) return false;
    const length = kind === COPY_1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const offset = littleEndian(input, at, offsetBytes) + (kind === COPY_1 ? (tag >>> 5) * 256 : 0);
    at += offsetBytes;
    if (offset === 0 || offset > out || length > output.length - out) return false;
    if (offset >= length) output.copyWithin(out, out - offset, out - offset + length);
    else for (let index = 0; index < length; index++) output[out + index] = output[out + index - offset]!;
    out += length;
  }
  return out === output.length;
}

/** Offset of the first byte after the length; -1 if the length is not that of the output. */
function bodyStart(input: Uint8Array, expected: number): number {
  let length = 0;
  let factor = 1;
  for (let at = 0; at < Math.min(input.length, LENGTH_BYTES_MAX); at++) {
    const byte = input[at]!;
    length += (byte & 127) * factor;
    if (byte < 128) return length === expected ? at + 1 : -1;
    factor *= 128;
  }
  return -1;
}

/** Below this many bytes a loop is faster than the call into the runtime. */
const SHORT_COPY = 32;

function copy(input: Uint8Array, at: number, output: Uint8Array, out: number, length: number): void {
  if (length <= SHORT_COPY) for (let index = 0; index < length; index++) output[out + index] = input[at + index]!;
  else output.set(input.subarray(at, at + length), out);
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let index = count - 1; index >= 0; index--) value = value * 256 + bytes[at + index]!;
  return value;
}
