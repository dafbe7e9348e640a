// Small Parquet files written by another library (hyparquet-writer), with all its encodings and nestings.
import type { SchemaElement } from 'hyparquet';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';

export const ROWS = 300;

const rows = Array.from({ length: ROWS }, (_, row) => row);
const text = (row: number): string | null => (row % 7 === 3 ? null : `text ${row % 11} ü`);

/** Flat columns, which are not nested, in every encoding of their type. */
export const FLAT: readonly (ColumnSource & {
  readonly expected: (row: number) => readonly [string, string] | null;
})[] = [
  ...(['PLAIN', 'RLE_DICTIONARY', 'DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT'] as const).flatMap((encoding) => [
    {
      name: `int32 ${encoding}`,
      data: rows.map((row) => (row % 5 === 0 ? null : (row - 150) * 7_919)),
      type: 'INT32' as const,
      nullable: true,
      encoding,
      expected: (row: number) => (row % 5 === 0 ? null : (['number', String((row - 150) * 7_919)] as const)),
    },
    {
      name: `int64 ${encoding}`,
      data: rows.map((row) => BigInt(row - 150) * 12_345_678_901_234n),
      type: 'INT64' as const,
      encoding,
      expected: (row: number) => ['number', String(BigInt(row - 150) * 12_345_678_901_234n)] as const,
    },
  ]),
  ...(['PLAIN', 'RLE_DICTIONARY', 'BYTE_STREAM_SPLIT'] as const).flatMap((encoding) => [
    {
      name: `double ${encoding}`,
      data: rows.map((row) => row / 10),
      type: 'DOUBLE' as const,
      encoding,
      expected: (row: number) => ['number', String(row / 10)] as const,
    },
    {
      name: `float ${encoding}`,
      data: rows.map((row) => row / 10),
      type: 'FLOAT' as const,
      encoding,
      expected: (row: number) => ['number', String(row / 10)] as const,
    },
  ]),
  ...(['PLAIN', 'RLE_DICTIONARY', 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'] as const).map((encoding) => ({
    name: `text ${encoding}`,
    data: rows.map(text),
    type: 'STRING' as const,
    nullable: true,
    encoding,
    expected: (row: number) => (text(row) === null ? null : (['text', text(row)!] as const)),
  })),
  ...(['PLAIN', 'RLE'] as const).map((encoding) => ({
    name: `boolean ${encoding}`,
    data: rows.map((row) => (row % 9 === 0 ? null : row % 2 === 0)),
    type: 'BOOLEAN' as const,
    nullable: true,
    encoding,
    expected: (row: number) => (row % 9 === 0 ? null : (['boolean', String(row % 2 === 0)] as const)),
  })),
  {
    name: 'uuid',
    data: rows.map((row) => `0123abcd-0000-4000-8000-${String(row).padStart(12, '0')}`),
    type: 'UUID',
    expected: (row) => ['text', `0123abcd-0000-4000-8000-${String(row).padStart(12, '0')}`],
  },
  {
    name: 'json',
    data: rows.map((row) => ({ a: row, b: ['x y', null] })),
    type: 'JSON',
    expected: (row) => ['json', `{"a":${row},"b":["x y",null]}`],
  },
];

/** The file of FLAT. */
export function flatFile(
  options: { readonly codec?: 'SNAPPY' | 'UNCOMPRESSED'; readonly pageSize?: number } = {},
): Uint8Array {
  const columnData = FLAT.map(({ expected: _, ...column }) => column);
  return new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 128, codec: 'SNAPPY', ...options }));
}

const NESTED: SchemaElement[] = [
  { name: 'root', num_children: 3 },
  { name: 'list', repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', repetition_type: 'OPTIONAL', type: 'INT32' },
  { name: 'struct', repetition_type: 'OPTIONAL', num_children: 2 },
  { name: 'name', repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  { name: 'size', repetition_type: 'REQUIRED', type: 'DOUBLE' },
  { name: 'map', repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'MAP' },
  { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
  { name: 'key', repetition_type: 'REQUIRED', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  { name: 'value', repetition_type: 'OPTIONAL', type: 'INT32' },
];

const LISTS = [null, [], [1, null, 3], [4], Array.from({ length: 50 }, (_, index) => index)];
const STRUCTS = [null, { name: null, size: 0.5 }, { name: 'a "b"', size: 2 }];
const MAPS = [null, {}, { x: 1, y: null }];

/** A row of nestedFile, as JSON. */
export function nestedRow(row: number): readonly (string | null)[] {
  return [LISTS[row % LISTS.length], STRUCTS[row % STRUCTS.length], MAPS[row % MAPS.length]].map((value) =>
    value === null ? null : JSON.stringify(value),
  );
}

export function nestedFile(): Uint8Array {
  const columnData = [
    { name: 'list', data: rows.map((row) => LISTS[row % LISTS.length]) },
    { name: 'struct', data: rows.map((row) => STRUCTS[row % STRUCTS.length]) },
    { name: 'map', data: rows.map((row) => MAPS[row % MAPS.length]) },
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData, schema: NESTED, rowGroupSize: 128, pageSize: 256 }));
}
