// Scalar reference implementation of the kernels over marks and lists of rows, and of the kernels that choose texts by states and
// count characters.

export interface View {
  readonly at: number;
  readonly bytes: number;
}

const TRUE = 1;
const UNKNOWN = 3;

/** The marks of a list's rows after each kernel. `before` contains the previous marks by physical row. */
export const marks = {
  markTrue: (states: readonly number[], rows: readonly number[], before: readonly number[]) =>
    put(before, rows, (_row, i) => Number(states[i] === TRUE)),
  markFound: (views: readonly View[], rows: readonly number[], before: readonly number[]) =>
    put(before, rows, (row) => Number(views[row]!.at !== 0)),
  markEmpty: (views: readonly View[], rows: readonly number[], before: readonly number[]) =>
    put(before, rows, (row) => (views[row]!.at === 0 || views[row]!.bytes === 0 ? 1 : before[row]!)),
  markMeta: (meta: readonly number[], rows: readonly number[], value: number, before: readonly number[]) =>
    put(before, rows, (row) => (meta[row] === value ? 1 : before[row]!)),
  markOthers: (known: readonly number[], rows: readonly number[], before: readonly number[]) =>
    put(before, rows, (row) => (known[row] === 1 ? before[row]! : 1)),
};

export function keepMarked(known: readonly number[], rows: readonly number[]): number[] {
  return rows.filter((row) => known[row] === 1);
}

export function keepUnlisted(rows: readonly number[], listed: readonly number[]): number[] {
  const named = new Set(listed);
  return rows.filter((row) => !named.has(row));
}

/** States of texts, by their length: 1 for `least` to `most` characters, 0 for other lengths, 2 for null. */
export function matchLength(texts: readonly (string | null)[], least: number, most: number): number[] {
  return texts.map((text) => {
    if (text === null) return 2;
    const count = [...text].length;
    return Number(count >= least && count <= most);
  });
}

/** The chosen text of each row: the second one if its state is true; and the rows whose state is unknown. */
export function chooseTexts(
  states: readonly number[],
  rows: readonly number[],
): { chosen: Map<number, number>; left: number[] } {
  const known = rows.flatMap((row, i): [number, number][] =>
    states[i] === UNKNOWN ? [] : [[row, Number(states[i] === TRUE)]],
  );
  return { chosen: new Map(known), left: rows.filter((_, i) => states[i] === UNKNOWN) };
}

function put(before: readonly number[], rows: readonly number[], value: (row: number, i: number) => number): number[] {
  const after = [...before];
  for (const [i, row] of rows.entries()) after[row] = value(row, i);
  return after;
}
