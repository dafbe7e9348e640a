// Brings each entry of a list of operations into one form, `{op: name, ...}`: a file may also write `{name: {...}}`.
import { baseParameters } from '../execution/parameters/base-parameters.ts';
import type { OperationTable } from './language.ts';
import { isMapping } from './mapping.ts';
import { operationHint } from './operation-hint.ts';
import { pointerSegment } from './pointer.ts';
import { suggestion } from './suggestion.ts';
import type { ReportProblem } from './template.ts';

/** One entry of a list of operations, whatever form it was written in. */
export interface OperationEntry {
  readonly name: string;
  /** JSON pointer of the entry in the file, such as "/operations/3". */
  readonly pointer: string;
  /** JSON pointer of its parameters: the same, or "/operations/3/rename" in the short form. */
  readonly base: string;
  /** `{op, ...parameters}`. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Reported already: it has no known name or no form. It stays in the list because what follows depends on it. */
  readonly broken: boolean;
}

/** Keys that may stand in place of `op`. */
const NAME_KEYS = ['op', 'operation'];

/** Entries of a list; what is wrong with them is reported. `pointer` is that of the list. */
export function operationEntries(
  list: unknown,
  pointer: string,
  table: OperationTable,
  report: ReportProblem,
): OperationEntry[] {
  if (!Array.isArray(list)) {
    if (list !== undefined) report(pointer, 'BAD_TYPE', 'Write a list of operations.');
    return [];
  }
  return list.map((item, index) => {
    const place = `${pointer}/${index}`;
    const entry = operationEntry(item, place, table, report);
    if (entry !== null && isAvailable(entry, table, report)) return { ...entry, broken: false };
    return { name: '', pointer: place, base: place, value: mapping(isMapping(item) ? item : {}), broken: true };
  });
}

type SoundEntry = Omit<OperationEntry, 'broken'>;

function operationEntry(
  item: unknown,
  pointer: string,
  table: OperationTable,
  report: ReportProblem,
): SoundEntry | null {
  if (!isMapping(item)) {
    const isName = typeof item === 'string' && table.has(item);
    const form = isName ? `Write {${item}: {...}}` : 'Write an operation such as {op: drop, columns: [...]}';
    report(pointer, 'BAD_TYPE', `${form}.`);
    return null;
  }
  const key = NAME_KEYS.find((name) => name in item);
  if (key !== undefined) {
    const { [key]: name, ...parameters } = item;
    if (typeof name === 'string') return { name, pointer, base: pointer, value: mapping({ ...parameters, op: name }) };
    report(`${pointer}/${key}`, 'BAD_TYPE', "Write the operation's name as a text.");
    return null;
  }
  return shortForm(item, pointer, table, report);
}

/** `{rename: {...}}`, and for `use` and `comment` a text. */
function shortForm(
  item: Readonly<Record<string, unknown>>,
  pointer: string,
  table: OperationTable,
  report: ReportProblem,
): SoundEntry | null {
  const [name, ...more] = Object.keys(item);
  if (name === undefined || more.length > 0) {
    report(pointer, 'MISSING_OPERATION', missingName(item, table));
    return null;
  }
  const inner = item[name];
  const base = `${pointer}/${pointerSegment(name)}`;
  if (typeof inner === 'string' && (name === 'use' || name === 'comment')) {
    const parameter = name === 'use' ? 'fragment' : 'text';
    return { name, pointer, base: pointer, value: mapping({ op: name, [parameter]: inner }) };
  }
  if (inner === null) return { name, pointer, base, value: mapping({ op: name }) };
  if (isMapping(inner)) return { name, pointer, base, value: mapping({ ...inner, op: name }) };
  const entry = { name, pointer, base, value: mapping({ op: name }) };
  if (isAvailable(entry, table, report))
    report(base, 'BAD_TYPE', `Write the parameters as a mapping, ${formOf(name, table)}.`);
  return null;
}

/** With the one parameter that the operation needs, where there is one. */
function formOf(name: string, table: OperationTable): string {
  const required = (table.get(name)?.parameters as { readonly required?: readonly string[] } | undefined)?.required;
  return required?.length === 1 ? `as in {${name}: {${required[0]}: ...}}` : `such as {op: ${name}, ...}`;
}

/** Mostly a short form whose parameters are not indented, or two operations in one item of the list. */
function missingName(item: Readonly<Record<string, unknown>>, table: OperationTable): string {
  const names = Object.keys(item).filter((name) => table.has(name));
  const [name, other] = names;
  if (name === undefined) return 'The name of the operation is missing. Write {op: drop, ...}.';
  if (other !== undefined) {
    return `${JSON.stringify(name)} and ${JSON.stringify(other)} stand in one entry of the list. Each operation begins with "- ".`;
  }
  const others = Object.keys(item).filter((key) => key !== name);
  const isWhole = isMapping(item[name]) && others.every((key) => key in baseParameters || key === 'where');
  if (isWhole) return `Put ${JSON.stringify(others[0])} inside, as in {${name}: {${others[0]}: ..., ...}}.`;
  return `Indent the parameters of ${JSON.stringify(name)} further than its name, or write {op: ${name}, ...}.`;
}

function isAvailable({ name, pointer }: SoundEntry, table: OperationTable, report: ReportProblem): boolean {
  if (table.has(name) || name === 'use' || name === 'comment') return true;
  const foreign = operationHint(name, table);
  const hint = foreign === '' ? suggestion(name, [...table.keys(), 'use', 'comment']) : foreign;
  const list = hint === '' ? ` Known: ${[...table.keys(), 'use', 'comment'].join(', ')}.` : hint;
  report(pointer, 'UNKNOWN_OPERATION', `There is no operation ${JSON.stringify(name)}.${list}`);
  return false;
}

/** Without a prototype, as everything that holds keys of a Template. */
function mapping(value: object): Record<string, unknown> {
  return Object.assign(Object.create(null), value);
}
