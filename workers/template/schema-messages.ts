// Converts schema violations to problems: one per cause, with hints about synonyms, forms, limits and unknown keys.

import { suggestion } from '../values/suggestion.ts';
import type { OperationTable } from './language.ts';
import { missingHint, parameterHint } from './operation-hint.ts';
import type { SchemaError } from './schema.ts';
import { pointerSegment } from './source-node.ts';

// Hints about the correct form of a value: the same value in the form that its schema requires.

type Schema = Readonly<Record<string, unknown>>;

/** Maximum length of a text that a hint repeats, in UTF-16 units. The message must stay on one line. */
const FORM_CHARACTERS_MAX = 40;

/** Hint for a text in place of a list of texts, or in place of a mapping that contains it. */
function formHint(parent: Schema, data: unknown): string {
  if (parent['type'] === 'array') {
    const first = ((parent['items'] as Schema | undefined)?.['required'] as readonly string[] | undefined)?.[0];
    const isMapping = typeof data === 'object' && data !== null;
    if (isMapping && first !== undefined) return ` Its entries are mappings, as in [{${first}: ...}].`;
  }
  if (parent['type'] === 'object' && parent['properties'] === undefined && isShortTexts(data)) {
    return ` Write {${data.map((name) => `${JSON.stringify(name)}: ...`).join(', ')}}.`;
  }
  if (typeof data !== 'string' || data.length > FORM_CHARACTERS_MAX) return '';
  if (parent['type'] === 'array') return ` Put it in brackets: [${JSON.stringify(data)}].`;
  const required = parent['required'] as readonly string[] | undefined;
  return parent['type'] === 'object' && required?.length === 1
    ? ` Write {${required[0]}: ${JSON.stringify(data)}}.`
    : '';
}

/** Hint for a text in place of a mapping that contains it, if one of the forms is such a mapping. */
function textForm(branches: readonly Schema[], data: unknown): string {
  if (typeof data !== 'string' || data.length > FORM_CHARACTERS_MAX) return '';
  for (const { properties } of branches) {
    const [[key, value] = [], ...others] = Object.entries((properties ?? {}) as Readonly<Record<string, Schema>>);
    if (value?.['type'] === 'string' && others.length === 0) return ` Write {${key}: ${JSON.stringify(data)}}.`;
  }
  return '';
}

/** Hint for a number in quotes, which is a text. */
function quotesHint(wanted: readonly string[], data: unknown): string {
  const isNumber = wanted.includes('a whole number') || wanted.includes('a number');
  return isNumber && typeof data === 'string' && /^-?\d+(?:\.\d+)?$/.test(data) ? ' Remove the quotes.' : '';
}

/** True for a list of names that is short enough to repeat. */
function isShortTexts(data: unknown): data is string[] {
  return (
    Array.isArray(data) && data.every((name) => typeof name === 'string') && data.join().length <= FORM_CHARACTERS_MAX
  );
}

// Synonyms of parameters and values from other languages (SQL, pandas, spreadsheets). They are used for hints in
// messages only, never accepted. Synonyms of operation names are in the definition of each operation (`knownAs`).

/** The known name that is a synonym of a foreign one, or null. Ignores case and the separators between words. */
function sameMeaning(name: string, known: Iterable<string>): string | null {
  const group = MEANINGS.get(plain(name));
  if (group === undefined) return null;
  for (const candidate of known) if (candidate !== name && group.has(plain(candidate))) return candidate;
  return null;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Each line lists synonyms. Each section of the language knows only one word of a line. */
const MEANINGS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [
    'by columns column group_by partition_by key keys fields subset',
    'order_by sort_by',
    'where when condition filter if',
    'pattern regex regexp',
    'find from old search',
    'replace with to new replacement',
    'as name alias into',
    'fn function func agg',
    'mean avg average',
    'previous lag shift prior',
    'next lead following',
    'running_sum cumsum cumulative_sum running_total',
    'count_distinct nunique count_unique distinct_count',
    'join concat string_agg group_concat listagg',
    'stdev std stddev',
    'variance var',
    'trim strip',
    'collapse_spaces squeeze squish normalize_spaces',
    'lower lowercase downcase',
    'upper uppercase upcase',
    'title proper capitalize titlecase',
    'asc ascending rising up',
    'desc descending falling down',
    'text string str varchar char',
    'integer int long bigint',
    'number float double real',
    'decimal numeric money currency',
    'boolean bool logical',
    'datetime timestamp',
    'delimiter separator sep',
    'formats format',
    'metrics aggregations aggregates aggs',
    'type how kind',
    'map mapping dictionary dict',
    'match alias aliases synonyms header headers',
    'names_to var_name variable_name key_name',
    'values_to value_name',
    'required not_null notnull non_null not_blank not_empty notempty mandatory',
    'xlsx excel xls workbook',
    'operations steps transforms transformations pipeline',
    'header_row skip_rows skip_lines',
  ].flatMap((line) => {
    const words = line.split(' ').map(plain);
    return words.map((word) => [word, new Set(words)] as const);
  }),
);

