// Rows as JSON in plain TypeScript: twin of the kernel (assembly/emit-json.ts), used for rows that are too large for the
// kernel's buffer.

/** Where a value stands: its key, and its column or the members of its object. */
export type PlainMember =
  | { readonly key: string; readonly column: number }
  | { readonly key: string; readonly members: readonly PlainMember[] };

/** A column's value as JSON text in pieces, or null. */
export type ValueOf = (column: number) => Iterable<string> | null;

/** UTF-16 units of a text that are written at once: a millisecond where all are escaped. */
const PIECE_LENGTH = 65_536;

/** The members of an object in pieces, one value at a time. */
export function* memberPieces(members: readonly PlainMember[], value: ValueOf, omitNulls: boolean): Generator<string> {
  let comma = '';
  for (const member of members) {
    const key = `${JSON.stringify(member.key)}:`;
    if ('column' in member) {
      const pieces = value(member.column);
      if (pieces === null && omitNulls) continue;
      yield `${comma}${key}`;
      yield* pieces ?? ['null'];
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

/** A text as a JSON string. */
export function* stringPieces(text: string): Generator<string> {
  yield '"';
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + PIECE_LENGTH);
    // The two halves of a character stay together.
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to++;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** JSON text on one line: line ends in valid JSON are white space between its tokens. */
export function jsonOnOneLine(text: string): string {
  return text.replace(/[\u0000-\u001f]/g, ' ');
}
