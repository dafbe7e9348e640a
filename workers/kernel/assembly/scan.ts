// The structural scan: addresses of unquoted delimiters and row ends (LF, CR, CRLF as its LF), 64 bytes per step.
import { scanBytes } from './scan-bytes';
import {
  AT,
  CR,
  FLAG_NUL,
  FLAGS,
  LF,
  LINES,
  MODE,
  MODE_CLOSED,
  MODE_QUOTED,
  MODE_START,
  MODE_UNQUOTED,
  OUT,
  ROW_ENDS,
} from './structural';

/** One block may write this many entries more than it counts, and 64 of its own. */
const BLOCK_ENTRIES_BYTES: usize = 72 * 4;

/** After a block that the SIMD scan could not read, this much is read byte by byte before it tries again. */
const EXACT_BYTES: usize = 512;

/** Blocks per round: the line feeds are counted in bytes, at most four a block and lane. */
const ROUND_BYTES: usize = 63 * 64;

/**
 * Goes on from the state (see structural.ts) up to `end` or until fewer than 72 entries fit before `limit`. The byte
 * before AT and the byte at `end` are readable. `quote` 0xFF stands for none: valid text never holds it.
 * Measured in 256 KiB windows, one thread of a busy 2-core machine, Node 20: 5.4 to 8 GB/s on orders of 12 columns with few
 * quotes, 3.8 to 4.3 with every field quoted, 4.2 to 5.4 on 100 narrow columns; the noise is about a quarter.
 */
export function scan(state: usize, end: usize, limit: usize, delimiter: u32, quote: u32): void {
  const full = limit - BLOCK_ENTRIES_BYTES;
  while (<usize>load<u32>(state, AT) < end && <usize>load<u32>(state, OUT) <= full) {
    const p = <usize>load<u32>(state, AT);
    const mode = load<u32>(state, MODE);
    const readable =
      mode == MODE_QUOTED || mode == MODE_START || (mode == MODE_UNQUOTED && <u32>load<u8>(p - 1) != quote);
    if (readable && scanBlocks(state, end, full, delimiter, quote)) continue;
    scanBytes(state, <usize>load<u32>(state, AT) + EXACT_BYTES, end, limit, delimiter, quote);
  }
}

/** Whole blocks only. False when the next bytes must be read one by one. */
function scanBlocks(state: usize, end: usize, full: usize, delimiter: u32, quote: u32): bool {
  const delimiters = i8x16.splat(<i8>delimiter);
  const feeds = i8x16.splat(<i8>LF);
  const returns = i8x16.splat(<i8>CR);
  const quotes = i8x16.splat(<i8>quote);
  let p = <usize>load<u32>(state, AT);
  let o = <usize>load<u32>(state, OUT);
  let inside: u64 = load<u32>(state, MODE) == MODE_QUOTED ? ~(<u64>0) : 0;
  let lines: u32 = 0;
  let quotedLines: u32 = 0;
  let clear = true;
  let lowest = i8x16.splat(-1);
  while (clear && p + 64 <= end && o <= full) {
    const round = min(p + ROUND_BYTES, end - 63);
    let feedCounts = i8x16.splat(0);
    for (; p < round && o <= full; p += 64) {
      const a = v128.load(p),
        b = v128.load(p, 16),
        c = v128.load(p, 32),
        d = v128.load(p, 48);
      const fa = i8x16.eq(a, feeds),
        fb = i8x16.eq(b, feeds),
        fc = i8x16.eq(c, feeds),
        fd = i8x16.eq(d, feeds);
      let found = mask(
        v128.or(i8x16.eq(a, delimiters), fa),
        v128.or(i8x16.eq(b, delimiters), fb),
        v128.or(i8x16.eq(c, delimiters), fc),
        v128.or(i8x16.eq(d, delimiters), fd),
      );
      const qm = mask(i8x16.eq(a, quotes), i8x16.eq(b, quotes), i8x16.eq(c, quotes), i8x16.eq(d, quotes));
      const ra = i8x16.eq(a, returns),
        rb = i8x16.eq(b, returns),
        rc = i8x16.eq(c, returns),
        rd = i8x16.eq(d, returns);
      let cr: u64 = 0;
      let alone: u64 = 0;
      if (v128.any_true(v128.or(v128.or(ra, rb), v128.or(rc, rd)))) {
        cr = mask(ra, rb, rc, rd);
        alone = cr & ~((mask(fa, fb, fc, fd) >> 1) | ((<u64>(<u32>load<u8>(p, 64) == LF)) << 63));
        found |= alone;
      }
      if (qm | inside) {
        const x = prefixXor(qm) ^ inside;
        const opening = qm & x;
        const closing = qm & ~x;
        found &= ~x;
        clear = !misplaced(found, cr, opening, closing, p, delimiter, quote);
        if (!clear) break;
        quotedLines += <u32>popcnt((mask(fa, fb, fc, fd) | alone) & x);
        inside = <u64>(<i64>x >> 63);
      }
      lines += <u32>popcnt(alone);
      feedCounts = i8x16.sub(feedCounts, i8x16.add(i8x16.add(fa, fb), i8x16.add(fc, fd)));
      lowest = i8x16.min_u(lowest, i8x16.min_u(i8x16.min_u(a, b), i8x16.min_u(c, d)));
      o = emit(o, p, found);
    }
    lines += sum(feedCounts);
  }
  store<u32>(state, <u32>p, AT);
  store<u32>(state, <u32>o, OUT);
  addCounts(state, lines, lines - quotedLines, lowest);
  store<u32>(state, inside != 0 ? MODE_QUOTED : modeBehind(<u32>load<u8>(p - 1), delimiter, quote), MODE);
  return clear && p + 64 <= end;
}

