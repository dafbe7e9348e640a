// Turns violations of the schema into problems: one per cause, with what to write instead.

import { formHint, quotesHint, type Schema, textForm } from './form-hint.ts';
import type { OperationTable } from './language.ts';
import { limitMessage } from './limit-message.ts';
import { missingHint } from './operation-hint.ts';
import { meantName } from './same-meaning.ts';
import { unknownKey } from './unknown-key.ts';
import type { SchemaError } from './validate.ts';

export interface SchemaMessage {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

/** Violations that are looked at: enough for fifty problems, few enough to compare each with each. */
const VIOLATIONS_MAX = 1_000;

/** Alternatives inside alternatives at most. */
const ALTERNATIVES_DEPTH_MAX = 5;

/** The problems behind the violations, in the order of their places in the schema. */
export function schemaMessages(all: readonly SchemaError[], operations: OperationTable): SchemaMessage[] {
  const errors = firstViolations(all);
  const alternatives = errors.filter(({ keyword, params }) => isAlternative(keyword) && !('tag' in params));
  const inside = (error: SchemaError) => alternatives.some((other) => other !== error && isInside(error, other));
  const causes = errors.filter((error) => !inside(error)).flatMap((error) => cause(error, errors, operations));
  const misspelt = new Set(causes.filter(isMisspelt).map(({ pointer }) => pointer.slice(0, pointer.lastIndexOf('/'))));
  const consequence = ({ pointer, code }: SchemaMessage) => CONSEQUENCES.has(code) && misspelt.has(pointer);
  const roots = causes.filter((problem) => !consequence(problem));
  return [...new Map(roots.map((problem) => [`${problem.pointer} ${problem.message}`, problem])).values()];
}

/** What a name in place of the right one brings with it, where it is known what to write: that is missing. */
const CONSEQUENCES: ReadonlySet<string> = new Set(['MISSING_PARAMETER', 'BAD_PARAMETERS']);

function isMisspelt({ code, message }: SchemaMessage): boolean {
  return (code === 'UNKNOWN_PARAMETER' || code === 'UNKNOWN_KEY') && !message.includes(' Known: ');
}

/** The first violations, and what tells of which alternatives the last of them are part. */
function firstViolations(errors: readonly SchemaError[]): readonly SchemaError[] {
  if (errors.length <= VIOLATIONS_MAX) return errors;
  const first = errors.slice(0, VIOLATIONS_MAX);
  for (let at = VIOLATIONS_MAX, left = ALTERNATIVES_DEPTH_MAX; at < errors.length && left > 0; at++) {
    if (!isAlternative(errors[at]!.keyword)) continue;
    first.push(errors[at]!);
    left--;
  }
  return first;
}

function isAlternative(keyword: string): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf';
}

/** True when the violation is one of those that made an alternative fail. */
function isInside(error: SchemaError, alternative: SchemaError): boolean {
  return (
    error.schemaPath.startsWith(`${alternative.schemaPath}/`) &&
    (error.instancePath === alternative.instancePath || error.instancePath.startsWith(`${alternative.instancePath}/`))
  );
}

/** An alternative whose form was plainly meant is told by its own violations, any other as a whole. */
function cause(error: SchemaError, all: readonly SchemaError[], operations: OperationTable): SchemaMessage[] {
  if (error.keyword !== 'anyOf') return [message(error, operations)];
  const branches = new Map<string, SchemaError[]>();
  for (const inner of all) {
    if (inner === error || !isInside(inner, error)) continue;
    const branch = inner.schemaPath.slice(error.schemaPath.length + 1).split('/')[0]!;
    branches.set(branch, [...(branches.get(branch) ?? []), inner]);
  }
  const deep = [...branches.values()].filter((inner) =>
    inner.some(({ instancePath }) => instancePath !== error.instancePath),
  );
  if (deep.length === 1) return schemaMessages(deep[0]!, operations);
  const meant = [...branches.values()].filter((inner) => !inner.some(({ keyword }) => isForm(keyword)));
  const parent = error.parentSchema as Schema;
  if (meant.length === 1 && parent['title'] === undefined) return schemaMessages(meant[0]!, operations);
  return [message(error, operations)];
}

/** Violations that say "this form was not meant". */
function isForm(keyword: string): boolean {
  return keyword === 'type' || keyword === 'const' || keyword === 'enum' || keyword === 'required';
}

