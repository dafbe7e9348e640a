// Gives empty cells of text the first text of others: what stands there already is shown, no text is made.
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { CellEdit, CellWork } from '../cells/cell-operator.ts';
import { placeText } from '../cells/placed-text.ts';
import { settleText } from '../cells/text-cells.ts';

/** What fills a cell: a text of the Template, or the first of these columns (indexes in the batches) that is not empty there. */
export type TextFilling = { readonly text: string } | { readonly columns: readonly number[] };

/** An edit in place of rows whose cells are all null or empty; where nothing fills them they become null. */
export function filledTexts(context: OperatorContext, filling: TextFilling): CellEdit {
  const { arena } = context;
  const constant = 'text' in filling ? placeText(arena.heap, filling.text) : { at: 0, bytes: 0 };
  const columns = 'text' in filling ? [] : filling.columns;
  return (work) => {
    const { batch, column, rows, count } = work;
    const before = batch.views(column);
    const sources = columns.map((index) => batch.views(index) >>> 2);
    const at = arena.tryTake(batch.rows * VIEW_BYTES);
    if (at === 0) return null;
    const kinds = movedKinds(work, columns);
    if (kinds === 0) return null;
    const { u8, u32 } = arena.heap;
    u8.copyWithin(at, before, before + batch.rows * VIEW_BYTES);
    for (let i = 0; i < count; i++) {
      const row = u32[(rows >>> 2) + i]!;
      const source = sources.find((views) => u32[views + row * 2 + 1] !== 0);
      u32[(at >>> 2) + row * 2] = source === undefined ? constant.at : u32[source + row * 2]!;
      u32[(at >>> 2) + row * 2 + 1] = source === undefined ? constant.bytes : u32[source + row * 2 + 1]!;
    }
    settleText(context, work, before, at, false);
    return kinds === undefined ? { kind: 'views', at } : { kind: 'views', at, kinds };
  };
}

/** The kinds of a column whose cells are filled from others; undefined: none of them has any, 0: the arena is full. */
function movedKinds({ batch, column, rows, count }: CellWork, columns: readonly number[]): number | undefined {
  const kindsAt = (index: number): number | undefined => {
    const data = batch.columns[index]!;
    return data.kind === 'views' ? data.kinds : undefined;
  };
  const before = kindsAt(column);
  const sources = columns.map((index) => ({ views: batch.views(index) >>> 2, kinds: kindsAt(index) }));
  if (before === undefined && sources.every(({ kinds }) => kinds === undefined)) return undefined;
  const made = batch.arena.tryTake(batch.rows);
  if (made === 0) return 0;
  const { u8, u32 } = batch.heap;
  if (before === undefined) u8.fill(KIND_TEXT, made, made + batch.rows);
  else u8.copyWithin(made, before, before + batch.rows);
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    const source = sources.find(({ views }) => u32[views + row * 2 + 1] !== 0);
    u8[made + row] = source?.kinds === undefined ? KIND_TEXT : u8[source.kinds + row]!;
  }
  return made;
}
