// Scalar reference implementation of the kernels that turn structural characters into the row table: uniform or ragged, one row
// at a time.

const LF = 10;
const CR = 13;

export interface RowsRules {
  readonly columns: number;
  readonly columnsMax: number;
  readonly quote: number;
  readonly raggedFails: boolean;
  readonly strayFails: boolean;
  readonly emptyIsNull: boolean;
}

export interface IndexedRows {
  /** `columns` + 1 entries per row. */
  readonly entries: readonly number[];
  readonly rows: number;
  /** Rows of the table whose non-empty extra fields were dropped. */
  readonly ragged: readonly number[];
  /** Rows of the table that have too few fields. */
  readonly short: readonly number[];
  readonly strays: readonly (readonly [row: number, count: number])[];
  readonly stop: 'ragged' | 'stray' | 'columns' | 'swallowed' | null;
  readonly missing: boolean;
}

/** @param before address of the byte before the first row */
export function indexRows(
  u8: Uint8Array,
  structurals: readonly number[],
  before: number,
  rowsMax: number,
  rules: RowsRules,
): IndexedRows {
  const made = {
    entries: [] as number[],
    rows: 0,
    ragged: [] as number[],
    short: [] as number[],
    strays: [] as [number, number][],
    stop: null as IndexedRows['stop'],
    missing: false,
  };
  let start = before + 1;
  let fields: [number, number][] = [];
  for (const address of structurals) {
    const byte = u8[address];
    const ends = byte === LF || byte === CR;
    fields.push([start, ends && byte === LF && address > start && u8[address - 1] === CR ? address - 1 : address]);
    start = address + 1;
    if (!ends) continue;
    if (made.rows === rowsMax) break;
    if (!addRow(u8, made, fields, rules)) break;
    fields = [];
  }
  return made;
}

type Made = { -readonly [key in keyof IndexedRows]: IndexedRows[key] } & {
  entries: number[];
  ragged: number[];
  short: number[];
  strays: [number, number][];
};

function addRow(u8: Uint8Array, made: Made, fields: readonly [number, number][], rules: RowsRules): boolean {
  const { columns } = rules;
  const first = fields[0]!;
  const blank = fields.length === 1 && first[0] === first[1];
  if (blank && columns !== 1) return true;
  const extra = fields.slice(columns).some(([from, to]) => !isEmptyField(u8, from, to, rules.quote));
  const strayFields = fields.filter(([from, to]) => isStrayField(u8, from, to, rules.quote));
  const strays = strayFields.length;
  const swallowed = strayFields.some(([from, to]) => u8.subarray(from, to).some((byte) => byte === LF || byte === CR));
  if (fields.length > rules.columnsMax) made.stop = 'columns';
  else if (swallowed) made.stop = 'swallowed';
  else if (rules.raggedFails && (extra || fields.length < columns)) made.stop = 'ragged';
  else if (rules.strayFails && strays > 0) made.stop = 'stray';
  if (made.stop !== null) return false;
  if (extra) made.ragged.push(made.rows);
  if (fields.length < columns) made.short.push(made.rows);
  if (strays > 0) made.strays.push([made.rows, strays]);
  const kept = blank && !rules.emptyIsNull ? 0 : Math.min(fields.length, columns);
  let last = first[0] - 1;
  made.entries.push(last);
  for (let column = 0; column < columns; column++) {
    if (column < kept) last = fields[column]![1];
    else made.missing = true;
    made.entries.push(last);
  }
  made.rows++;
  return true;
}

function isEmptyField(u8: Uint8Array, from: number, to: number, quote: number): boolean {
  return from === to || (to - from === 2 && u8[from] === quote && u8[from + 1] === quote);
}

/** True for a field that begins with a quote whose closing quote does not end the field. */
export function isStrayField(u8: Uint8Array, from: number, to: number, quote: number): boolean {
  if (from >= to || u8[from] !== quote) return false;
  let at = from + 1;
  while (at < to) {
    if (u8[at] !== quote) at++;
    else if (at + 1 < to && u8[at + 1] === quote) at += 2;
    else return at + 1 !== to;
  }
  return true;
}