function message(error: SchemaError, operations: OperationTable): SchemaMessage {
  const { keyword, params, instancePath: pointer } = error;
  const parent = (error.parentSchema ?? {}) as Schema;
  const at = (code: string, text: string, place = pointer): SchemaMessage => ({ pointer: place, code, message: text });
  switch (keyword) {
    case 'additionalProperties':
      return unknownKey(pointer, String(params['additionalProperty']), parent, { data: error.data, operations });
    case 'required': {
      const name = String(params['missingProperty']);
      const hint = missingHint((error.data as Record<string, unknown>)['op'], name, operations);
      return at('MISSING_PARAMETER', `${JSON.stringify(name)} is missing.${hint}`);
    }
    case 'enum':
      return at('BAD_VALUE', `Write ${list(params['allowedValues'] as unknown[])}.${meantValue(error)}`);
    case 'const':
      return at('BAD_VALUE', `Write ${JSON.stringify(params['allowedValue'])}.`);
    case 'type':
      return at('BAD_TYPE', isCutOff(pointer, error.data) ? CUT_OFF : wrongType(parent, error.data));
    case 'oneOf':
      return at('BAD_PARAMETERS', exactlyOneOf(error.schema as { required?: string[] }[]));
    case 'anyOf': {
      const lacked = leastOneOf(parent['anyOf'] as Schema[]);
      return lacked === null ? at('BAD_TYPE', wrongForm(parent, error.data)) : at('BAD_PARAMETERS', lacked);
    }
    case 'pattern':
    case 'propertyNames':
      return at(
        'BAD_VALUE',
        `Write ${parent['title'] ?? `a text that matches ${params['pattern'] ?? 'the pattern'}`}.`,
      );
    default:
      return at('BAD_VALUE', limitMessage(keyword, params as Record<string, unknown>));
  }
}

const ON_ERROR: ReadonlySet<unknown> = new Set(['fail', 'flag', 'reject', 'drop_row', 'keep']);

function meantValue(error: SchemaError): string {
  const values = (error.params['allowedValues'] as unknown[]).filter((value) => typeof value === 'string');
  // Places that only tell an error leave to on_error what becomes of the row.
  if (values.includes('error') && ON_ERROR.has(error.data))
    return ` Write "error", and on_error: ${String(error.data)}.`;
  return typeof error.data === 'string' ? meantName(error.data, values) : '';
}

const CUT_OFF =
  'A comma between braces ends a text in YAML. Put the whole expression into quotes, as in {x: "round(a, 2)"}.';

/** What follows the comma of an expression without quotes is a key without a value. */
function isCutOff(pointer: string, data: unknown): boolean {
  const key = pointer.slice(pointer.lastIndexOf('/') + 1);
  return data === null && key.split(')').length > key.split('(').length;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys to values',
  null: 'null',
};

function wrongType(parent: Schema, data: unknown): string {
  const wanted = [parent['type']].flat().map((type) => TYPE_NAMES[String(type)] ?? String(type));
  const hint =
    parent['type'] === 'string' && isPlain(data)
      ? ' Put it in quotes.'
      : quotesHint(wanted, data) || formHint(parent, data);
  return `Write ${wanted.join(' or ')}, not ${typeName(data)}.${hint}`;
}

function wrongForm(parent: Schema, data: unknown): string {
  if (typeof parent['title'] === 'string') return `Write ${parent['title']}.`;
  const branches = parent['anyOf'] as Schema[];
  const [key, ...others] = typeof data === 'object' && !Array.isArray(data) ? Object.keys(data ?? {}) : [];
  const forms = branches.flatMap((branch) => Object.keys((branch['properties'] ?? {}) as object));
  if (key !== undefined && others.length === 0 && forms.length > 0 && !forms.includes(key)) {
    return `Unknown key ${JSON.stringify(key)}.${meantName(key, forms) || ` Known: ${[...new Set(forms)].join(', ')}.`}`;
  }
  const wanted = branches.map((branch) => {
    if (typeof branch['title'] === 'string') return branch['title'];
    if ('const' in branch) return JSON.stringify(branch['const']);
    if (Array.isArray(branch['enum'])) return list(branch['enum']);
    const type = TYPE_NAMES[String(branch['type'])] ?? 'another form';
    return branch['minimum'] === undefined ? type : `${type} from ${branch['minimum']}`;
  });
  const words = branches.flatMap((branch) =>
    'const' in branch ? [branch['const']] : ((branch['enum'] ?? []) as unknown[]),
  );
  const texts = words.filter((word) => typeof word === 'string');
  const meant = typeof data === 'string' ? meantName(data, texts) : '';
  return `Write ${[...new Set(wanted)].join(' or ')}, not ${typeName(data)}.${meant || textForm(branches, data)}`;
}

function isPlain(data: unknown): boolean {
  return typeof data === 'number' || typeof data === 'boolean' || data === null;
}

/** Texts are quoted shortened: they are the Template's own. */
function typeName(data: unknown): string {
  if (typeof data === 'string') return JSON.stringify(data.length > 40 ? `${data.slice(0, 40)}...` : data);
  if (isPlain(data)) return String(data);
  return Array.isArray(data) ? 'a list' : 'a mapping';
}

/** Values to choose from; a number that may also be a text is named as a text. */
function list(values: readonly unknown[]): string {
  return values
    .filter((value) => typeof value !== 'number' || !values.includes(String(value)))
    .map((value) => JSON.stringify(value))
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1');
}

function exactlyOneOf(groups: readonly { readonly required?: readonly string[] }[]): string {
  const names = groups.map(({ required }) => (required ?? []).map((name) => JSON.stringify(name)).join(' with '));
  return `Give exactly one of ${oneOf(names)}.`;
}

/** Null where the forms differ in more than what is given. */
function leastOneOf(groups: readonly Schema[]): string | null {
  if (!groups.every((group) => Object.keys(group).join() === 'required')) return null;
  const names = groups.map((group) =>
    (group['required'] as string[]).map((name) => JSON.stringify(name)).join(' with '),
  );
  return `Give at least one of ${oneOf(names)}.`;
}

function oneOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
