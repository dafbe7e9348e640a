// The structural CSV scan: finds delimiters and row ends with SIMD instructions, or byte by byte.
import {
  AT,
  BLOCK_ENTRIES,
  CR,
  FLAGS,
  FLAG_LITERAL_QUOTE,
  FLAG_NUL,
  LF,
  LINES,
  MODE,
  MODE_CLOSED,
  MODE_QUOTED,
  MODE_START,
  MODE_UNQUOTED,
  OUT,
  ROW_ENDS,
} from '../layout/scan';

// The exact CSV scan, byte by byte, for the rest of a block and for quotes that the SIMD scan cannot process. About 300
// MB/s. Semantics of docs/reference/input.md: a quote inside an unquoted field is literal, and text after a closing
// quote makes the field literal up to its end.

/**
 * Continues from the state up to `end`, or until the start of a field at or after `enough`, or until `out` reaches
 * `limit`. The byte at `end` must be readable: it shows whether a preceding CR is part of a CRLF.
 */
function scanBytes(state: usize, enough: usize, end: usize, limit: usize, delimiter: u32, quote: u32): void {
  let p = <usize>load<u32>(state, AT);
  let mode = load<u32>(state, MODE);
  let o = <usize>load<u32>(state, OUT);
  let lines: u32 = 0;
  let rowEnds: u32 = 0;
  let flags = load<u32>(state, FLAGS);
  for (; p < end && o < limit; p++) {
    const byte = <u32>load<u8>(p);
    if (byte == quote) {
      if (mode == MODE_START || mode == MODE_CLOSED) mode = MODE_QUOTED;
      else if (mode == MODE_QUOTED) mode = MODE_CLOSED;
      else flags |= FLAG_LITERAL_QUOTE;
      continue;
    }
    const lineBreak = byte == LF || (byte == CR && load<u8>(p, 1) != LF);
    if (lineBreak) lines++;
    if (mode == MODE_QUOTED) {
      if (byte == 0) flags |= FLAG_NUL;
      continue;
    }
    if (lineBreak || byte == delimiter) {
      store<u32>(o, <u32>p);
      o += 4;
      mode = MODE_START;
      if (lineBreak) rowEnds++;
      if (p >= enough) {
        p++;
        break;
      }
      continue;
    }
    if (byte == CR) continue;
    if (byte == 0) flags |= FLAG_NUL;
    if (mode == MODE_CLOSED) flags |= FLAG_LITERAL_QUOTE;
    mode = MODE_UNQUOTED;
  }
  store<u32>(state, <u32>p, AT);
  store<u32>(state, mode, MODE);
  store<u32>(state, <u32>o, OUT);
  store<u32>(state, load<u32>(state, LINES) + lines, LINES);
  store<u32>(state, load<u32>(state, ROW_ENDS) + rowEnds, ROW_ENDS);
  store<u32>(state, flags, FLAGS);
}

// The structural CSV scan: finds the addresses of unquoted delimiters and row ends (LF, CR, and the LF of CRLF), 64
// bytes per step.

const BLOCK_ENTRIES_BYTES: usize = BLOCK_ENTRIES * 4;

/** After a block that the SIMD scan cannot process, this many bytes are scanned one by one before it is tried again. */
const EXACT_BYTES: usize = 512;

/** Blocks per round: line feeds are counted in byte lanes, with at most four per block and lane. */
const ROUND_BLOCKS: usize = 63;

