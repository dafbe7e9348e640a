// Rows as JSON in plain TypeScript: twin of the kernel (assembly/emit-json.ts), used for rows that are too large for the
// kernel's buffer.

/** Where a value stands: its key, and its column or the members of its object. */
export type PlainMember =
  | { readonly key: string; readonly column: number }
  | { readonly key: string; readonly members: readonly PlainMember[] };

/** A column's value as JSON text, or null. */
export type ValueOf = (column: number) => string | null;

/** The members of an object in pieces, one value at a time. */
export function* memberPieces(members: readonly PlainMember[], value: ValueOf, omitNulls: boolean): Generator<string> {
  let comma = '';
  for (const member of members) {
    const key = `${JSON.stringify(member.key)}:`;
    if ('column' in member) {
      const text = value(member.column);
      if (text === null && omitNulls) continue;
      yield `${comma}${key}`;
      yield text ?? 'null';
    } else {
      // An object is left out with the last of its members, which its first piece tells.
      const inside = memberPieces(member.members, value, omitNulls);
      const first = inside.next();
      if (first.done === true) continue;
      yield `${comma}${key}{${first.value}`;
      yield* inside;
      yield '}';
    }
    comma = ',';
  }
}

/** JSON text on one line: line ends in valid JSON are white space between its tokens. */
export function jsonOnOneLine(text: string): string {
  return text.replace(/[\u0000-\u001f]/g, ' ');
}