function mask(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>(<u32>i8x16.bitmask(a)) |
    ((<u64>(<u32>i8x16.bitmask(b))) << 16) |
    ((<u64>(<u32>i8x16.bitmask(c))) << 32) |
    ((<u64>(<u32>i8x16.bitmask(d))) << 48)
  );
}

/** Bit i: whether an odd number of bits is set up to and with i. */
function prefixXor(bits: u64): u64 {
  bits ^= bits << 1;
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  return bits ^ (bits << 32);
}

function endsField(byte: u32, delimiter: u32, quote: u32): bool {
  return byte == delimiter || byte == LF || byte == CR || byte == quote;
}

/** Whether a quote opens behind neither a field's end nor a quote, or closes before something else than these. */
function misplaced(found: u64, cr: u64, opening: u64, closing: u64, p: usize, delimiter: u32, quote: u32): bool {
  if ((opening & ~(((found | closing) << 1) | 1)) != 0 || ((closing << 1) & ~(found | cr | opening)) != 0) return true;
  if ((opening & 1) != 0 && !endsField(<u32>load<u8>(p - 1), delimiter, quote)) return true;
  return <i64>closing < 0 && !endsField(<u32>load<u8>(p, 64), delimiter, quote);
}

function addCounts(state: usize, lines: u32, rowEnds: u32, lowest: v128): void {
  store<u32>(state, load<u32>(state, LINES) + lines, LINES);
  store<u32>(state, load<u32>(state, ROW_ENDS) + rowEnds, ROW_ENDS);
  if (!i8x16.all_true(lowest)) store<u32>(state, load<u32>(state, FLAGS) | FLAG_NUL, FLAGS);
}

function modeBehind(byte: u32, delimiter: u32, quote: u32): u32 {
  if (byte == delimiter || byte == LF || byte == CR) return MODE_START;
  return byte == quote ? MODE_CLOSED : MODE_UNQUOTED;
}

/** Writes an address per bit, eight at a time: surplus entries are overwritten by the next block. */
function emit(o: usize, p: usize, bits: u64): usize {
  const behind = o + ((<usize>popcnt(bits)) << 2);
  while (bits) {
    store<u32>(o, <u32>(p + <usize>ctz(bits)));
    bits &= bits - 1;
    store<u32>(o, <u32>(p + <usize>ctz(bits)), 4);
    bits &= bits - 1;
    store<u32>(o, <u32>(p + <usize>ctz(bits)), 8);
    bits &= bits - 1;
    store<u32>(o, <u32>(p + <usize>ctz(bits)), 12);
    bits &= bits - 1;
    store<u32>(o, <u32>(p + <usize>ctz(bits)), 16);
    bits &= bits - 1;
    store<u32>(o, <u32>(p + <usize>ctz(bits)), 20);
    bits &= bits - 1;
    store<u32>(o, <u32>(p + <usize>ctz(bits)), 24);
    bits &= bits - 1;
    store<u32>(o, <u32>(p + <usize>ctz(bits)), 28);
    bits &= bits - 1;
    o += 32;
  }
  return behind;
}

function sum(counts: v128): u32 {
  const words = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(counts));
  return (
    i32x4.extract_lane(words, 0) +
    i32x4.extract_lane(words, 1) +
    i32x4.extract_lane(words, 2) +
    i32x4.extract_lane(words, 3)
  );
}