/**
 * Continues from the state (layout/scan.ts) up to `end`, or until fewer than BLOCK_ENTRIES fit before `limit`. The byte
 * before AT and the byte at `end` must be readable. `quote` 0xFF means that the file has no quotes, because this byte
 * never occurs in valid text. Measured in 256 KiB windows, one thread of a busy 2-core machine, Node 20: 5.4 to 8 GB/s
 * on orders of 12 columns with few quotes, 3.8 to 4.3 with every field quoted, 4.2 to 5.4 on 100 narrow columns. The
 * noise is about a quarter.
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

/** Scans whole blocks only. Returns false if the next bytes must be scanned one by one. */
function scanBlocks(state: usize, end: usize, full: usize, delimiter: u32, quote: u32): bool {
  let clear = true;
  let p = <usize>load<u32>(state, AT);
  while (clear && p + 64 <= end && <usize>load<u32>(state, OUT) <= full) {
    const freeBlocks = ((full - <usize>load<u32>(state, OUT)) >> 8) + 1;
    const round = p + (min<usize>(min<usize>(ROUND_BLOCKS, (end - p) >> 6), freeBlocks) << 6);
    if (load<u32>(state, MODE) != MODE_QUOTED) scanPlain(state, round, delimiter, quote);
    if (<usize>load<u32>(state, AT) < round) clear = scanQuoted(state, round, delimiter, quote);
    p = <usize>load<u32>(state, AT);
  }
  if (load<u32>(state, MODE) != MODE_QUOTED) store<u32>(state, modeBehind(<u32>load<u8>(p - 1), delimiter, quote), MODE);
  return clear && p + 64 <= end;
}

/**
 * Scans blocks without quotes and lone CRs, which most are, up to `round` or to the first other block. The loop over
 * blocks without any CR needs few registers, and the comparison vectors are not used after it. So the compiler keeps
 * these vectors in registers.
 */
function scanPlain(state: usize, round: usize, delimiter: u32, quote: u32): void {
  const delimiters = i8x16.splat(<i8>delimiter), quotes = i8x16.splat(<i8>quote);
  const feeds = i8x16.splat(<i8>LF), returns = i8x16.splat(<i8>CR);
  let p = <usize>load<u32>(state, AT);
  let o = <usize>load<u32>(state, OUT);
  let feedCounts = i8x16.splat(0);
  let lowest = i8x16.splat(-1);
  while (p < round) {
    do {
      const a = v128.load(p), b = v128.load(p, 16), c = v128.load(p, 32), d = v128.load(p, 48);
      const others = v128.or(
        v128.or(v128.or(i8x16.eq(a, quotes), i8x16.eq(a, returns)), v128.or(i8x16.eq(b, quotes), i8x16.eq(b, returns))),
        v128.or(v128.or(i8x16.eq(c, quotes), i8x16.eq(c, returns)), v128.or(i8x16.eq(d, quotes), i8x16.eq(d, returns))),
      );
      const fa = i8x16.eq(a, feeds), fb = i8x16.eq(b, feeds), fc = i8x16.eq(c, feeds), fd = i8x16.eq(d, feeds);
      const found = mask(
        v128.or(i8x16.eq(a, delimiters), fa),
        v128.or(i8x16.eq(b, delimiters), fb),
        v128.or(i8x16.eq(c, delimiters), fc),
        v128.or(i8x16.eq(d, delimiters), fd),
      );
      if (i8x16.bitmask(others)) break;
      feedCounts = i8x16.sub(feedCounts, i8x16.add(i8x16.add(fa, fb), i8x16.add(fc, fd)));
      lowest = i8x16.min_u(lowest, i8x16.min_u(i8x16.min_u(a, b), i8x16.min_u(c, d)));
      o = emit(o, p, found);
      p += 64;
    } while (p < round);
    if (p == round || matches(p, quotes)) break;
    const ends = matches(p, feeds);
    if (matches(p, returns) & ~beforeFeeds(p, ends)) break;
    const a = v128.load(p), b = v128.load(p, 16), c = v128.load(p, 32), d = v128.load(p, 48);
    feedCounts = i8x16.sub(
      feedCounts,
      i8x16.add(i8x16.add(i8x16.eq(a, feeds), i8x16.eq(b, feeds)), i8x16.add(i8x16.eq(c, feeds), i8x16.eq(d, feeds))),
    );
    lowest = i8x16.min_u(lowest, i8x16.min_u(i8x16.min_u(a, b), i8x16.min_u(c, d)));
    o = emit(o, p, ends | matches(p, delimiters));
    p += 64;
  }
  store<u32>(state, <u32>p, AT);
  store<u32>(state, <u32>o, OUT);
  const lines = sum(feedCounts);
  addCounts(state, lines, lines, lowest);
}

