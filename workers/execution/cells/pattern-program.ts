// Patterns as the kernel replacePattern takes them (kernel/assembly/replace-pattern.ts).
import type { CharacterSet } from '../../expression/patterns/character-set.ts';
import type { GreedyPattern } from '../../expression/patterns/greedy-pattern.ts';
import {
  FROM_START,
  HEAD_BYTES,
  IS_ASCII,
  ITEM_BYTES,
  ITEM_LEAST,
  ITEM_MOST,
  ITEMS,
  ITEMS_MAX,
  LITERALS,
  LITERALS_OFFSET,
  MASK_OFFSET,
  PIECE_BYTES,
  PIECE_GROUP,
  PIECE_TEXT,
  PIECES,
  PIECES_AT,
  REPLACEMENTS_MAX,
  TO_END,
} from '../../kernel/layout/patterns.ts';
import type { Heap } from '../../memory/heap.ts';
import { placeText } from './placed-text.ts';

/** Single characters at the start of a pattern that are compared at once: as many as their room takes. */
const LITERALS_MAX = MASK_OFFSET - LITERALS_OFFSET;

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
    if (typeof part === 'number') return [PIECE_GROUP, ...(groups[part] ?? [0, 0])];
    const { at, bytes } = placeText(heap, part);
    return [PIECE_TEXT, at, bytes];
  });
  const list = heap.allocate(Math.max(1, pieces.length) * PIECE_BYTES);
  heap.u32.set(pieces.flat(), list >>> 2);
  const program = heap.allocate(HEAD_BYTES + items.length * ITEM_BYTES);
  const isAscii = items.every(({ set }) => (set.at(-1) ?? 0) < ASCII_POINTS);
  const literals = leadingLiterals(items);
  const put = (word: number, value: number): void => {
    heap.u32[(program + word) >>> 2] = value;
  };
  put(ITEMS, items.length);
  put(FROM_START, fromStart ? 1 : 0);
  put(TO_END, toEnd ? 1 : 0);
  put(PIECES, pieces.length);
  put(REPLACEMENTS_MAX, times);
  put(PIECES_AT, list);
  put(IS_ASCII, isAscii ? 1 : 0);
  put(LITERALS, literals.length);
  heap.u8.fill(0, program + LITERALS_OFFSET, program + HEAD_BYTES);
  heap.u8.set(literals, program + LITERALS_OFFSET);
  heap.u8.fill(0xff, program + MASK_OFFSET, program + MASK_OFFSET + literals.length);
  for (const [index, { set, least, most }] of items.entries()) {
    const at = program + HEAD_BYTES + index * ITEM_BYTES;
    heap.u8.set(asciiBits(set), at);
    heap.u32[(at + ITEM_LEAST) >>> 2] = least;
    heap.u32[(at + ITEM_MOST) >>> 2] = most ?? WITHOUT_END;
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
