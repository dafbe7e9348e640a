// The values of a form: which alternative a value belongs to, what a new entry begins with, and how the text of an
// input becomes a value. Independent of the page's elements.
import type { FormField, FormProperty, OperationForm } from '../studio-answers.ts';

export type ObjectField = Extract<FormField, { readonly kind: 'object' }>;

/** A value that is not given. */
export const UNSET = undefined;

/** True if a field can show this value. Values that no field can show are edited as YAML. */
export function fits(field: FormField, value: unknown): boolean {
  switch (field.kind) {
    case 'text':
    case 'column':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' && (!field.isInteger || Number.isInteger(value));
    case 'boolean':
      return typeof value === 'boolean';
    case 'choice':
      return (field.options as readonly unknown[]).includes(value);
    case 'constant':
      return value === field.value;
    case 'columns':
      return columnChoice(value) !== null;
    case 'list':
      return Array.isArray(value) && value.every((item) => fits(field.item, item));
    case 'map':
      return isRecord(value) && Object.values(value).every((part) => fits(field.value, part));
    case 'object':
      return isRecord(value) && Object.entries(value).every(([name, part]) => fitsProperty(field, name, part));
    case 'variants':
      return variantOf(field.variants, value) >= 0;
    case 'yaml':
      return true;
  }
}

function fitsProperty({ properties }: ObjectField, name: string, value: unknown): boolean {
  const property = properties.find((each) => each.name === name);
  return property !== undefined && fits(property.field, value);
}

/** Index of the alternative that a value fits, or -1. A mapping fits if it has all required keys of the alternative. */
export function variantOf(variants: readonly { readonly field: FormField }[], value: unknown): number {
  return variants.findIndex(({ field }) => {
    if (!fits(field, value)) return false;
    if (field.kind !== 'object') return true;
    return field.properties.every(({ name, isRequired }) => !isRequired || name in (value as object));
  });
}

/** Initial value of a new list entry, or of an alternative that was just selected. */
export function startOf(field: FormField): unknown {
  switch (field.kind) {
    case 'text':
    case 'column':
      return '';
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'choice':
      return field.options[0];
    case 'constant':
      return field.value;
    case 'columns':
      return [];
    case 'list':
      return [startOf(field.item)];
    case 'map':
      return { '': startOf(field.value) };
    case 'object':
      return Object.fromEntries(
        field.properties.filter(({ isRequired }) => isRequired).map((each) => [each.name, startOf(each.field)]),
      );
    case 'variants':
      return startOf(field.variants[0]!.field);
    case 'yaml':
      return null;
  }
}

/** The text that an input shows. */
export function inputText(value: unknown): string {
  return value === UNSET || value === null ? '' : String(value);
}

/** The number that a text of an input means; null: not a number. */
export function numberOf(text: string, isInteger: boolean): number | null {
  const written = text.trim().replace(',', '.');
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(written)) return null;
  const value = Number(written);
  return !isInteger || Number.isSafeInteger(value) ? value : null;
}

/** Returns the mapping with a property changed, or without it if the value is UNSET. */
export function withProperty(
  value: Readonly<Record<string, unknown>>,
  name: string,
  part: unknown,
): Readonly<Record<string, unknown>> {
  const { [name]: _, ...others } = value;
  if (part === UNSET) return others;
  return name in value
    ? Object.fromEntries(Object.entries(value).map(([key, old]) => [key, key === name ? part : old]))
    : { ...value, [name]: part };
}

export function withItem(items: readonly unknown[], index: number, item: unknown): readonly unknown[] {
  return items.map((old, at) => (at === index ? item : old));
}

/** How a set of columns is given. */
export type ColumnChoice =
  | { readonly mode: 'names' | 'except'; readonly names: readonly string[] }
  | { readonly mode: 'all' }
  | { readonly mode: 'pattern' | 'type'; readonly text: string };

/** Returns null if the value is not a set of columns. */
export function columnChoice(value: unknown): ColumnChoice | null {
  if (value === '*') return { mode: 'all' };
  if (typeof value === 'string') return { mode: 'names', names: [value] };
  if (isNames(value)) return { mode: 'names', names: value };
  if (!isRecord(value) || Object.keys(value).length !== 1) return null;
  const { pattern, type, except } = value;
  if (isNames(except)) return { mode: 'except', names: except };
  if (typeof pattern === 'string') return { mode: 'pattern', text: pattern };
  return typeof type === 'string' ? { mode: 'type', text: type } : null;
}

/** @param isList whether one name is written as a list, too */
export function columnSet(choice: ColumnChoice, isList: boolean): unknown {
  switch (choice.mode) {
    case 'all':
      return '*';
    case 'names':
      return choice.names.length === 1 && !isList && choice.names[0] !== '*' ? choice.names[0] : choice.names;
    case 'except':
      return { except: choice.names };
    default:
      return { [choice.mode]: choice.text };
  }
}

/** The groups of parameters of which one is chosen, and the group that is in use. */
export function chosenGroup({ choices }: ObjectField, value: Readonly<Record<string, unknown>>): number {
  const whole = choices.findIndex((group) => group.every((name) => name in value));
  if (whole >= 0) return whole;
  return Math.max(
    0,
    choices.findIndex((group) => group.some((name) => name in value)),
  );
}

/** Returns the values without the parameters of the other groups. */
export function withGroup(
  field: ObjectField,
  value: Readonly<Record<string, unknown>>,
  group: number,
): Readonly<Record<string, unknown>> {
  const kept = field.choices[group] ?? [];
  const others = new Set(field.choices.flat().filter((name) => !kept.includes(name)));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !others.has(name)));
}

/** The properties to show: those of the other groups are left out. */
export function shownProperties(
  field: ObjectField,
  value: Readonly<Record<string, unknown>>,
  group = chosenGroup(field, value),
): readonly FormProperty[] {
  const kept = new Set(field.choices[group] ?? []);
  const others = new Set(field.choices.flat().filter((name) => !kept.has(name)));
  return field.properties.filter(({ name }) => !others.has(name));
}

/** Names of parameters that must be given and are not. */
export function missingProperties(
  field: ObjectField,
  value: Readonly<Record<string, unknown>>,
  group = chosenGroup(field, value),
): readonly string[] {
  return neededProperties(field, group)
    .filter((property) => !mayBeEmpty(property) && isEmpty(value[property.name]))
    .map(({ name }) => name);
}

/** The values with an empty text for each needed parameter that may be empty and was not filled in. */
export function completed(
  field: ObjectField,
  value: Readonly<Record<string, unknown>>,
  group = chosenGroup(field, value),
): Readonly<Record<string, unknown>> {
  const empty = neededProperties(field, group).filter((property) => mayBeEmpty(property) && !(property.name in value));
  return empty.length === 0 ? value : { ...value, ...Object.fromEntries(empty.map(({ name }) => [name, ''])) };
}

function neededProperties({ properties, choices }: ObjectField, group: number): readonly FormProperty[] {
  return properties.filter(({ name, isRequired }) => isRequired || choices[group]?.includes(name) === true);
}

function mayBeEmpty({ field }: FormProperty): boolean {
  return field.kind === 'text' && field.mayBeEmpty;
}

function isEmpty(value: unknown): boolean {
  if (value === UNSET || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Parameters of a step that its form does not have; they are shown as YAML. */
export function unknownParameters(
  { properties, further }: OperationForm,
  value: Readonly<Record<string, unknown>>,
): readonly string[] {
  const known = new Set([...properties, ...further].map(({ name }) => name));
  return Object.keys(value).filter((name) => !known.has(name));
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
