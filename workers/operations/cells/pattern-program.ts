// Patterns as the kernel replacePattern takes them (kernel/assembly/replace-pattern.ts).
import type { CharacterSet } from '../../expression/character-set.ts';
import type { GreedyPattern } from '../../expression/greedy-pattern.ts';
import type { Heap } from '../../heap.ts';
import { placeText } from './placed-text.ts';

/** The kernel notes the start of so many items. */
const ITEMS_MAX = 64;

const HEAD_BYTES = 48;
const LITERALS_OFFSET = 32;
const MASK_OFFSET = 40;

/** Single characters at the start of a pattern that are compared at once. */
const LITERALS_MAX = 8;

const ITEM_BYTES = 32;
const PIECE_BYTES = 12;
const BOUNDS_OFFSET = 16;
const WITHOUT_END = 0xffffffff;
const ASCII_POINTS = 128;

/** Pieces of a replacement: a text, or the number of a group. The address of the program, 0 when it is too long. */
export function placePattern(
  heap: Heap,
  { items, groups, fromStart, toEnd }: GreedyPattern,
  parts: readonly (string | number)[],
  times: number,
): number {
  if (items.length > ITEMS_MAX) return 0;
  const pieces = parts.map((part): readonly number[] => {
    if (typeof part === 'number') return [1, ...(groups[part] ?? [0, 0])];
    const { at, bytes } = placeText(heap, part);
    return [0, at, bytes];
  });
  const list = heap.allocate(Math.max(1, pieces.length) * PIECE_BYTES);
  heap.u32.set(pieces.flat(), list >>> 2);
  const program = heap.allocate(HEAD_BYTES + items.length * ITEM_BYTES);
  const isAscii = items.every(({ set }) => (set.at(-1) ?? 0) < ASCII_POINTS);
  const literals = leadingLiterals(items);
  const head = [items.length, fromStart ? 1 : 0, toEnd ? 1 : 0, pieces.length, times, list, isAscii ? 1 : 0];
  heap.u32.set([...head, literals.length], program >>> 2);
  heap.u8.fill(0, program + LITERALS_OFFSET, program + HEAD_BYTES);
  heap.u8.set(literals, program + LITERALS_OFFSET);
  heap.u8.fill(0xff, program + MASK_OFFSET, program + MASK_OFFSET + literals.length);
  for (const [index, { set, least, most }] of items.entries()) {
    const at = program + HEAD_BYTES + index * ITEM_BYTES;
    heap.u8.set(asciiBits(set), at);
    heap.u32.set([least, most ?? WITHOUT_END], (at + BOUNDS_OFFSET) >>> 2);
  }
  return program;
}

/** The characters of the items before the first that is not one ASCII character, once. */
function leadingLiterals(items: GreedyPattern['items']): number[] {
  const isLiteral = ({ set, least, most }: GreedyPattern['items'][number]): boolean =>
    least === 1 && most === 1 && set.length === 2 && set[0] === set[1] && set[0]! < ASCII_POINTS;
  const end = items.findIndex((item) => !isLiteral(item));
  return items.slice(0, Math.min(LITERALS_MAX, end < 0 ? items.length : end)).map(({ set }) => set[0]!);
}

function asciiBits(set: CharacterSet): Uint8Array {
  const bits = new Uint8Array(ASCII_POINTS / 8);
  for (let at = 0; at < set.length; at += 2) {
    const last = Math.min(set[at + 1]!, ASCII_POINTS - 1);
    for (let point = set[at]!; point <= last; point++) bits[point >>> 3]! |= 1 << (point & 7);
  }
  return bits;
}
