// Keys of a mapping come from data: headers, cells and units may contain line breaks and all other characters.
import t from 'tap';
import { templateLanguage } from '../../workers/plan/plan.ts';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import { applyTemplate } from '../workers/apply-template.ts';

const NAME = 'l1\nl2';
const INPUT = `"${NAME}",b\n"${NAME}",1\n`;

/** Operations with their output. */
const APPLIED: readonly (readonly [operation: object, output: string])[] = [
  [{ map_values: { columns: NAME, map: { [NAME]: 'hit' } } }, `"${NAME}",b\nhit,1\n`],
  [{ replace: { columns: NAME, pairs: { [NAME]: 'hit' } } }, `"${NAME}",b\nhit,1\n`],
  [{ rename: { columns: { [NAME]: 'a' } } }, `a,b\n"${NAME}",1\n`],
  [{ cast: { columns: { [NAME]: 'integer' }, on_error: 'blank' } }, `"${NAME}",b\n,1\n`],
  [
    { cast: { columns: { [NAME]: 'integer' }, into: { [NAME]: 'n' }, on_error: 'blank' } },
    `"${NAME}",b,n\n"${NAME}",1,\n`,
  ],
  [{ set: { columns: { [NAME]: 'b' } } }, `"${NAME}",b\n1,1\n`],
  [{ append_rows: { rows: [{ [NAME]: 'x' }] } }, `"${NAME}",b\n"${NAME}",1\nx,\n`],
];

for (const [operation, output] of APPLIED) {
  t.test(JSON.stringify(operation), async (t) => {
    const { text, outcome } = await applyTemplate({ operations: [operation] }, INPUT);
    t.equal(text, output, JSON.stringify(outcome.failure));
  });
}

t.test('a unit and a JSON key with a line break', async (t) => {
  const operations = [
    { parse_number: { columns: 'n', units: { 'k\nm': 1000 } } },
    { flatten_json: { column: 'j', fields: { '["a\\nb"]': 'made' } } },
  ];
  const { text, outcome } = await applyTemplate({ operations }, 'n,j\n"2k\nm","{""a\\nb"":""x""}"\n');
  t.match(text, /^n,j,made\n2000,.*,x\n$/, JSON.stringify(outcome.failure));
});

/** Mappings in a schema that refuse keys with a line break. */
function refusing(schema: unknown, place: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const patterns = Object.keys((schema as { patternProperties?: object }).patternProperties ?? {});
  const own = patterns.filter((pattern) => !new RegExp(pattern).test(NAME)).map((pattern) => `${place} ${pattern}`);
  return [...own, ...Object.entries(schema).flatMap(([key, part]) => refusing(part, `${place}/${key}`))];
}

t.test('no mapping of an operation or of an output refuses such a key', async (t) => {
  const operations = [...templateLanguage.operations.values()].flatMap(({ name, parameters }) =>
    refusing(parameters, name),
  );
  t.strictSame(operations, []);
  const outputs = [...templateLanguage.outputFormats.values()].flatMap(({ name, section }) => refusing(section, name));
  t.strictSame(outputs, []);
});

t.test('sections take such keys', async (t) => {
  const template = {
    format: 1,
    output: { format: 'xlsx', xlsx: { widths: { [NAME]: 10 }, number_format: { [NAME]: '0' } } },
    tests: [{ input: { text: INPUT }, expect: { rows: [{ [NAME]: NAME, b: '1' }] } }],
  };
  const checked = checkTemplate(JSON.stringify(template), 'json');
  t.notOk('problems' in checked && checked.problems, 'no problems');
});
