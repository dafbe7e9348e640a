// Writes rows as JSON in plain TypeScript. This is the scalar reference implementation of the kernel
// assembly/emit-json.ts. It is used for rows that are too large for the kernel's buffer.

/** A member of the output object: its key, and either its column or the members of a nested object. */
export type PlainMember =
  | { readonly key: string; readonly column: number }
  | { readonly key: string; readonly members: readonly PlainMember[] };

/** A column's value as JSON text in pieces, or null. */
export type ValueOf = (column: number) => Iterable<string> | null;

/** Number of UTF-16 units of a text written at a time: about a millisecond if all of them are escaped. */
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
      // A nested object is omitted if all its members are. It has no first piece in that case.
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
    // Do not split a surrogate pair.
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to++;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Puts JSON on one line. In valid JSON, line ends can only be white space between tokens. */
export function jsonOnOneLine(text: string): string {
  return text.replace(/[\u0000-\u001f]/g, ' ');
}
