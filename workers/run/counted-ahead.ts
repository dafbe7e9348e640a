// Counts the rows that an operation writes into the output by itself.
import type { RowsAhead } from '../output/writer.ts';
import type { OperationReport } from './report.ts';

export function countedAhead(report: OperationReport, ahead: RowsAhead | null): RowsAhead | null {
  if (ahead === null) return null;
  return {
    load: (batch) => ahead.load(batch),
    write(rows, count) {
      report.rows_out += count;
      return ahead.write(rows, count);
    },
  };
}