/** Hint for an unknown name. A synonym takes precedence over a similarly spelt name. */
function meantName(name: string, known: readonly string[]): string {
  const same = sameMeaning(name, known);
  return same === null ? suggestion(name, known) : ` Did you mean ${JSON.stringify(same)}?`;
}

// Messages for numbers, texts, lists and mappings that violate a minimum or maximum of the schema.

/** @param keyword keyword of JSON Schema @param params details from the validator */
function limitMessage(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const limit = String(params['limit'] ?? params['multipleOf'] ?? '');
  switch (keyword) {
    case 'minimum':
      return `Write a number not below ${limit}.`;
    case 'maximum':
      return `Write a number not above ${limit}.`;
    case 'exclusiveMinimum':
      return `Write a number above ${limit}.`;
    case 'exclusiveMaximum':
      return `Write a number below ${limit}.`;
    case 'minLength':
      return limit === '1' ? 'The text is empty.' : `The text has at least ${limit} characters.`;
    case 'maxLength':
      return limit === '1' ? 'Write one character.' : `The text has at most ${limit} characters.`;
    case 'minItems':
      return limit === '1' ? 'The list is empty.' : `The list has at least ${limit} entries.`;
    case 'maxItems':
    case 'items':
      return `The list has at most ${limit} entries.`;
    case 'minProperties':
      return limit === '1' ? 'The mapping is empty.' : `The mapping has at least ${limit} keys.`;
    case 'maxProperties':
      return `The mapping has at most ${limit} keys.`;
    case 'uniqueItems':
      return 'The list names something twice.';
    default:
      return `The value does not fit (${keyword}).`;
  }
}

// Hints for unknown keys: a synonym, the section to which the key belongs, or the key of which it is a value.

/** The problem for a key that the schema does not know, with the key that was probably meant. */
function unknownKey(
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
  const own = isOperation ? parameterHint(op, name, operations) : '';
  const near =
    ownerOf(name, { value: (data as Readonly<Record<string, unknown>>)[name], free, isOperation }, parent) ||
    meantName(name, free) ||
    homeByMeaning(name, parent);
  const other = isOperation ? columnForm(name, parent, data) || parameterHint(op, '*', operations) : '';
  const meant = own || (home === null ? near || other : ` It belongs into ${JSON.stringify(home)}.`);
  // The operation's own parameters come first, because they are more likely to be meant.
  const names = known.filter((key) => key !== 'op' && !COMMON_PARAMETERS.has(key));
  names.push(...known.filter((key) => COMMON_PARAMETERS.has(key)));
  const listed = meant === '' && known.length > 0 ? ` Known: ${names.join(', ')}.` : meant;
  const code = isOperation ? 'UNKNOWN_PARAMETER' : 'UNKNOWN_KEY';
  return { pointer: `${pointer}/${pointerSegment(name)}`, code, message: `Unknown ${kind}.${listed}` };
}

