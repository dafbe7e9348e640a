// A schema of the document as people read it: its type in words, its limits, and a table of its fields.
import type { Schema } from './api-document.ts';
import { type Child, element, type Html } from './html.ts';
import { prose } from './prose.ts';

/** Objects in objects are shown in one table so deep; the document's own are named and linked. */
const DEPTH_MAX = 4;

export function schemaTable(schema: Schema): Html | null {
  const rows = fieldsOf(schema, '', 0);
  if (rows.length === 0) return null;
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...['Field', 'Type', 'Meaning'].map((name) => column(name)))),
    element('tbody', {}, rows),
  );
}

export function column(name: string): Html {
  return element('th', { scope: 'col' }, name);
}

/** Such as "text, date-time, or null", with links to the document's own schemas. */
export function typeOf(schema: Schema): Child {
  if (schema.$ref !== undefined) return schemaLink(schema.$ref);
  if (schema.const !== undefined) return element('code', {}, JSON.stringify(schema.const));
  if (schema.enum !== undefined) return joined(schema.enum.map((value) => element('code', {}, String(value))));
  const parts = schema.anyOf ?? schema.allOf;
  if (parts !== undefined) return joined(parts.filter((part) => part.$ref ?? part.type).map(typeOf));
  if (schema.items !== undefined) return ['list of ', typeOf(schema.items)];
  const { additionalProperties: values } = schema;
  if (typeof values === 'object') return ['object of ', typeOf(values), ' by name'];
  const types = [schema.type ?? 'any'].flat();
  const names = types.map((type) =>
    schema.format === undefined || type === 'null' ? type : `${type} (${schema.format})`,
  );
  return names.join(' or ');
}

function schemaLink(reference: string): Html {
  const name = reference.split('/').at(-1)!;
  return element('a', { href: `#schema-${name}` }, name);
}

function joined(parts: readonly Child[]): Child {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [' or ', part]));
}

/** @param path of the object in the whole, with a dot at its end */
function fieldsOf(schema: Schema, path: string, depth: number): Html[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const isRequired = schema.required?.includes(name) === true;
    const { lead, list } = prose(meaningOf(field));
    const row = element(
      'tr',
      {},
      element(
        'th',
        { scope: 'row' },
        element('code', {}, path + name),
        isRequired && element('small', {}, 'always there'),
      ),
      element('td', {}, typeOf(field)),
      element('td', {}, lead, list),
    );
    return depth === DEPTH_MAX ? [row] : [row, ...fieldsOf(field, `${path}${name}.`, depth + 1)];
  });
  const inner =
    schema.items ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  const below = inner === undefined ? [] : fieldsOf(inner, `${path.replace(/\.$/, '')}[].`, depth + 1);
  return [...own, ...below, ...(schema.allOf ?? []).flatMap((part) => fieldsOf(part, path, depth))];
}

/** Its description and its limits. */
export function meaningOf(schema: Schema): string {
  const limits: readonly (readonly [string, unknown])[] = [
    ['at least', schema.minimum],
    ['at most', schema.maximum],
    ['at least so many characters:', schema.minLength === 0 ? undefined : schema.minLength],
    ['at most so many characters:', schema.maxLength],
    ['default', schema.default],
  ];
  const told = limits.flatMap(([words, value]) => (value === undefined ? [] : [`${words} ${JSON.stringify(value)}`]));
  return [schema.description ?? '', told.join(', ')].filter((part) => part !== '').join(' ');
}
