// Looks one text at a time up in a reference table, for expressions. The whole table is held in memory: expressions need
// any row at any time.
import { VIEW_BYTES } from '../../batch.ts';
import { decodeCell } from '../cells/text-chain.ts';
import { KEY_ABSENT, type KeyList } from '../keys/key-table.ts';
import type { OperatorContext } from '../operation.ts';
import { TableIndex } from './table-index.ts';
import { loadWhole } from './whole-table.ts';

/** Longer keys are not looked up: nobody keys a table by texts of this size. */
const KEY_BYTES_MAX = 65_536;

export type LookupContext = Pick<OperatorContext, 'arena' | 'kernel' | 'tables'>;

/**
 * The cell of a column in the first row with a key; null when there is none. All memory is taken here and none later, so
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
  const { arena, kernel, tables } = context;
  const { heap } = arena;
  const table = tables.get(name);
  if (table === undefined) throw new Error('a checked expression names a table that is not there');
  const column = keyColumn === null ? 0 : table.columns.indexOf(keyColumn);
  const values = table.columns.indexOf(valueColumn);
  const index = new TableIndex({ arena, kernel }, table.columns.length, [{ column, type: 'text', match: 'exact' }]);
  loadWhole(index, table, name);
  const bytes = heap.allocate(KEY_BYTES_MAX);
  const views = heap.allocate(VIEW_BYTES + 32);
  const list: KeyList = { views, rows: views + 8, count: 1, hashes: views + 16, ids: views + 24 };
  const encoder = new TextEncoder();
  return (key) => {
    if (key.length * 3 > KEY_BYTES_MAX) return null;
    const { written } = encoder.encodeInto(key, heap.u8.subarray(bytes, bytes + KEY_BYTES_MAX));
    const { u32 } = heap;
    u32[views >>> 2] = bytes;
    u32[(views >>> 2) + 1] = written;
    u32[list.rows >>> 2] = 0;
    index.hash(list);
    index.find(list);
    const id = u32[list.ids >>> 2]!;
    if (id === KEY_ABSENT) return null;
    const view = (index.views(values) >>> 2) + index.first(id) * 2;
    return u32[view] === 0 ? null : decodeCell(arena, u32[view]!, u32[view + 1]!);
  };
}
