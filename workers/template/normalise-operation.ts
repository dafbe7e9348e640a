// From an entry of a list of operations to a step of the Template: common parameters taken off, defaults filled in.
import { baseParameters } from '../execution/parameters/base-parameters.ts';
import type { BrokenStep, ScanStep } from '../plan/scan.ts';
import { mappingSchema, withDefaults } from './json-schema.ts';
import type { OperationTable } from './language.ts';
import type { OperationEntry } from './operation-forms.ts';
import type { IfMissing, OnError, TemplateDefaults, TemplateOperation } from './template.ts';

/** The line of a pointer in the Template's text. */
export type LineOf = (pointer: string) => number;

/** The steps in their order, broken ones too; without comments and what is disabled. */
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

/** `null` is written as a text, or bare, which YAML and JSON read as no value. */
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
