// What to write in place of names that operations and their parameters have in other languages, as the operations say.
import { FUNCTIONS } from '../expression/functions/index.ts';
import { foreignFunction } from '../expression/syntax/foreign-words.ts';
import type { ForeignName } from '../operations/operation.ts';
import type { OperationTable } from './language.ts';

/** What to write instead of an operation of other languages, with a space before it, or nothing. Case does not count. */
export function operationHint(name: string, table: OperationTable): string {
  const wanted = name.toLowerCase();
  for (const { name: known, knownAs = [] } of table.values()) {
    const found = knownAs.find(({ names }) => names.split(' ').includes(wanted));
    if (found === undefined) continue;
    const form = found.form === null ? '' : `, as in {${known}: {${found.form}}}`;
    return ` Write the operation ${known}${form}.`;
  }
  return settingHint(wanted) ?? functionHint(name);
}

/** Where what other programs do by a step is a setting of the whole Template. */
const SETTINGS: ReadonlyMap<string, string> = new Map(
  (
    [
      ['promote_headers use_first_row_as_headers header headers header_row set_header', 'input: {header_row: ...}'],
      ['read_csv import load source encoding delimiter skip_rows skip_lines', 'input: {...}'],
      ['output export write save write_csv to_csv to_excel to_xlsx', 'output: {...}'],
    ] as const
  ).flatMap(([words, section]) => words.split(' ').map((word) => [word, section] as const)),
);

function settingHint(wanted: string): string | null {
  const section = SETTINGS.get(wanted);
  return section === undefined ? null : ` That is a setting of the Template, beside operations: ${section}.`;
}

/** Of a name that expressions know: an operation gives its result a place. */
function functionHint(name: string): string {
  const known = FUNCTIONS.get(name) ?? FUNCTIONS.get(name.toLowerCase());
  if (known !== undefined)
    return ` Expressions have ${known.documentation.form}: write {set: {columns: {name: '...'}}}.`;
  const hint = foreignFunction(name);
  return hint === null ? '' : ` If it is for an expression, as in {set: {columns: {name: '...'}}}: ${hint}`;
}

/** What to write for a parameter that one operation lacks, or nothing. */
export function missingHint(operation: unknown, name: string, table: OperationTable): string {
  const hints = (typeof operation === 'string' ? table.get(operation)?.missingParameters : undefined) ?? {};
  return Object.hasOwn(hints, name) ? ` ${hints[name]}` : '';
}

/** What to write instead of a parameter of one operation that does not stand for one other parameter, or nothing. */
export function parameterHint(operation: string, name: string, table: OperationTable): string {
  const hints = table.get(operation)?.parametersKnownAs ?? {};
  const wanted = name.toLowerCase();
  return Object.hasOwn(hints, wanted) ? ` ${hints[wanted]}` : '';
}

/** Values of one parameter, such as the metrics of an aggregate, as names of operations: each with its other names, as in ForeignName. */
export function valuesOf(values: Readonly<Record<string, string>>, form: (value: string) => string): ForeignName[] {
  return Object.entries(values).map(([value, names]) => ({ names: `${value} ${names}`.trim(), form: form(value) }));
}

/** The same to write instead of each of these names. */
export function namesFor(hint: string, ...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, hint]));
}
