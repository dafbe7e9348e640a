// The schema that editors use for completion: as small as possible, with each parameter where it belongs, and it accepts all
// valid Templates.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'tap';
import { operationTable } from '../../../workers/operations/index.ts';
import { templateLanguage } from '../../../workers/plan/plan.ts';
import { compactSchema, publishedSchema } from '../../../workers/template/schema.ts';
import { parseTemplate } from '../../../workers/template/template-text.ts';

type Schema = Readonly<Record<string, unknown>>;

const compact = compactSchema(templateLanguage) as Schema & { readonly $defs: Readonly<Record<string, Schema>> };

function validator(schema: object) {
  return new Ajv2020({ discriminator: true, strict: false }).compile(schema);
}

test('it accepts valid Templates', async (t) => {
  const validate = validator(compact);
  for (const { name, examples } of operationTable.values()) {
    for (const { operation, title } of examples) {
      const { op, ...parameters } = operation;
      t.ok(validate({ operations: [operation] }), `${name}: ${title}`);
      t.ok(validate({ operations: [{ [op as string]: parameters }] }), `${name}: ${title}, short form`);
    }
  }
  const folder = 'examples/recipes';
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const text = readFileSync(join(folder, entry.name, 'template.yaml'), 'utf8');
    t.match(text, /^# yaml-language-server: \$schema=(?:\.\.\/){3}dist\/schema\.json\n/, entry.name);
    const read = parseTemplate(text, 'yaml');
    t.ok('text' in read && validate(read.text.root.value), `${entry.name} ${JSON.stringify(validate.errors)}`);
  }
});

test('it refuses misspelt names', async (t) => {
  const validate = validator(compact);
  for (const wrong of [
    { operations: [{ drpo: { columns: 'a' } }] },
    { operations: [{ op: 'drpo' }] },
    { operations: [{ drop: { colums: 'a' } }] },
    { operations: [{ drop: { columns: 'a' }, sort: { by: 'a' } }] },
    { input: { csv: { delimter: ';' } } },
    { outptu: {} },
  ]) {
    t.notOk(validate(wrong), JSON.stringify(wrong));
  }
});

test('an operation is suggested by its name, and its parameters are its own', async (t) => {
  const suggested = namesAt(compact.$defs['operation']!, compact.$defs);
  t.strictSame([...suggested].sort(), ['op', ...operationTable.keys(), 'use', 'comment'].sort());
  const published = publishedSchema(templateLanguage) as typeof compact;
  const before = namesAt(published.$defs['operation']!, published.$defs);
  t.ok(before.size > suggested.size * 2, `of the full one ${before.size} are`);
  t.ok(namesAt(compact.$defs['drop']!, compact.$defs).size < 10);
  t.ok(
    JSON.stringify(compact).length * 3 < JSON.stringify(published).length,
    `${JSON.stringify(compact).length} bytes`,
  );
});

/** The properties that an editor offers at a position: those of all alternatives. */
function namesAt(schema: Schema, definitions: Readonly<Record<string, Schema>>): Set<string> {
  const names = new Set(Object.keys((schema['properties'] ?? {}) as object));
  const reference = /^#\/\$defs\/([^/]+)$/.exec(String(schema['$ref'] ?? ''))?.[1];
  const parts = [
    ...((schema['anyOf'] ?? []) as Schema[]),
    ...((schema['oneOf'] ?? []) as Schema[]),
    schema['then'],
    schema['else'],
  ];
  if (reference !== undefined) parts.push(definitions[reference]!);
  for (const part of parts)
    if (part !== undefined) for (const name of namesAt(part as Schema, definitions)) names.add(name);
  return names;
}
