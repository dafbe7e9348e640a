// What to write in place of a key that is not known: another name of the same, its home in a section, the key whose value it is.
import { FORM_CHARACTERS_MAX, type Schema } from './form-hint.ts';
import type { OperationTable } from './language.ts';
import { parameterHint } from './operation-hint.ts';
import { pointerSegment } from './pointer.ts';
import { meantName, sameMeaning } from './same-meaning.ts';

/** The problem of a key that the schema does not know, with the one that was meant. */
export function unknownKey(
  pointer: string,
  name: string,
  parent: Schema,
  { data, operations }: { readonly data: unknown; readonly operations: OperationTable },
): { readonly pointer: string; readonly code: string; readonly message: string } {
  const known = Object.keys((parent['properties'] ?? {}) as object);
  const free = known.filter((key) => isFree((data as Readonly<Record<string, unknown>>)[key]));
  const op = (data as Record<string, unknown>)['op'];
  const isOperation = typeof op === 'string';
  const kind = isOperation ? `parameter ${JSON.stringify(name)} of ${op}` : `key ${JSON.stringify(name)}`;
  const home = homeOf(name, parent);
  const near =
    (isOperation && parameterHint(op, name, operations)) ||
    ownerOf(name, { value: (data as Readonly<Record<string, unknown>>)[name], free, isOperation }, parent) ||
    meantName(name, free) ||
    homeByMeaning(name, parent);
  const other = isOperation ? columnForm(name, parent, data) || parameterHint(op, '*', operations) : '';
  const meant = home === null ? near || other : ` It belongs into ${JSON.stringify(home)}.`;
  // What is the operation's own first: that is what was meant.
  const names = known.filter((key) => key !== 'op' && !COMMON_PARAMETERS.has(key));
  names.push(...known.filter((key) => COMMON_PARAMETERS.has(key)));
  const listed = meant === '' && known.length > 0 ? ` Known: ${names.join(', ')}.` : meant;
  const code = isOperation ? 'UNKNOWN_PARAMETER' : 'UNKNOWN_KEY';
  return { pointer: `${pointer}/${pointerSegment(name)}`, code, message: `Unknown ${kind}.${listed}` };
}

/** The check puts an empty list in the place of operations that are not there. */
function isFree(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Where `columns` is a mapping of them, a key beside it that means nothing else is mostly a column's name. */
function columnForm(name: string, parent: Schema, data: unknown): string {
  const columns = ((parent['properties'] ?? {}) as Readonly<Record<string, Schema>>)['columns'];
  if (columns?.['type'] !== 'object' || 'columns' in (data as object) || name.length > FORM_CHARACTERS_MAX) return '';
  return ` For a column of this name write columns: {${JSON.stringify(name)}: ...}.`;
}

/** The section beside which a key stands that should stand in it. */
function homeOf(name: string, parent: Schema): string | null {
  const sections = Object.entries((parent['properties'] ?? {}) as Readonly<Record<string, Schema>>);
  const home = sections.find(([, section]) => Object.hasOwn((section['properties'] ?? {}) as object, name));
  return home?.[0] ?? null;
}

interface MeantKey {
  readonly value: unknown;
  /** Keys that are not there. */
  readonly free: readonly string[];
  readonly isOperation: boolean;
}

/**
 * The key that is not there, one of whose values this is: `count: n` among metrics is meant as `fn: count`, and `asc: false` as
 * the other order of two.
 */
function ownerOf(name: string, { value: given, free, isOperation }: MeantKey, parent: Schema): string {
  const properties = (parent['properties'] ?? {}) as Readonly<Record<string, Schema>>;
  for (const key of free) {
    if (isOperation && COMMON_PARAMETERS.has(key)) continue;
    const values = ((properties[key]?.['enum'] ?? []) as readonly unknown[]).filter((each) => typeof each === 'string');
    const value = values.includes(name) ? name : sameMeaning(name, values);
    if (value === null) continue;
    if (given !== false) return ` Write ${key}: ${value}.`;
    if (values.length === 2) return ` Write ${key}: ${values.find((each) => each !== value)}.`;
  }
  return '';
}

/** The same for a word of other languages. */
function homeByMeaning(name: string, parent: Schema): string {
  for (const [home, section] of Object.entries((parent['properties'] ?? {}) as Readonly<Record<string, Schema>>)) {
    const same = sameMeaning(name, Object.keys((section['properties'] ?? {}) as object));
    if (same !== null) return ` Write ${home}: {${same}: ...}.`;
  }
  return '';
}

const COMMON_PARAMETERS: ReadonlySet<string> = new Set(['id', 'note', 'enabled', 'where', 'if_missing', 'on_error']);
