// Decompresses Snappy (format_description.txt of google/snappy) into memory of known size. Data that would exceed it is
// invalid, and nothing is written outside it. The work is bounded by the size of the input. Scalar reference
// implementation: test/workers/kernel/scalar/snappy.ts.

const LITERAL: u32 = 0;
const COPY_1: u32 = 1;
const COPY_2: u32 = 2;

/** Maximum length of a literal that is encoded in its tag. */
const SHORT_LITERAL: u32 = 60;

/** Maximum number of bits of the encoded length. A length of more than 32 bits is invalid. */
const LENGTH_BITS_MAX: u32 = 35;

/** Number of bytes copied per step where enough memory is available. */
const STEP: usize = 8;

/** Returns true if [at, end) is valid and fills [out, outEnd) to the last byte. The two ranges must not overlap. */
export function inflateSnappy(at: usize, end: usize, out: usize, outEnd: usize): bool {
  let expected: u64 = 0;
  for (let shift: u32 = 0; ; shift += 7) {
    if (at >= end || shift >= LENGTH_BITS_MAX) return false;
    const byte = <u64>load<u8>(at++);
    expected |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  if (expected != <u64>(outEnd - out)) return false;
  const outStart = out;
  while (at < end) {
    const tag = <u32>load<u8>(at++);
    const kind = tag & 3;
    if (kind == LITERAL) {
      let length = <u64>(tag >>> 2) + 1;
      if (length > SHORT_LITERAL) {
        const bytes = <usize>(length - SHORT_LITERAL);
        if (bytes > end - at) return false;
        length = <u64>littleEndian(at, bytes) + 1;
        at += bytes;
      }
      if (length > <u64>(end - at) || length > <u64>(outEnd - out)) return false;
      copy(at, out, <usize>length, min(end - at, outEnd - out));
      at += <usize>length;
      out += <usize>length;
      continue;
    }
    const offsetBytes: usize = kind == COPY_1 ? 1 : kind == COPY_2 ? 2 : 4;
    if (offsetBytes > end - at) return false;
    const length: usize = kind == COPY_1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const offset = <usize>(littleEndian(at, offsetBytes) + (kind == COPY_1 ? (tag >>> 5) << 8 : 0));
    at += offsetBytes;
    if (offset == 0 || offset > out - outStart || length > outEnd - out) return false;
    // Source and target overlap within one step, so bytes are copied one by one.
    if (offset >= STEP) copy(out - offset, out, length, outEnd - out);
    else for (let index: usize = 0; index < length; index++) store<u8>(out + index, load<u8>(out + index - offset));
    out += length;
  }
  return out == outEnd;
}

/** @param freeBytes number of bytes that may be read and written from both addresses on */
function copy(from: usize, to: usize, length: usize, freeBytes: usize): void {
  if (length <= 64 && length + STEP <= freeBytes) {
    for (let index: usize = 0; index < length; index += STEP) store<u64>(to + index, load<u64>(from + index));
  } else for (let index: usize = 0; index < length; ) {
    if (length - index >= STEP) {
      store<u64>(to + index, load<u64>(from + index));
      index += STEP;
    } else {
      store<u8>(to + index, load<u8>(from + index));
      index++;
    }
  }
}

function littleEndian(at: usize, count: usize): u32 {
  if (count == 1) return load<u8>(at);
  if (count == 2) return load<u16>(at);
  if (count == 4) return load<u32>(at);
  return <u32>load<u16>(at) | (<u32>load<u8>(at, 2) << 16);
}
