// The published language: every operation is in the schema and the reference, and examples are valid Templates.
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'tap';
import { parse } from 'yaml';
import { FUNCTIONS } from '../../../workers/expression/functions/index.ts';
import { operationTable } from '../../../workers/operations/index.ts';
import { explainTemplate } from '../../../workers/plan/explain.ts';
import { templateLanguage } from '../../../workers/plan/plan.ts';
import { mappingSchema } from '../../../workers/template/json-schema.ts';
import { templateReference } from '../../../workers/template/reference.ts';
import { operationSchema, publishedSchema, sectionsSchema } from '../../../workers/template/schema.ts';
import { nearestName } from '../../../workers/values/suggestion.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { problemsOf, sound } from './check-problems.ts';

const OPERATIONS = new URL('../../../../workers/operations/', import.meta.url);

/** A validator as in editors, without the check's own settings. */
function publishedValidator() {
  return new Ajv2020({ discriminator: true, strict: true, strictRequired: false, strictTypes: false }).compile(
    publishedSchema(templateLanguage),
  );
}

test('a name of other languages means one operation, and is not a name of ours', async (t) => {
  const foreign = [...operationTable.values()].flatMap(({ knownAs = [] }) =>
    knownAs.flatMap(({ names }) => names.split(' ')),
  );
  t.ok(foreign.length > 50, `${foreign.length} names`);
  t.equal(new Set(foreign).size, foreign.length, 'each stands once');
  for (const name of foreign) {
    t.notOk(operationTable.has(name), name);
    const [problem] = problemsOf(`format: 1\noperations: [{op: ${name}}]`);
    t.match(problem?.message, / Write the operation \w+[,.]/, name);
  }
});

test('the schemas are valid JSON Schema and say the same as the check', { skip: skipUnlessLong }, async (t) => {
  const ajv = new Ajv2020({ discriminator: true, strict: true, strictRequired: false, strictTypes: false });
  t.ok(ajv.validateSchema(sectionsSchema(templateLanguage)), 'the one of the check');
  for (const name of [...operationTable.keys(), 'use', 'comment']) {
    t.ok(ajv.validateSchema(operationSchema(templateLanguage, name)!), `the one of ${name}`);
  }
  const validate = publishedValidator();
  for (const { name, examples } of operationTable.values()) {
    for (const { operation, title } of examples) {
      const { op, ...parameters } = operation;
      t.ok(validate({ operations: [operation] }), `${name}: ${title}`);
      t.ok(validate({ operations: [{ [op as string]: parameters }] }), `${name}: ${title}, short form`);
      t.notOk(validate({ operations: [{ ...operation, nonsense: 1 }] }), `${name}: a parameter that is not known`);
    }
  }
  t.ok(
    validate({
      fragments: { a: [{ use: { fragment: 'b', with: { x: [1] } } }] },
      operations: [{ op: 'use', fragment: 'a' }],
    }),
  );
  t.notOk(validate({ operations: [{ op: 'nothing' }] }));
});

/** Codes of problems that the check reports for texts in place of typed cells. */
const OF_TYPES: ReadonlySet<string> = new Set(['WRONG_TYPE', 'EXPR_TYPE']);

