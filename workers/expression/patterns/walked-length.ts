// Owns how long a text may be for a pattern to be walked by kernels, so that it does not matter who walks it.
import { PATTERN_WALK_MAX, type RegularExpression } from './regular-expression.ts';

/** Of the walks that mayWalk allows: so that what an expression makes of several texts is within the steps that it has, too. */
const SURE_SHARE = 16;

/**
 * Longest text, in bytes, for which a pattern is sure to find a group of its first match, or all of its matches, without being
 * TOO_LONG: up to here it does not matter who looks for them.
 */
export function walkedLengthMax({ program }: RegularExpression, finds: 'group' | 'all'): number {
  const characters = PATTERN_WALK_MAX / Math.max(1, program);
  return Math.floor(
    program === 0 ? PATTERN_WALK_MAX : finds === 'all' ? Math.sqrt(characters) : characters / SURE_SHARE,
  );
}
