// The benchmark's orders as Parquet, written by another library (hyparquet-writer): row groups of 100,000 rows, Snappy.
import { type ColumnSource, fileWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { type OrderCells, orderCells } from './orders.ts';
import { isThere, seededRandom } from './seeded-file.ts';

const SEED = 20_261_121;
const GROUP_ROWS = 100_000;

/** Columns that are not text. */
const TYPES: Readonly<Record<string, ColumnSource['type']>> = { order_id: 'INT32', amount: 'DOUBLE', qty: 'INT32' };

/** Writes about `bytes` bytes unless a file of that size exists. The row group that reaches the size is the last. */
export function makeOrdersAsParquet(path: string, bytes: number): void {
  if (isThere(path, bytes)) return;
  const random = seededRandom(SEED);
  const file = fileWriter(path);
  let writer: ParquetWriter | null = null;
  for (let id = 1; file.offset < bytes; ) {
    const orders: OrderCells[] = [];
    // Small files should also have about the requested size.
    const rows = Math.min(GROUP_ROWS, Math.ceil(bytes / 100));
    for (let row = 0; row < rows; row++) orders.push(orderCells(id++, random));
    const columnData = columnsOf(orders);
    writer ??= new ParquetWriter({ writer: file, schema: schemaFromColumnData({ columnData }) });
    writer.write({ columnData });
  }
  writer?.finish();
}

function columnsOf(orders: readonly OrderCells[]) {
  return orders[0]!.map(([name], place) => {
    const type = TYPES[name] ?? 'STRING';
    const data = orders.map((cells) => (type === 'STRING' ? cells[place]![1] : Number(cells[place]![1])));
    return { name, type, data, nullable: false };
  });
}
