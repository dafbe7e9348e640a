// What to write in place of names that operations and their parameters have in other languages, as the operations say.
import type { OperationTable } from './language.ts';

/** What to write instead of an operation of other languages, with a space before it, or nothing. Case does not count. */
export function operationHint(name: string, table: OperationTable): string {
  const wanted = name.toLowerCase();
  for (const { name: known, knownAs = [] } of table.values()) {
    const found = knownAs.find(({ names }) => names.includes(wanted));
    if (found === undefined) continue;
    const form = found.form === null ? '' : `, as in {${known}: {${found.form}}}`;
    return ` Write the operation ${known}${form}.`;
  }
  return '';
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

/** The same to write instead of each of these names. */
export function namesFor(hint: string, ...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, hint]));
}
