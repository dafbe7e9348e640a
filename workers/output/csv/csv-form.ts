// What all CSV outputs of one Template and one schema have in common, whatever the file: the rules in bytes, the header,
// and the tables of the kernel's program. A small file costs less than to make them, so the plan keeps them.
import { csvCell } from '../../kernel/plain/emit-csv.ts';
import type { OutputForm } from '../format.ts';
import type { TypedFormat } from '../typed-text.ts';
import type { CsvRules } from './csv-rules.ts';
import { csvRules } from './csv-rules.ts';
import type { CsvSettings } from './csv-section.ts';
import { type CsvTables, csvTables } from './csv-tables.ts';
import { formulaRefusal } from './formula-refusal.ts';
import { typedFormat } from './typed-format.ts';

export interface CsvForm {
  readonly rules: CsvRules;
  readonly format: TypedFormat;
  readonly tables: CsvTables;
  /** Its line; null when the output has none. */
  readonly header: Uint8Array | null;
  /** Column names in it that the formula guard changed. */
  readonly headerGuarded: number;
}

/** A name that no rule changes but that of a delimiter in it: most are, and a file may have thousands. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_ .-]*$/;

/** Each byte as one character, so that bytes that are no ASCII pass unchanged. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** Throws Failed when the formula guard refuses a column name. */
export function csvForm(form: OutputForm<CsvSettings>): CsvForm {
  const { settings, schema } = form;
  const rules = csvRules(form);
  const names = settings.header ? schema.map(({ name }) => name) : [];
  const quote = settings.quoting !== 'minimal';
  const cellRules = { delimiter: rules.delimiter, guard: rules.guard, quote, quoteEmpty: schema.length === 1 };
  const delimiter = latin1(rules.delimiter);
  const isPlain = (name: string): boolean => !quote && PLAIN_NAME.test(name) && !name.includes(delimiter);
  let headerGuarded = 0;
  const cells = names.map((name, column) => {
    if (isPlain(name)) return name;
    const { bytes, guarded } = csvCell(Buffer.from(name), cellRules);
    if (guarded && rules.guard === 'fail') throw formulaRefusal(column, null);
    if (guarded) headerGuarded++;
    return latin1(bytes);
  });
  const header = settings.header ? Buffer.from(cells.join(delimiter) + latin1(rules.lineEnding), 'latin1') : null;
  return { rules, format: typedFormat(settings), tables: csvTables(rules), header, headerGuarded };
}