/**
 * Scans blocks of any kind, up to `round` or until after a block without quotes and CRs. Returns false before a block
 * that must be scanned byte by byte.
 */
function scanQuoted(state: usize, round: usize, delimiter: u32, quote: u32): bool {
  const delimiters = i8x16.splat(<i8>delimiter), quotes = i8x16.splat(<i8>quote);
  const feeds = i8x16.splat(<i8>LF), returns = i8x16.splat(<i8>CR);
  let p = <usize>load<u32>(state, AT);
  let o = <usize>load<u32>(state, OUT);
  let inside: u64 = load<u32>(state, MODE) == MODE_QUOTED ? ~(<u64>0) : 0;
  let lines: u32 = 0;
  let rowEnds: u32 = 0;
  let clear = true;
  let others: u64 = 0;
  let lowest = i8x16.splat(-1);
  do {
    const feedMask = matches(p, feeds), cr = matches(p, returns), qm = matches(p, quotes);
    const ends = feedMask | (cr & ~beforeFeeds(p, feedMask));
    const x = prefixXor(qm) ^ inside;
    const found = (ends | matches(p, delimiters)) & ~x;
    clear = !misplaced(found, cr, qm & x, qm & ~x, p, delimiter, quote);
    if (!clear) break;
    inside = <u64>(<i64>x >> 63);
    lines += <u32>popcnt(ends);
    rowEnds += <u32>popcnt(ends & ~x);
    const low = i8x16.min_u(v128.load(p), v128.load(p, 16)), high = i8x16.min_u(v128.load(p, 32), v128.load(p, 48));
    lowest = i8x16.min_u(lowest, i8x16.min_u(low, high));
    o = emit(o, p, found);
    p += 64;
    others = qm | cr | inside;
  } while (others != 0 && p < round);
  store<u32>(state, <u32>p, AT);
  store<u32>(state, <u32>o, OUT);
  addCounts(state, lines, rowEnds, lowest);
  store<u32>(state, inside != 0 ? MODE_QUOTED : MODE_START, MODE);
  return clear;
}

// @ts-ignore: decorator
@inline
function mask(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>(<u32>i8x16.bitmask(a)) |
    ((<u64>(<u32>i8x16.bitmask(b))) << 16) |
    ((<u64>(<u32>i8x16.bitmask(c))) << 32) |
    ((<u64>(<u32>i8x16.bitmask(d))) << 48)
  );
}

/** Bit mask of the block's bytes that equal the byte in all lanes. */
// @ts-ignore: decorator
@inline
function matches(p: usize, bytes: v128): u64 {
  return mask(
    i8x16.eq(v128.load(p), bytes),
    i8x16.eq(v128.load(p, 16), bytes),
    i8x16.eq(v128.load(p, 32), bytes),
    i8x16.eq(v128.load(p, 48), bytes),
  );
}

/** Bit mask of the bytes that precede an LF. */
// @ts-ignore: decorator
@inline
function beforeFeeds(p: usize, feedMask: u64): u64 {
  return (feedMask >> 1) | ((<u64>(<u32>load<u8>(p, 64) == LF)) << 63);
}

/** Sets bit i if the number of set bits up to and including i is odd. */
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

/** True if a quote opens after a byte that is neither a field's end nor a quote, or closes before such a byte. */
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

/** Writes one address per bit, eight at a time. The next block overwrites surplus entries. */
// @ts-ignore: decorator
@inline
function emit(o: usize, p: usize, bits: u64): usize {
  const after = o + ((<usize>popcnt(bits)) << 2);
  do {
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
  } while (bits);
  return after;
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
