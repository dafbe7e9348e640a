// Which row gets which column, so that the sum of what they are worth is greatest: the Hungarian method (Kuhn 1955, in the form of
// Jonker and Volgenant with potentials), in time of rows times rows times columns.

/** @param worth rows by columns, at least 0. @returns for each row its column, or null where there are fewer columns */
export function assign(worth: readonly (readonly number[])[]): (number | null)[] {
  const rows = worth.length;
  const columns = worth[0]?.length ?? 0;
  if (rows === 0 || columns === 0) return worth.map(() => null);
  if (rows > columns) return transposed(assign(turned(worth)), rows);
  // Counted from 1: row 0 and column 0 stand for "none".
  const rowPotential = new Float64Array(rows + 1);
  const columnPotential = new Float64Array(columns + 1);
  const rowOf = new Int32Array(columns + 1);
  const way = new Int32Array(columns + 1);
  for (let row = 1; row <= rows; row++) {
    rowOf[0] = row;
    const last = shortestWay(worth, { rowPotential, columnPotential, rowOf, way });
    for (let column = last; column !== 0; ) {
      const before = way[column]!;
      rowOf[column] = rowOf[before]!;
      column = before;
    }
  }
  return transposed(
    Array.from(rowOf.subarray(1), (row) => (row === 0 ? null : row - 1)),
    rows,
  );
}

interface Potentials {
  readonly rowPotential: Float64Array;
  readonly columnPotential: Float64Array;
  readonly rowOf: Int32Array;
  readonly way: Int32Array;
}

/** The free column at the end of the shortest way from the row that stands at column 0. */
function shortestWay(
  worth: readonly (readonly number[])[],
  { rowPotential, columnPotential, rowOf, way }: Potentials,
): number {
  const columns = columnPotential.length - 1;
  const least = new Float64Array(columns + 1).fill(Number.POSITIVE_INFINITY);
  const used = new Uint8Array(columns + 1);
  let at = 0;
  do {
    used[at] = 1;
    const row = rowOf[at]!;
    let delta = Number.POSITIVE_INFINITY;
    let next = 0;
    for (let column = 1; column <= columns; column++) {
      if (used[column] === 1) continue;
      const cost = -worth[row - 1]![column - 1]! - rowPotential[row]! - columnPotential[column]!;
      if (cost < least[column]!) {
        least[column] = cost;
        way[column] = at;
      }
      if (least[column]! < delta) {
        delta = least[column]!;
        next = column;
      }
    }
    for (let column = 0; column <= columns; column++) {
      if (used[column] === 1) {
        rowPotential[rowOf[column]!]! += delta;
        columnPotential[column]! -= delta;
      } else least[column]! -= delta;
    }
    at = next;
  } while (rowOf[at] !== 0);
  return at;
}

function turned(worth: readonly (readonly number[])[]): number[][] {
  return worth[0]!.map((_, column) => worth.map((row) => row[column]!));
}

/** From the row of each column to the column of each row. */
function transposed(rowOf: readonly (number | null)[], rows: number): (number | null)[] {
  const columns: (number | null)[] = Array.from({ length: rows }, () => null);
  for (const [column, row] of rowOf.entries()) if (row !== null) columns[row] = column;
  return columns;
}
