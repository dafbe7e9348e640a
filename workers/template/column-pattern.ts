// Patterns over names of columns and headers: in column sets, in `match` and in `rename`.

/** A compiled pattern over names; it searches anywhere in a name unless it is anchored. */
export interface ColumnPattern {
  test(name: string): boolean;
  /** Every match replaced; in the replacement `$1` is a group, `$$` a dollar. */
  replace(name: string, replacement: string): string;
}

/** The pattern, or a sentence that says what to write instead. */
export function compileColumnPattern(source: string): ColumnPattern | { readonly problem: string } {
  try {
    const searching = new RegExp(source, 'u');
    const walking = new RegExp(source, 'gu');
    return { test: (name) => searching.test(name), replace: (name, replacement) => name.replace(walking, replacement) };
  } catch {
    return { problem: 'The regular expression is refused: it is not valid.' };
  }
}
