// The first rows of a Parquet output of the service: flat optional columns in plain encoding, compressed with Snappy. Reads
// the metadata at the end of the file and the first page of each column.

export interface PreviewTable {
  /** Names of the columns. */
  readonly header: readonly string[];
  /** null: a missing value. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** True if the output has more rows. */
  readonly isCut: boolean;
}

/** Reads a part of an output. */
export type ReadBytes = (from: number, to: number) => Promise<Uint8Array<ArrayBuffer>>;

/** Bytes at the end that are read first: they contain the metadata of most files. */
const TAIL_BYTES = 64 * 1024;
/** Length of the metadata and the letters PAR1, at the end. */
const END_BYTES = 8;
/** Bytes of a column that are read first: one page, unless it has a very long text. */
const PAGE_BYTES = 96 * 1024;

export async function parquetTable(
  sizeBytes: number,
  { rowsMax, columnsMax }: { readonly rowsMax: number; readonly columnsMax: number },
  read: ReadBytes,
): Promise<PreviewTable> {
  const { columns, chunks, rows } = await metadata(sizeBytes, read);
  const shown = columns.slice(0, chunks.length === 0 ? 0 : columnsMax);
  const cells: (readonly (string | null)[])[] = [];
  // One after the other, because plans limit the rate of requests.
  for (const [index, column] of shown.entries()) cells.push(await firstCells(column, chunks[index]!, rowsMax, read));
  const count = Math.min(rows, rowsMax, ...cells.map(({ length }) => length));
  const lines = Array.from({ length: shown.length === 0 ? 0 : count }, (_, row) =>
    cells.map((column) => column[row] ?? null),
  );
  return { header: columns.map(({ name }) => name), rows: lines, isCut: lines.length < rows };
}

// Metadata. The numbers are those of parquet.thrift.

interface StoredColumn {
  readonly name: string;
  readonly physical: number;
  readonly widthBytes: number;
  readonly converted: number | null;
  readonly scale: number;
}

interface Chunk {
  readonly start: number;
  readonly storedBytes: number;
}

interface Metadata {
  readonly columns: readonly StoredColumn[];
  /** Of the first group of rows. */
  readonly chunks: readonly Chunk[];
  readonly rows: number;
}

async function metadata(sizeBytes: number, read: ReadBytes): Promise<Metadata> {
  let tail = await read(Math.max(0, sizeBytes - TAIL_BYTES), sizeBytes);
  const length = new DataView(tail.buffer, tail.byteOffset).getUint32(tail.length - END_BYTES, true);
  if (length + END_BYTES > tail.length) tail = await read(sizeBytes - END_BYTES - length, sizeBytes);
  const file = new Thrift(tail, tail.length - END_BYTES - length).struct();
  const [, ...leaves] = file.get(2) as Struct[];
  const columns = leaves.map((leaf) => ({
    name: textOf(leaf.get(4)),
    physical: leaf.get(1) as number,
    widthBytes: (leaf.get(2) as number | undefined) ?? 0,
    converted: (leaf.get(6) as number | undefined) ?? null,
    scale: (leaf.get(7) as number | undefined) ?? 0,
  }));
  const [group] = file.get(4) as Struct[];
  const chunks = ((group?.get(1) ?? []) as Struct[]).map((chunk) => {
    const details = chunk.get(3) as Struct;
    return { start: details.get(9) as number, storedBytes: details.get(7) as number };
  });
  return { columns, chunks, rows: file.get(3) as number };
}

function textOf(value: unknown): string {
  return new TextDecoder().decode(value as Uint8Array);
}

/** Values of fields by their number. */
type Struct = ReadonlyMap<number, unknown>;

// Thrift's compact protocol.

class Thrift {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  struct(): Struct {
    const fields = new Map<number, unknown>();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      if (head === 0) return fields;
      id = head >>> 4 === 0 ? this.#integer() : id + (head >>> 4);
      fields.set(id, this.#value(head & 15));
    }
  }

  #value(type: number): unknown {
    if (type === 1 || type === 2) return type === 1;
    if (type === 3) return this.#byte();
    if (type <= 6) return this.#integer();
    if (type === 7) return this.#take(8);
    if (type === 8) return this.#take(this.#varint());
    if (type === 9 || type === 10) return this.#list();
    if (type === 12) return this.struct();
    throw new Error('The output has metadata that this preview cannot read.');
  }

  #list(): unknown[] {
    const head = this.#byte();
    const size = head >>> 4 === 15 ? this.#varint() : head >>> 4;
    return Array.from({ length: size }, () => this.#value(head & 15));
  }

  #integer(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  #take(bytes: number): Uint8Array {
    this.at += bytes;
    return this.#bytes.subarray(this.at - bytes, this.at);
  }

  #byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new Error('The output ends inside its metadata.');
    return byte;
  }
}

// The first page of a column.

