// Patterns that match names of columns and headers: in column sets, in `match` and in `rename`.
import { compileRegularExpression, unlessTooLong } from '../expression/patterns/regular-expression.ts';

/**
 * Maximum length of a column name, in UTF-16 units, for matching without case, spaces and accents, or by a pattern.
 * Longer names match only exactly. The questions that surveys use as headers have an eighth of this length. Without a
 * limit, matching would take long, because a file may have 16,384 headers.
 */
export const MATCHED_NAME_LENGTH_MAX = 4096;

/**
 * A compiled pattern that matches names. It matches anywhere in a name unless it is anchored. Names longer than
 * MATCHED_NAME_LENGTH_MAX never match.
 */
export interface ColumnPattern {
  test(name: string): boolean;
  readonly groupCount: number;
  /** The groups of the first match, without the whole match; null if nothing matches. */
  groups(name: string): readonly (string | null)[] | null;
  /**
   * Replaces every match, or no match if matching takes too long. In the replacement, `$1` and `${name}` are groups,
   * `$0` is the whole match, and `$$` is a dollar sign.
   */
  replace(name: string, replacement: string): string;
  /** The first group that a replacement names but the pattern does not have; null if all groups exist. */
  unknownGroup(replacement: string): string | null;
}

/** A pattern, or a sentence about what to write instead. */
export type CompiledPattern = ColumnPattern | { readonly problem: string };

/**
 * The patterns of one Template. Each is compiled at its first use, because compiling takes longer than all other work
 * before the first row.
 */
export class ColumnPatterns {
  readonly #compiled = new Map<string, CompiledPattern>();

  compile(source: string): CompiledPattern {
    const known = this.#compiled.get(source);
    if (known !== undefined) return known;
    const pattern = compileColumnPattern(source);
    this.#compiled.set(source, pattern);
    return pattern;
  }

  /** A pattern that was checked together with the Template. */
  checked(source: string): ColumnPattern {
    const pattern = this.compile(source);
    if ('problem' in pattern) throw new Error('a pattern of the Template was not checked');
    return pattern;
  }
}

function compileColumnPattern(source: string): CompiledPattern {
  const expression = compileRegularExpression(source);
  if ('problem' in expression) return expression;
  const replaced = (name: string, replacement: string): string => {
    let made = '';
    let from = 0;
    for (const { start, end, groups } of expression.all(name)) {
      made += name.slice(from, start) + filledIn(replacement, groups, expression.groupNames);
      from = end;
    }
    return made + name.slice(from);
  };
  const replace = (name: string, replacement: string): string =>
    name.length > MATCHED_NAME_LENGTH_MAX ? name : (unlessTooLong(() => replaced(name, replacement)) ?? name);
  return {
    test: (name) => name.length <= MATCHED_NAME_LENGTH_MAX && expression.test(name),
    groupCount: expression.groupCount,
    groups: (name) =>
      name.length > MATCHED_NAME_LENGTH_MAX ? null : (expression.first(name)?.groups.slice(1) ?? null),
    replace,
    unknownGroup: (replacement) => {
      for (const [, dollar, digit, name] of replacement.matchAll(GROUP)) {
        if (dollar === undefined && !(groupOf(digit, name, expression.groupNames) <= expression.groupCount))
          return digit ?? name!;
      }
      return null;
    },
  };
}

const GROUP = /\$(?:(\$)|(\d)|\{(\w+)\})/g;

/** Number of the group that GROUP has matched; NaN for a name that the pattern does not have. */
function groupOf(digit: string | undefined, name: string | undefined, names: ReadonlyMap<string, number>): number {
  return digit !== undefined ? Number(digit) : (names.get(name!) ?? Number(name));
}

/** Replaces references to groups. A group that did not match, or does not exist, becomes empty. */
function filledIn(
  replacement: string,
  groups: readonly (string | null)[],
  groupNames: ReadonlyMap<string, number>,
): string {
  return replacement.replace(GROUP, (_, dollar?: string, digit?: string, name?: string) =>
    dollar === undefined ? (groups[groupOf(digit, name, groupNames)] ?? '') : '$',
  );
}
