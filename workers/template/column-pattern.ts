// Patterns over names of columns and headers: in column sets, in `match` and in `rename`.
import { compileRegularExpression, ifWalked } from '../expression/patterns/regular-expression.ts';

/**
 * Longest name of a column, in UTF-16 units, that is matched by more than its very characters: case, spaces and accents put
 * aside, or a pattern. Eight times the questions that surveys have for headers; a file may have 16,384 of them.
 */
export const MATCHED_NAME_LENGTH_MAX = 4096;

/** A compiled pattern over names; it searches anywhere in a name unless it is anchored, and finds nothing in longer ones. */
export interface ColumnPattern {
  test(name: string): boolean;
  readonly groupCount: number;
  /** The groups of the first match, without the whole of it; null where there is none. */
  groups(name: string): readonly (string | null)[] | null;
  /** Every match replaced, none where finding them takes too long; in the replacement `$1` and `${name}` are groups, `$0` the whole match, `$$` a dollar. */
  replace(name: string, replacement: string): string;
  /** The first group that a replacement names and the pattern does not have; null: there is none. */
  unknownGroup(replacement: string): string | null;
}

/** A pattern, or a sentence that says what to write instead. */
export type CompiledPattern = ColumnPattern | { readonly problem: string };

/** The patterns of one Template, each compiled at its first use: that takes longer than all else before the first row. */
export class ColumnPatterns {
  readonly #compiled = new Map<string, CompiledPattern>();

  compile(source: string): CompiledPattern {
    const known = this.#compiled.get(source);
    if (known !== undefined) return known;
    const pattern = compileColumnPattern(source);
    this.#compiled.set(source, pattern);
    return pattern;
  }

  /** A pattern that was checked with the Template. */
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
    name.length > MATCHED_NAME_LENGTH_MAX ? name : (ifWalked(() => replaced(name, replacement)) ?? name);
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

/** Of what GROUP has found; NaN for a name that the pattern does not have. */
function groupOf(digit: string | undefined, name: string | undefined, names: ReadonlyMap<string, number>): number {
  return digit !== undefined ? Number(digit) : (names.get(name!) ?? Number(name));
}

/** A group that took no part, or that the pattern does not have, is nothing. */
function filledIn(
  replacement: string,
  groups: readonly (string | null)[],
  groupNames: ReadonlyMap<string, number>,
): string {
  return replacement.replace(GROUP, (_, dollar?: string, digit?: string, name?: string) =>
    dollar === undefined ? (groups[groupOf(digit, name, groupNames)] ?? '') : '$',
  );
}
