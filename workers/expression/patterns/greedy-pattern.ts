// Owns the part of the linear subset (linear-pattern.ts) that a kernel runs: patterns that never give a character back.
import type { CharacterSet } from './character-set.ts';
import { isFollowedApart, linearItems, withoutGroups } from './linear-pattern.ts';

/** A set of characters of a pattern and how often it stands there; `most` null: without an end. */
export interface PatternItem {
  readonly set: CharacterSet;
  readonly least: number;
  readonly most: number | null;
}

/** A pattern of the subset that never gives a character back: each item takes all that it can. */
export interface GreedyPattern {
  readonly items: readonly PatternItem[];
  /** The items [from, to) of each group, the whole match first. */
  readonly groups: readonly (readonly [from: number, to: number])[];
  readonly fromStart: boolean;
  readonly toEnd: boolean;
}

/**
 * The pattern as items, null when it is outside of the subset, has alternatives, may match nothing, or has an item that
 * may have to take less than it can.
 */
export function greedyPattern(source: string): GreedyPattern | null {
  const read = linearItems(source);
  if (read === null) return null;
  const groups: [number, number][] = [];
  const flat = withoutGroups(read, groups);
  if (flat.some(({ inside }) => inside !== null)) return null;
  const items = flat.filter(({ anchor }) => anchor === '');
  if (items.every(({ empty }) => empty)) return null;
  if (items.some(({ least, most }, index) => least !== most && !isFollowedApart(items, index))) return null;
  return {
    items: items.map(({ first, least, most }) => ({ set: first!, least, most })),
    groups: [[0, items.length], ...groups],
    fromStart: flat[0]?.anchor === '^',
    toEnd: flat.at(-1)?.anchor === '$',
  };
}
