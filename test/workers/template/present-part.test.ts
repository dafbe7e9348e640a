// The part of a schema for given values judges them like the whole schema, for missing and additional values and values of
// another type.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'tap';
import { operationTable } from '../../../workers/operations/index.ts';
import { templateLanguage } from '../../../workers/plan/plan.ts';
import { operationSchema, presentPart, sectionsSchema } from '../../../workers/template/schema.ts';

type Values = Readonly<Record<string, unknown>>;

const WRONG = [null, '', 7, [], {}, [{ nonsense: 1 }], { nonsense: 1 }];

/** A value, and its variants with one key removed, changed or added. */
function* variants(value: Values): Generator<Values> {
  yield value;
  yield { ...value, nonsense: 1 };
  for (const [index, name] of Object.keys(value).entries()) {
    const { [name]: gone, ...rest } = value;
    yield rest;
    yield { ...value, [name]: WRONG[index % WRONG.length] };
    if (Array.isArray(gone)) yield { ...value, [name]: [...gone, WRONG[(index + 1) % WRONG.length]] };
  }
}

function compile(schema: object) {
  const ajv = new Ajv2020({
    discriminator: true,
    strictRequired: false,
    strictTypes: false,
    validateSchema: false,
    meta: false,
  });
  return ajv.compile(schema);
}

test('operations', async (t) => {
  const counts = { sound: 0, unsound: 0 };
  for (const { name, examples } of operationTable.values()) {
    const schema = operationSchema(templateLanguage, name)!;
    const whole = compile(schema);
    for (const value of variants(examples[0]!.operation)) {
      const sound = whole(value);
      counts[sound ? 'sound' : 'unsound'] += 1;
      if (compile(presentPart(schema, [value]))(value) !== sound) t.fail(`${name}: ${JSON.stringify(value)}`);
    }
    // A part for several values judges each of them.
    const values = examples.map(({ operation }) => operation);
    const part = compile(presentPart(schema, values));
    for (const value of values) t.ok(part(value), name);
  }
  t.ok(counts.sound > 50 && counts.unsound > 50, JSON.stringify(counts));
});

test('sections', async (t) => {
  const schema = sectionsSchema(templateLanguage);
  const whole = compile(schema);
  const template: Values = {
    format: 1,
    name: 'x',
    input: { csv: { delimiter: ';' }, columns: [{ name: 'a', match: ['A', { position: 2 }] }], sheet: [1, 'b'] },
    tables: { rates: { ref: 'rates' } },
    defaults: { on_error: 'blank', max_errors: null },
    output: { format: 'csv', csv: { delimiter: ',' } },
    tests: [{ input: { text: 'a' }, expect: { rows: [{ a: 1 }] } }],
    operations: [{ op: 'drop', columns: ['a'] }],
  };
  const sections = ['input', 'defaults', 'output'].flatMap((name) =>
    [...variants(template[name] as Values)].map((section) => ({ ...template, [name]: section })),
  );
  for (const value of [...variants(template), ...sections]) {
    t.equal(compile(presentPart(schema, [value]))(value), whole(value), JSON.stringify(value));
  }
  t.ok(whole(template));
});
