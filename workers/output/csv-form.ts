// What all CSV outputs of one Template and one schema have in common, whatever the file: the rules in bytes, the header,
// and the tables of the kernel's program. A small file costs less than to make them, so the plan keeps them.
import { csvCell } from '../kernel/plain/emit-csv.ts';
import type { Schema } from '../schema.ts';
import type { TemplateOutput } from '../template/template.ts';
import { typedFormat } from './csv-format.ts';
import type { CsvRules } from './csv-rules.ts';
import { csvRules } from './csv-rules.ts';
import { type CsvTables, csvTables } from './csv-tables.ts';
import { formulaRefusal } from './formula-refusal.ts';
import type { TypedFormat } from './typed-text.ts';

/** What the form depends on: a part of what a writer is made from. */
export interface CsvFormSettings {
  readonly output: TemplateOutput;
  readonly schema: Schema;
  readonly nullValues: readonly string[];
}

export interface CsvForm {
  readonly rules: CsvRules;
  readonly format: TypedFormat;
  readonly tables: CsvTables;
  /** Its line; null when the output has none. */
  readonly header: Uint8Array | null;
  /** Column names in it that the formula guard changed. */
  readonly headerGuarded: number;
}

/** Throws Failed when the formula guard refuses a column name. */
export function csvForm({ output, schema, nullValues }: CsvFormSettings): CsvForm {
  const rules = csvRules(output, schema, nullValues);
  const names = output.csv.header ? schema.map(({ name }) => name) : [];
  const quote = output.csv.quoting !== 'minimal';
  const cellRules = { delimiter: rules.delimiter, guard: rules.guard, quote, quoteEmpty: schema.length === 1 };
  let headerGuarded = 0;
  const pieces = names.flatMap((name, column) => {
    const { bytes, guarded } = csvCell(Buffer.from(name), cellRules);
    if (guarded && rules.guard === 'fail') throw formulaRefusal(column, null);
    if (guarded) headerGuarded++;
    return column === 0 ? [bytes] : [rules.delimiter, bytes];
  });
  const header = output.csv.header ? Buffer.concat([...pieces, rules.lineEnding]) : null;
  return { rules, format: typedFormat(output.csv), tables: csvTables(rules), header, headerGuarded };
}
