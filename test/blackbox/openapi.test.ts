// The OpenAPI document against what the service answers, and its examples against its own schemas.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import t from 'tap';
import { type CatalogDescription, PICK, plan, step, template } from './catalog-folder.ts';
import type { Answer } from './client.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const catalog: CatalogDescription = {
  plans: { none: plan({ runs_per_period: 0 }) },
  accounts: {
    acme: {
      templates: {
        pick: PICK,
        numbers: template([step('parse_number', { columns: 'amount', on_error: 'blank' })]),
        strict: template([step('parse_number', { columns: 'amount', on_error: 'fail' })]),
      },
    },
    none: { plan: 'none' },
  },
};
const service = await startService(t, catalog);
const client = service.client();

interface Media {
  readonly schema: object;
  readonly example?: object;
  readonly examples?: Record<string, { value: object }>;
}
interface Operation {
  readonly description?: string;
  readonly responses: Record<string, { content?: Record<string, Media> }>;
  readonly requestBody?: { content: Record<string, Media & { encoding?: object }> };
}
interface RunErrorSchema {
  readonly properties: { readonly code: { readonly enum: readonly string[] } };
  readonly examples: readonly { readonly code: string }[];
}
const { json: document } = await client.get('/api/v1/openapi.json');
const paths = document['paths'] as Record<string, Record<string, Operation>>;

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ ...document, $id: 'document' });

/** The document's references lead to itself. */
function validator(schema: object): ValidateFunction {
  return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object);
}

const mediaOf = (path: string, method: string, status: number): Media =>
  paths[`/api/v1${path}`]![method]!.responses[status]!.content!['application/json']!;

const RUNS = '/templates/{template_id}/runs';

t.test('answers are what the document says, reports included', async (t) => {
  const check = (answer: Answer, path: string, method: string, status: number): void => {
    t.equal(answer.status, status, answer.text.slice(0, 200));
    const valid = validator(mediaOf(path, method, status).schema);
    t.ok(valid(answer.json), JSON.stringify(valid.errors));
  };
  const csv = 'id,amount\n1,2.50\n2,CanaryCell\n';
  const made = await client.upload('numbers', [file(csv)], { key: 'a' });
  check(made, RUNS, 'post', 201);
  t.match(made.json['report'], { operations: [{ errors: { NOT_A_NUMBER: { count: 1 } } }] }, 'a report with errors');
  check(await client.upload('numbers', [file(csv)], { key: 'a' }), RUNS, 'post', 200);
  check(await client.get(`/api/v1/runs/${made.run.id}`), '/runs/{run_id}', 'get', 200);
  const failed = await client.upload('strict', [file(csv)]);
  check(failed, RUNS, 'post', 201);
  t.equal(failed.run.status, 'failed');
  check(await client.upload('pick', [file('id\n1\n')]), RUNS, 'post', 422);
  check(await client.upload('unknown', [file(csv)]), RUNS, 'post', 404);
  check(await service.client('none').upload('pick', [file(csv)]), RUNS, 'post', 402);
  check(await client.get('/api/v1/templates'), '/templates', 'get', 200);
  check(await client.get('/api/v1/usage'), '/usage', 'get', 200);
  check(await service.client('none').get('/api/v1/usage'), '/usage', 'get', 200);
});

t.test('a report that says something else is not what the document says', async (t) => {
  const { report } = (await client.upload('numbers', [file('id,amount\n1,2\n')])).run as { report: object };
  const valid = validator({ $ref: '#/components/schemas/Report' });
  t.ok(valid(report));
  for (const wrong of [{ rows_read: '1' }, { input: {} }, { operations: [{}] }, { tables: { t: 'x' } }]) {
    t.notOk(valid({ ...report, ...wrong }), JSON.stringify(wrong));
  }
});

t.test('each answer in JSON has examples that keep its schema', async (t) => {
  let examples = 0;
  for (const [path, methods] of Object.entries(paths)) {
    for (const { responses } of Object.values(methods)) {
      for (const [status, { content }] of Object.entries(responses)) {
        const media = content?.['application/json'];
        if (media === undefined) continue;
        const shown = [...Object.values(media.examples ?? {}).map(({ value }) => value), media.example ?? []].flat();
        const valid = validator(media.schema);
        for (const example of shown) t.ok(valid(example), `${path} ${status}: ${JSON.stringify(valid.errors)}`);
        examples += shown.length;
      }
    }
  }
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      for (const [status, { content }] of Object.entries(responses)) {
        const media = content?.['application/json'];
        const { allOf } = (media?.schema ?? {}) as {
          allOf?: readonly { properties?: { error?: { enum: string[] } } }[];
        };
        const codes = allOf?.flatMap(({ properties }) => properties?.error?.enum ?? []);
        if (codes === undefined) continue;
        t.strictSame(
          Object.keys(media?.examples ?? {}),
          codes,
          `${method} ${path} ${status}: an example for each code`,
        );
      }
    }
  }
  t.ok(examples > 40, `${examples} examples`);
  const { RunError } = (document['components'] as { schemas: Record<string, RunErrorSchema> }).schemas;
  const valid = validator({ $ref: '#/components/schemas/RunError' });
  for (const example of RunError!.examples) t.ok(valid(example), JSON.stringify(valid.errors));
  const shown = RunError!.examples.map(({ code }) => code);
  t.strictSame(shown, RunError!.properties.code.enum, 'an example for each code of a failed Run');
  for (const status of [200, 201, 202, 402, 422]) t.ok(mediaOf(RUNS, 'post', status).examples, String(status));
});

t.test('licence, the encoding of the form, and no HEAD where there is no GET', async (t) => {
  t.match(document['info'], { license: { name: 'MIT', identifier: 'MIT' } });
  const { encoding } = paths[`/api/v1${RUNS}`]!['post']!.requestBody!.content['multipart/form-data']!;
  t.strictSame(Object.keys(encoding ?? {}), ['file', 'delimiter', 'header_row']);
  t.notMatch(paths[`/api/v1${RUNS}`]!['post']!.description, /HEAD/);
  t.match(paths['/api/v1/runs/{run_id}']!['get']!.description, /HEAD/);
});

t.test('logs', (t) => checkLogs(t, service, [client.key ?? '']));
