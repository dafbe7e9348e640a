// Decides for each batch how its columns are written: which neighbours are copied as one range, which raw fields are
// looked at one by one, and which columns are asked for clean views first.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { Schema } from '../../batch/schema.ts';
import { type RawUse, rawUse } from '../raw-use.ts';
import { needsText, type TypedFormat, typedViews } from '../typed-text.ts';
import type { CsvStep, PlacedStep } from './csv-program.ts';
import type { CsvRules } from './csv-rules.ts';

export function csvSteps(batch: Batch, schema: Schema, rules: CsvRules, format: TypedFormat): PlacedStep[] {
  const use = rawUse(batch.raw, rules);
  // Raw columns are text, and what quotes one column of text quotes all of them.
  const raw = use === 'runs' && rules.columns.some(({ quote }) => quote) ? 'fields' : use;
  const steps: PlacedStep[] = [];
  for (let column = 0; column < schema.length; column++) {
    const step = stepOf(batch, column, raw, rules, format);
    const last = steps.at(-1);
    if (last !== undefined && 'first' in step && 'first' in last.step && last.step.last + 1 === step.first) {
      const joined: CsvStep = { kind: step.kind, first: last.step.first, last: step.last };
      steps[steps.length - 1] = { column: last.column, step: joined };
    } else steps.push({ column, step });
  }
  return steps;
}

function stepOf(batch: Batch, index: number, raw: RawUse, rules: CsvRules, format: TypedFormat): CsvStep {
  const column = batch.columns[index]!;
  const field = raw === 'runs' ? unchangedField(column, rules) : undefined;
  if (field !== undefined) return { kind: 'run', first: field, last: field };
  if (column.kind === 'raw') {
    if (raw === 'views') return { kind: 'views', at: batch.views(index), guard: true };
    return { kind: raw === 'runs' ? 'run' : 'fields', first: column.field, last: column.field };
  }
  if (column.kind === 'views') return { kind: 'views', at: column.at, guard: true, kinds: column.kinds };
  if (column.type === 'number' || needsText(column, format)) {
    return { kind: 'views', at: typedViews(batch, column, format), guard: false };
  }
  return { kind: column.type, at: column.at, meta: column.meta };
}

/** The raw field that already says what a column that was read would be written as. */
function unchangedField(column: ColumnData, rules: CsvRules): number | undefined {
  if (column.kind !== 'typed') return column.field;
  // A strict guard asks a text for its sign and a number for nothing.
  const { written } = column;
  return written?.decimalMark === rules.decimalMark && rules.guard !== 'strict' ? written.field : undefined;
}
