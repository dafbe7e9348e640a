// Rows that lie finished, as the bytes that they will be in the output, until a sort knows their places. An entry is 16
// bytes: u64 the first 8 bytes of the row's key as a number, u32 address of its bytes, u32 how many, with two flags: behind
// the bytes stands u32 how many formulas were guarded in them; then u32 length and bytes of what the key has beyond 8.
// Keys are such that none is the beginning of another.
import { ENTRY_BYTES } from '../layout/encoded-rows';
import { copy, viewOf } from './cell';
import { copyRange } from './emit-copy';
import { emitCsv } from './emit-csv';
import { emitJson } from './emit-json';
import { EMITTER, EMITTER_JSON, GUARDED, OUT_NEXT } from '../layout/output-program';

export const KEY_BYTES: usize = 8;

export const FLAG_REST_BIT: u32 = 31;
export const FLAG_REST: u32 = 1 << FLAG_REST_BIT;
export const FLAG_GUARDED: u32 = 0x40000000;
export const LENGTH: u32 = 0x3fffffff;

/** How many rows are read ahead: what they are copied to and from stays in the first cache. */
export const AHEAD: usize = 64;

/** Of a row's length, how far it is read ahead. */
const TOUCHED: u32 = 255;

/**
 * Writes the rows at positions [from, count) of the selection by an emit program (of JSON or CSV) to [next, limit), and
 * their entries to [entries, entriesEnd), as far as they fit. `keys`: views by physical row. Gives the next free address;
 * the position goes to `reached`. The program's count of formulas is as before.
 */
export function finishRows(program: usize, selection: usize, from: u32, count: u32, keys: usize, entries: usize, entriesEnd: usize, next: usize, limit: usize, reached: usize): usize {
  const json = load<u32>(program, EMITTER) == EMITTER_JSON;
  const guardedBefore = load<u32>(program, GUARDED);
  let i = from;
  for (; i < count && entries < entriesEnd; i++) {
    const key = viewOf(keys, selection, i);
    const start = <usize>load<u32>(key), length = <usize>load<u32>(key, 4);
    const done = json ? emitJson(program, selection, i, i + 1, next, limit) : emitCsv(program, selection, i, i + 1, next, limit);
    if (done == 0) break;
    let end = <usize>load<u32>(program, OUT_NEXT);
    let flags = <u32>(end - next);
    const guarded = load<u32>(program, GUARDED) - guardedBefore;
    if (guarded != 0) {
      store<u32>(program, guardedBefore, GUARDED);
      if (end + 4 > limit) break;
      store<u32>(end, guarded);
      end += 4;
      flags |= FLAG_GUARDED;
    }
    if (length > KEY_BYTES) {
      const rest = length - KEY_BYTES;
      if (end + 4 + rest > limit) break;
      store<u32>(end, <u32>rest);
      end = copy(end + 4, start + KEY_BYTES, start + length);
      flags |= FLAG_REST;
    }
    store<u64>(entries, wordOf(start, length));
    store<u32>(entries, <u32>next, 8);
    store<u32>(entries, flags, 12);
    entries += ENTRY_BYTES;
    next = end;
  }
  store<u32>(reached, i);
  return next;
}

/** Up to 8 bytes at p as a number in their order; what is missing is 0. */
// @ts-ignore: decorator
@inline
export function wordOf(p: usize, length: usize): u64 {
  if (length == 0) return 0;
  const word = bswap<u64>(load<u64>(p));
  return length >= 8 ? word : word & ~((<u64>0xffffffffffffffff) >> ((<u64>length) << 3));
}

/** Where the rest of an entry's key stands: u32 length, bytes. Only with FLAG_REST. */
// @ts-ignore: decorator
@inline
export function restOf(entry: usize): usize {
  const flags = load<u32>(entry, 12);
  return <usize>load<u32>(entry, 8) + <usize>(flags & LENGTH) + (flags & FLAG_GUARDED ? 4 : 0);
}

/** Bytes that belong to an entry, from its address on. */
// @ts-ignore: decorator
@inline
export function heldBytes(flags: u32, at: usize): usize {
  let bytes = <usize>(flags & LENGTH);
  if (flags & FLAG_GUARDED) bytes += 4;
  if (flags & FLAG_REST) bytes += 4 + <usize>load<u32>(at + bytes);
  return bytes;
}

/** Reads the lines of some entries' rows, so that their misses overlap; what it gives means nothing. */
export function touch(entry: usize, end: usize): u32 {
  let sink: u32 = 0;
  for (; entry < end; entry += ENTRY_BYTES) {
    const p = <usize>load<u32>(entry, 8);
    const last = p + <usize>(load<u32>(entry, 12) & TOUCHED);
    sink ^= <u32>load<u8>(p) ^ <u32>load<u8>(p, 64) ^ <u32>load<u8>(p, 128) ^ <u32>load<u8>(last);
  }
  return sink;
}

/**
 * Copies the rows of entries `from` to `to` to [out, limit) as far as they fit; up to 64 bytes behind `limit` are
 * overwritten. Gives the end; the entry reached goes to `reached`. The program counts the formulas of these rows.
 */
export function gatherFinished(program: usize, entries: usize, from: u32, to: u32, out: usize, limit: usize, reached: usize): usize {
  let entry = entries + (<usize>from) * ENTRY_BYTES;
  const end = entries + (<usize>to) * ENTRY_BYTES;
  let sink: u32 = 0;
  for (let ready = entry; entry < end; entry += ENTRY_BYTES) {
    if (entry == ready) {
      ready = min(entry + AHEAD * ENTRY_BYTES, end);
      sink ^= touch(entry, ready);
    }
    const at = <usize>load<u32>(entry, 8);
    const flags = load<u32>(entry, 12), length = <usize>(flags & LENGTH);
    if (out + length > limit) break;
    if (flags & FLAG_GUARDED) store<u32>(program, load<u32>(program, GUARDED) + load<u32>(at + length), GUARDED);
    out = copyRange(out, at, at + length);
  }
  keep(sink);
  store<u32>(reached, <u32>((entry - entries) / ENTRY_BYTES));
  return out;
}

/** Where what was read ahead goes, so that the reading stays. */
let kept: u32 = 0;

// @ts-ignore: decorator
@inline
export function keep(sink: u32): void {
  kept = sink;
}