/** True if the key is absent. The check replaces absent operations by an empty list, which counts as absent. */
function isFree(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

/** If `columns` is a mapping of columns, an unknown key next to it is usually the name of a column. */
function columnForm(name: string, parent: Schema, data: unknown): string {
  const columns = ((parent['properties'] ?? {}) as Readonly<Record<string, Schema>>)['columns'];
  if (columns?.['type'] !== 'object' || 'columns' in (data as object) || name.length > FORM_CHARACTERS_MAX) return '';
  return ` For a column of this name write columns: {${JSON.stringify(name)}: ...}.`;
}

/** The section that should contain a key which was written next to it. */
function homeOf(name: string, parent: Schema): string | null {
  const sections = Object.entries((parent['properties'] ?? {}) as Readonly<Record<string, Schema>>);
  const home = sections.find(([, section]) => Object.hasOwn((section['properties'] ?? {}) as object, name));
  return home?.[0] ?? null;
}

interface MeantKey {
  readonly value: unknown;
  /** Known keys that the mapping does not contain. */
  readonly free: readonly string[];
  readonly isOperation: boolean;
}

/**
 * Hint for a key that is a value of another, absent key: in a metric, `count: n` probably means `fn: count`, and
 * `asc: false` means the opposite of two orders.
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

/** Like `homeOf`, for a synonym from another language. */
function homeByMeaning(name: string, parent: Schema): string {
  for (const [home, section] of Object.entries((parent['properties'] ?? {}) as Readonly<Record<string, Schema>>)) {
    const same = sameMeaning(name, Object.keys((section['properties'] ?? {}) as object));
    if (same !== null) return ` Write ${home}: {${same}: ...}.`;
  }
  return '';
}

const COMMON_PARAMETERS: ReadonlySet<string> = new Set(['id', 'note', 'enabled', 'where', 'if_missing', 'on_error']);

// Converts schema violations to problems: one per cause, with what to write instead.

export interface SchemaMessage {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

/** Maximum number of violations examined: enough for fifty problems, and few enough to compare all pairs. */
const VIOLATIONS_MAX = 1_000;

/** Maximum nesting of alternatives. */
const ALTERNATIVES_DEPTH_MAX = 5;

/** The problems that cause the violations, in the order of their positions in the schema. */
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

/** Codes of problems that usually follow from a misspelt key: the correct key is then reported as missing. */
const CONSEQUENCES: ReadonlySet<string> = new Set(['MISSING_PARAMETER', 'BAD_PARAMETERS']);

function isMisspelt({ code, message }: SchemaMessage): boolean {
  return (code === 'UNKNOWN_PARAMETER' || code === 'UNKNOWN_KEY') && !message.includes(' Known: ');
}

/** The first violations, and the alternatives that contain the last of them. */
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

/** True if the violation is one of those that made an alternative fail. */
function isInside(error: SchemaError, alternative: SchemaError): boolean {
  return (
    error.schemaPath.startsWith(`${alternative.schemaPath}/`) &&
    (error.instancePath === alternative.instancePath || error.instancePath.startsWith(`${alternative.instancePath}/`))
  );
}

/** If one alternative was clearly intended, reports its violations; otherwise reports that no alternative matches. */
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

/** Violations that show that an alternative was not intended. */
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
  // If the parameter only decides whether there is an error, the operation's on_error decides what happens to the
  // row.
  if (values.includes('error') && ON_ERROR.has(error.data))
    return ` Write "error", and on_error: ${String(error.data)}.`;
  return typeof error.data === 'string' ? meantName(error.data, values) : '';
}

const CUT_OFF =
  'A comma between braces ends a text in YAML. Put the whole expression into quotes, as in {x: "round(a, 2)"}.';

/**
 * True for an unquoted expression that YAML has split at a comma: the text after the comma becomes a key without a
 * value.
 */
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
  const lacked = typeof data === 'object' && data !== null && !Array.isArray(data) ? lackedKeys(branches, data) : '';
  if (lacked !== '') return lacked;
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

/** What a mapping lacks to be one of the forms that are mappings, so that it is not said to be the wrong type. */
function lackedKeys(branches: readonly Schema[], data: object): string {
  const mappings = branches.filter((branch) => branch['properties'] !== undefined);
  if (mappings.length > 1) return exactlyOneOf(mappings as readonly { readonly required?: readonly string[] }[]);
  const required = (mappings[0]?.['required'] ?? []) as readonly string[];
  const missing = required.find((name) => !Object.hasOwn(data, name));
  return missing === undefined ? '' : `${JSON.stringify(missing)} is missing.`;
}

function isPlain(data: unknown): boolean {
  return typeof data === 'number' || typeof data === 'boolean' || data === null;
}

/** Texts are quoted and shortened. They come from the Template. */
function typeName(data: unknown): string {
  if (typeof data === 'string') return JSON.stringify(data.length > 40 ? `${data.slice(0, 40)}...` : data);
  if (isPlain(data)) return String(data);
  return Array.isArray(data) ? 'a list' : 'a mapping';
}

/** Lists allowed values. If a number is also allowed as a text, only the text is listed. */
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

/** Returns null if the alternatives differ in more than their required properties. */
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