async function firstCells(
  column: StoredColumn,
  chunk: Chunk,
  rowsMax: number,
  read: ReadBytes,
): Promise<(string | null)[]> {
  let bytes = await read(chunk.start, chunk.start + Math.min(chunk.storedBytes, PAGE_BYTES));
  const thrift = new Thrift(bytes, 0);
  const header = thrift.struct();
  const stored = header.get(3) as number;
  const end = thrift.at + stored;
  if (end > bytes.length) bytes = await read(chunk.start, chunk.start + end);
  const page = withoutSnappy(bytes.subarray(thrift.at, end), header.get(2) as number);
  const rows = Math.min(rowsMax, (header.get(5) as Struct).get(1) as number);
  const view = new DataView(page.buffer);
  const levels = presence(page.subarray(4, 4 + view.getUint32(0, true)), rows);
  const next = valueReader(column, view, 4 + view.getUint32(0, true));
  return levels.map((isPresent) => (isPresent ? next() : null));
}

/** Whether each of the first rows has a value: runs of equal bits, and groups of eight bits. */
function presence(bytes: Uint8Array, rows: number): boolean[] {
  const levels: boolean[] = [];
  for (let at = 0; at < bytes.length && levels.length < rows; ) {
    let head = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++]!;
      head += (byte & 127) * factor;
      if (byte < 128) break;
    }
    const count = Math.floor(head / 2);
    if (head % 2 === 0) {
      const isPresent = bytes[at++] === 1;
      for (let row = 0; row < count && levels.length < rows; row++) levels.push(isPresent);
    } else {
      for (let bit = 0; bit < count * 8 && levels.length < rows; bit++)
        levels.push(((bytes[at + (bit >>> 3)]! >>> (bit & 7)) & 1) === 1);
      at += count;
    }
  }
  return levels;
}

const BOOLEAN = 0;
const INT32 = 1;
const INT64 = 2;
const DOUBLE = 5;
const BYTE_ARRAY = 6;
/** Converted types: days and microseconds since 1970. */
const DATE = 6;
const TIMESTAMP_MICROS = 10;
const DAY_MILLISECONDS = 86_400_000;

/** Returns the values of a page one by one. */
function valueReader(
  { physical, widthBytes, converted, scale }: StoredColumn,
  view: DataView,
  start: number,
): () => string {
  let at = start;
  let bit = 0;
  const pass = (bytes: number): number => {
    at += bytes;
    return at - bytes;
  };
  switch (physical) {
    case BOOLEAN:
      return () => String(((view.getUint8(at + (bit >>> 3)) >>> (bit++ & 7)) & 1) === 1);
    case INT32:
      return () => {
        const value = view.getInt32(pass(4), true);
        return converted === DATE ? new Date(value * DAY_MILLISECONDS).toISOString().slice(0, 10) : String(value);
      };
    case INT64:
      return () => {
        const value = view.getBigInt64(pass(8), true);
        return converted === TIMESTAMP_MICROS ? new Date(Number(value / 1000n)).toISOString() : String(value);
      };
    case DOUBLE:
      return () => String(view.getFloat64(pass(8), true));
    case BYTE_ARRAY:
      return () => {
        const length = view.getUint32(pass(4), true);
        return new TextDecoder().decode(new Uint8Array(view.buffer, pass(length), length));
      };
    default:
      return () => decimalText(new Uint8Array(view.buffer, pass(widthBytes), widthBytes), scale);
  }
}

/** @param bytes two's complement, the highest byte first */
function decimalText(bytes: Uint8Array, scale: number): string {
  const unsigned = bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  const value = BigInt.asIntN(bytes.length * 8, unsigned);
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  // All values of a column are stored with the same number of decimal places.
  const places = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${whole}${scale === 0 || places === '' ? '' : `.${places}`}`;
}

/** Decompresses Snappy's raw format: literals, and copies of earlier bytes. */
function withoutSnappy(bytes: Uint8Array, sizeBytes: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(sizeBytes);
  let at = 0;
  let filled = 0;
  const integer = (count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index++) value += bytes[at++]! * 256 ** index;
    return value;
  };
  // The length of the result precedes the data.
  while (bytes[at++]! >= 128);
  while (at < bytes.length) {
    const tag = bytes[at++]!;
    const kind = tag & 3;
    if (kind === 0) {
      const short = tag >>> 2;
      const length = (short < 60 ? short : integer(short - 59)) + 1;
      out.set(bytes.subarray(at, at + length), filled);
      at += length;
      filled += length;
    } else {
      const length = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
      const offset = kind === 1 ? (tag >>> 5) * 256 + integer(1) : integer(kind === 2 ? 2 : 4);
      // The copy may overlap with what it writes.
      for (let index = 0; index < length; index++, filled++) out[filled] = out[filled - offset]!;
    }
  }
  return out;
}
