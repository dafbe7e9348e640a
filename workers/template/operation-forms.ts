// Normalises lists of operations: their forms, the common parameters, and defaults.

import { suggestion } from '../values/suggestion.ts';
import { baseParameters } from './base-parameters.ts';
import { mappingSchema, withDefaults } from './json-schema.ts';
import type { OperationTable } from './language.ts';
import { operationHint } from './operation-hint.ts';
import type { BrokenStep, ScanStep } from './scan.ts';
import { isMapping, pointerSegment } from './source-node.ts';
import type { IfMissing, OnError, ReportProblem, TemplateDefaults, TemplateOperation } from './template.ts';

// Normalises the entries of a list of operations to the form `{op: name, ...}`. A file may also use the form `{name:
// {...}}`.

/** One entry of a list of operations, independent of the form in which it was written. */
export interface OperationEntry {
  readonly name: string;
  /** JSON pointer of the entry in the file, such as "/operations/3". */
  readonly pointer: string;
  /** JSON pointer of the entry's parameters: the same pointer, or "/operations/3/rename" in the short form. */
  readonly base: string;
  /** `{op, ...parameters}`. */
  readonly value: Readonly<Record<string, unknown>>;
  /**
   * True if the entry has no known name or no valid form, which has been reported. It stays in the list because later
   * operations depend on it.
   */
  readonly broken: boolean;
}

/** Keys that are accepted for `op`. */
const NAME_KEYS = ['op', 'operation'];

/** Normalises the entries of a list, and reports invalid ones. `pointer` is the pointer of the list. */
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

/** Reads the short form `{rename: {...}}`. For `use` and `comment`, the value may be a text. */
function shortForm(
  item: Readonly<Record<string, unknown>>,
  pointer: string,
  table: OperationTable,
  report: ReportProblem,
): SoundEntry | null {
  const [name, ...more] = Object.keys(item);
  if (name === undefined || more.length > 0) {
    const [, second] = Object.keys(item).filter((key) => table.has(key));
    // The second of two operations is the one that lacks its "- ".
    const place = second === undefined ? pointer : `${pointer}/${pointerSegment(second)}`;
    report(place, 'MISSING_OPERATION', missingName(item, table));
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

/** The form of an operation, with its required parameter if there is exactly one. */
function formOf(name: string, table: OperationTable): string {
  const required = (table.get(name)?.parameters as { readonly required?: readonly string[] } | undefined)?.required;
  return required?.length === 1 ? `as in {${name}: {${required[0]}: ...}}` : `such as {op: ${name}, ...}`;
}

/** Usually a short form whose parameters are not indented, or two operations in one item of the list. */
function missingName(item: Readonly<Record<string, unknown>>, table: OperationTable): string {
  const names = Object.keys(item).filter((name) => table.has(name));
  const [name, other] = names;
  if (name === undefined) return 'The name of the operation is missing. Write {op: drop, ...}.';
  if (other !== undefined) {
    return `${JSON.stringify(name)} and ${JSON.stringify(other)} are in one entry of the list. Begin each operation with "- ".`;
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

/** Creates an object without a prototype, as for all objects whose keys come from a Template. */
function mapping(value: object): Record<string, unknown> {
  return Object.assign(Object.create(null), value);
}

// Converts an entry of a list of operations to a step of the Template: separates the common parameters and fills in
// defaults.

/** Returns the line of a pointer in the Template's text. */
export type LineOf = (pointer: string) => number;

/** The steps in order, including invalid ones, but without comments and disabled operations. */
export function stepsOf(
  entries: readonly OperationEntry[],
  { broken, lineOf }: { readonly broken: ReadonlySet<string>; readonly lineOf: LineOf },
  defaults: TemplateDefaults,
  table: OperationTable,
): (ScanStep | BrokenStep)[] {
  const running = entries.filter(({ name, value }) => name !== 'comment' && value['enabled'] !== false);
  return running.map((entry, index) => {
    const definition = table.get(entry.name);
    if (definition === undefined || broken.has(entry.pointer)) return { broken: entry.value };
    const own = mappingSchema(definition.parameters).properties;
    const common = operationOf(entry, own, definition.parameters, defaults);
    const operation = { ...common, place: { number: index + 1, line: lineOf(entry.pointer) } };
    return { operation, definition, base: entry.base };
  });
}

/** In YAML and JSON, `null` may be written with or without quotes; without quotes it is read as no value. */
function ifMissingOf(written: IfMissing | null | undefined): IfMissing {
  return written === null ? 'null' : (written ?? 'fail');
}

function operationOf(
  { name, pointer, value }: OperationEntry,
  own: Readonly<Record<string, unknown>>,
  parameters: object,
  defaults: TemplateDefaults,
): Omit<TemplateOperation, 'place'> {
  const isCommon = (key: string) =>
    !Object.hasOwn(own, key) && (key === 'op' || key === 'where' || key in baseParameters);
  const common = (key: string) => (isCommon(key) ? value[key] : undefined);
  const given: Record<string, unknown> = Object.create(null);
  for (const [key, part] of Object.entries(value)) if (!isCommon(key)) given[key] = part;
  return {
    pointer,
    name,
    id: (common('id') as string | undefined) ?? null,
    enabled: true,
    where: (common('where') as string | undefined) ?? null,
    ifMissing: ifMissingOf(common('if_missing') as IfMissing | null | undefined),
    onError: (common('on_error') as OnError | undefined) ?? defaults.onError,
    parameters: withDefaults(parameters, given) as Readonly<Record<string, unknown>>,
  };
}