test('every operation is in the table, the reference and the list of the language, with examples that hold', async (t) => {
  const files = readdirSync(OPERATIONS).filter((name) => name.endsWith('.ts'));
  const defined = files.flatMap((name) => {
    const text = readFileSync(new URL(name, OPERATIONS), 'utf8');
    return /^export const \w+ = defineOperation\(/m.test(text) ? [/^ {2}name: '(\w+)'/m.exec(text)![1]!] : [];
  });
  t.strictSame([...operationTable.keys()].sort(), defined.sort(), 'a file that defines one is in the table');
  const reference = templateReference(templateLanguage);
  const written = [...reference.matchAll(/^```yaml\n(.*?)\n```$/gms)].map(([, text]) => text!);
  for (const [name, { summary, examples, parameters }] of operationTable) {
    t.ok(reference.includes(`\n### ${name}\n\n${summary}`), `${name} is in the reference`);
    t.ok(examples.length > 0, `${name} has examples`);
    for (const [parameter, { description }] of Object.entries(mappingSchema(parameters).properties))
      t.ok(description, `${name}.${parameter} is described`);
    for (const { operation, input, title, tables: texts = {} } of examples) {
      const columns = input.columns.map((column) => ({ name: column }));
      const tables = Object.fromEntries(Object.keys(texts).map((table) => [table, { ref: table }]));
      const text = written.shift()!;
      const { op, ...settings } = operation;
      t.strictSame(parse(text), [{ [String(op)]: settings }], `${name}: ${title}, in the reference`);
      const rest = `input: ${JSON.stringify({ columns })}\ntables: ${JSON.stringify(tables)}`;
      const all = problemsOf(`${rest}\noperations:\n${text}`, 'yaml');
      // Columns of a file are text: in practice, an example on typed columns follows an operation that types them.
      const problems = input.types === undefined ? all : all.filter(({ code }) => !OF_TYPES.has(code));
      t.strictSame(problems, [], `${name}: ${title}`);
    }
  }
});

test('the reference names every function of expressions', async (t) => {
  const reference = templateReference(templateLanguage);
  for (const name of FUNCTIONS.keys()) {
    t.match(reference, new RegExp(`\\b${name.replace('.', '\\.')}\\b`), name);
  }
});

test('what a Template needs and does', async (t) => {
  const explanation = explainTemplate(
    sound(`
input: {columns: [{name: amount, match: [Betrag]}]}
operations:
  - {op: rename, columns: {amount: total}, id: name}
  - {op: dedupe, by: [total, no]}
`),
  );
  t.strictSame(
    explanation.file_columns.map(({ name }) => name),
    ['amount', 'no'],
  );
  t.match(explanation.steps, [
    {
      operation: 'rename',
      id: 'name',
      memory: 'R',
      streams: true,
      columns: [{ name: 'total', type: 'text' }, { name: 'no' }],
    },
    { operation: 'dedupe', streams: true },
  ]);
  t.match(explanation, { streams: true, depends_on_day: false, other_columns: true });
});

test('for each step it is known whether it depends on the day of the Run', async (t) => {
  const rule = (check: string): object => ({ op: 'validate', rules: [{ column: 'd', check, on_error: 'drop_row' }] });
  const steps: readonly (readonly [operation: object, dependsOnDay: boolean])[] = [
    [{ op: 'set', columns: { a: 'date(run.started_at) > date("2026-01-01")' } }, true],
    [{ op: 'set', columns: { a: '"run.started_at"' } }, false],
    [{ op: 'filter', where: 'run.row > 3' }, false],
    [{ op: 'text', columns: ['b'], steps: ['trim'], where: 'd != string(run.started_at)' }, true],
    [{ op: 'map_values', columns: ['b'], map: { not_future: 'x' } }, false],
    [rule('not_future'), true],
    [rule('required'), false],
  ];
  const text = { format: 1, operations: steps.map(([operation]) => operation) };
  const explained = explainTemplate(sound(JSON.stringify(text), 'json'));
  t.strictSame(
    explained.steps.map((step) => step.depends_on_day),
    steps.map(([, dependsOnDay]) => dependsOnDay),
  );
  t.equal(explained.depends_on_day, true);
});

test('suggestions', async (t) => {
  const known = ['amount', 'date', 'value_date', 'columns'];
  t.strictSame(
    ['amout', 'AMOUNT', 'dat', 'valuedate', 'colums', 'xyz', 'a', 'x'.repeat(1000)].map((name) =>
      nearestName(name, known),
    ),
    ['amount', 'amount', 'date', 'value_date', 'columns', null, null, null],
  );
});
