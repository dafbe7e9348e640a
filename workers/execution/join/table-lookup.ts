// Looks one text at a time up in a reference table, for expressions.
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { KeyList } from '../keys/hash-table.ts';
import { TableCells } from './table-cells.ts';

export type LookupContext = Pick<OperatorContext, 'arena' | 'kernel' | 'spill' | 'tables' | 'beforeRows'>;

/**
 * The cell of a column in the first row with a key; null when there is none. All memory is taken before the first row, so
 * that whoever reads cells meanwhile is not disturbed.
 *
 * @param keyColumn null: the table's first column
 */
export function tableLookup(
  context: LookupContext,
  name: string,
  keyColumn: string | null,
  valueColumn: string,
): (key: string) => string | null {
  const { arena, tables } = context;
  const { heap } = arena;
  const table = tables.get(name);
  if (table === undefined) throw new Error('a checked expression names a table that is not there');
  const column = keyColumn === null ? 0 : table.columns.indexOf(keyColumn);
  const values = table.columns.indexOf(valueColumn);
  const cells = new TableCells(context, table, { column, type: 'text', match: 'exact' }, values);
  let longest = 0;
  let bytes = 0;
  context.beforeRows(function* () {
    yield* cells.build();
    // A key with more bytes than the longest of the table is not in it: room for that one is enough.
    longest = cells.longestKeyBytes();
    bytes = heap.allocate(Math.max(1, longest));
  });
  const views = heap.allocate(VIEW_BYTES + 32);
  const list: KeyList = { views, rows: views + 8, count: 1, hashes: views + 16, ids: views + 24 };
  const encoder = new TextEncoder();
  return (key) => {
    if (bytes === 0) throw new Error('a table is asked before it is read');
    if (key.length > longest) return null;
    const { read, written } = encoder.encodeInto(key, heap.u8.subarray(bytes, bytes + longest));
    if (read < key.length) return null;
    const { u32 } = heap;
    u32[views >>> 2] = bytes;
    u32[(views >>> 2) + 1] = written;
    u32[list.rows >>> 2] = 0;
    return cells.single(list);
  };
}
