// Maximum length of a text for which kernels may run a pattern, so that kernels and re2js give the same results.
import { PATTERN_WALK_MAX, type RegularExpression } from './regular-expression.ts';

/** Share of mayWalk's limit: keeps an expression that combines several texts within its step budget. */
const SURE_SHARE = 16;

/**
 * Longest text, in bytes, for which a pattern always finds a group of its first match, or all of its matches, without
 * TOO_LONG. Up to this length, all engines give the same result.
 */
export function walkedLengthMax({ program }: RegularExpression, finds: 'group' | 'all'): number {
  const characters = PATTERN_WALK_MAX / Math.max(1, program);
  return Math.floor(
    program === 0 ? PATTERN_WALK_MAX : finds === 'all' ? Math.sqrt(characters) : characters / SURE_SHARE,
  );
}
