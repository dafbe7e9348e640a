// Brings cells into the form that a format's writers take: clean text for raw fields where it keeps no bytes, text for
// typed cells where it needs no types. Writers that take both get the batches as they are.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { PLAIN_FORMAT, typedViews } from './typed-text.ts';
import type { RowWriter } from './writer.ts';

export interface TakenCells {
  readonly keepsBytes: boolean;
  readonly needsTypes: boolean;
}

export function plainCells(writer: RowWriter, taken: TakenCells): RowWriter {
  if (taken.keepsBytes && taken.needsTypes) return writer;
  return {
    push: (batch) => writer.push(withPlainCells(batch, taken)),
    finish: () => writer.finish(),
    get formulasGuarded() {
      return writer.formulasGuarded;
    },
    // Rows that a kernel writes are those of formats that take every cell.
    ahead: null,
  };
}

function withPlainCells(batch: Batch, { keepsBytes, needsTypes }: TakenCells): Batch {
  const columns = batch.columns.map((column, index): ColumnData => {
    if (column.kind === 'raw' && !keepsBytes) return { kind: 'views', at: batch.views(index) };
    if (column.kind === 'typed' && !needsTypes) return { kind: 'views', at: typedViews(batch, column, PLAIN_FORMAT) };
    return column;
  });
  return batch.withColumns(columns);
}
