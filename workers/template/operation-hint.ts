// Hints for names of operations and parameters from other languages. The definitions of the operations contain these
// names.
import { FUNCTIONS } from '../expression/functions/index.ts';
import { foreignFunction } from '../expression/syntax/foreign-words.ts';
import type { OperationTable } from './language.ts';
import type { ForeignName } from './operation.ts';

/** Hint for an operation's name from another language, with a leading space, or ''. Ignores case. */
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

/** Settings of the Template that do the work of an operation in other programs. */
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

/** Hint for the name of a function, which must be written in an expression. */
function functionHint(name: string): string {
  const known = FUNCTIONS.get(name) ?? FUNCTIONS.get(name.toLowerCase());
  if (known !== undefined)
    return ` Expressions have ${known.documentation.form}: write {set: {columns: {name: '...'}}}.`;
  const hint = foreignFunction(name);
  return hint === null ? '' : ` If it is for an expression, as in {set: {columns: {name: '...'}}}: ${hint}`;
}

/** Hint for a missing parameter of one operation, or ''. */
export function missingHint(operation: unknown, name: string, table: OperationTable): string {
  const hints = (typeof operation === 'string' ? table.get(operation)?.missingParameters : undefined) ?? {};
  return Object.hasOwn(hints, name) ? ` ${hints[name]}` : '';
}

/**
 * Hint for a parameter's name from another language that corresponds to no single parameter of the operation, or ''.
 */
export function parameterHint(operation: string, name: string, table: OperationTable): string {
  const hints = table.get(operation)?.parametersKnownAs ?? {};
  const wanted = name.toLowerCase();
  return Object.hasOwn(hints, wanted) ? ` ${hints[wanted]}` : '';
}

/**
 * Foreign names for the values of one parameter, such as the metrics of an aggregate: each value with its other
 * names, as for ForeignName.
 */
export function valuesOf(values: Readonly<Record<string, string>>, form: (value: string) => string): ForeignName[] {
  return Object.entries(values).map(([value, names]) => ({ names: `${value} ${names}`.trim(), form: form(value) }));
}

/** Maps each of the names to the same hint. */
export function namesFor(hint: string, ...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, hint]));
}
