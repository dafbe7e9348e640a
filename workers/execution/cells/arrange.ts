// Puts a batch's columns into the order of an operation's output.
import type { Batch, ColumnData } from '../../batch/batch.ts';

/**
 * @param layout for each output column its index in the batch, or -1
 * @param made data of the new columns (-1 in the layout), in their order
 */
export function arrange(batch: Batch, layout: readonly number[], made: readonly ColumnData[] = []): Batch {
  let nextMade = 0;
  const columns = layout.map((index) => {
    const column = index < 0 ? made[nextMade++] : batch.columns[index];
    if (column === undefined) throw new Error('layout and columns disagree');
    return column;
  });
  return batch.withColumns(columns);
}
