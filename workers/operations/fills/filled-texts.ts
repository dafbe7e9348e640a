// Gives empty cells of text the first text of others: what stands there already is shown, no text is made.
import { VIEW_BYTES } from '../../batch.ts';
import type { CellEdit } from '../cells/cell-operator.ts';
import { placeText } from '../cells/placed-text.ts';
import { settleText } from '../cells/text-cells.ts';
import type { OperatorContext } from '../operation.ts';

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
    const { u8, u32 } = arena.heap;
    u8.copyWithin(at, before, before + batch.rows * VIEW_BYTES);
    for (let i = 0; i < count; i++) {
      const row = u32[(rows >>> 2) + i]!;
      const source = sources.find((views) => u32[views + row * 2 + 1] !== 0);
      u32[(at >>> 2) + row * 2] = source === undefined ? constant.at : u32[source + row * 2]!;
      u32[(at >>> 2) + row * 2 + 1] = source === undefined ? constant.bytes : u32[source + row * 2 + 1]!;
    }
    settleText(context, work, before, at, false);
    return { kind: 'views', at };
  };
}
