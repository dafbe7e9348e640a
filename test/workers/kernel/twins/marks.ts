// Plain twin of the kernels over marks and lists of rows, and of those that choose texts by states and count characters.

export interface View {
  readonly at: number;
  readonly bytes: number;
}

const TRUE = 1;
const UNKNOWN = 3;

/** The marks of a list's rows as each kernel leaves them; `before` holds them by physical row. */
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

/** States of texts of `least` to `most` characters: 2 for null, else 1 or 0. */
export function matchLength(texts: readonly (string | null)[], least: number, most: number): number[] {
  return texts.map((text) => {
    if (text === null) return 2;
    const count = [...text].length;
    return Number(count >= least && count <= most);
  });
}

/** Which of two texts each row gets, the second where its state is true, and the rows whose state is unknown. */
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
