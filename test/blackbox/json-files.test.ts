// JSON and NDJSON as uploads: every form, compressed, in other encodings, in one piece and in many; and hostile files.
// With all tests only: files of all formats over HTTP.
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { processorClock } from '../processor-clock.ts';
import { skipUnlessLong } from '../sweep.ts';
import { plan, step, template } from './catalog-folder.ts';
import type { Answer } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { file, form } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const MIB = 1024 * 1024;

/** Maximum processor time for a hostile file. */
const HOSTILE_MILLISECONDS_MAX = 2_000;

const PICKED = { input: { columns: [{ name: 'id' }, { name: 'amount' }], other_columns: 'drop' } };
const service = await startService(t, {
  plans: { starter: plan({ upload_bytes_max: 64 * MIB, rows_max: 1_000_000 }) },
  accounts: {
    acme: {
      templates: {
        all: template([]),
        drop: template([], PICKED),
        flat: template([], { input: { json: { flatten: '.' } } }),
        same: template([], { output: { format: 'ndjson' } }),
        deep: template([], { input: { json: { records: '/data/orders' } } }),
        wanting: template([step('select', { columns: ['id', 'absent'] })]),
      },
    },
  },
});
const acme = service.client();

async function outputOf(answer: Answer): Promise<string> {
  return (await acme.get(`/api/v1/runs/${answer.run.id}/output`)).text;
}

const TABLE = 'id,amount,note\n1,1.50,é\n2,3,\n';
const RECORDS = ['{"id":1,"amount":1.50,"note":"\\u00e9"}', '{"amount":3,"id":2}'];

t.test('every form gives the same table', async (t) => {
  const list = `[${RECORDS.join(',')}]`;
  const files: Readonly<Record<string, string | Buffer>> = {
    NDJSON: RECORDS.join('\n'),
    'with blank lines and a last line end': `\n${RECORDS.join('\n\n')}\r\n`,
    'without line ends': RECORDS.join(''),
    'pretty-printed': JSON.stringify(JSON.parse(list.replace('1.50', '"1.50"')), null, 2),
    'a list': list,
    'a list in an object': `{"count":2,"orders":${list},"next":null}`,
    'a list of lists': '[["id","amount","note"],[1,1.50,"é"],[2,3,null]]',
    'gzip-compressed': gzipSync(list),
    'with a byte order mark': `\ufeff${list}`,
    'UTF-16': Buffer.from(`\ufeff${list}`, 'utf16le'),
    'UTF-16, big endian': Buffer.from(`\ufeff${list}`, 'utf16le').swap16(),
  };
  for (const [name, content] of Object.entries(files)) {
    const answer = await acme.upload('all', [file(content, { filename: 'CanaryName.csv' })]);
    expectRun(t, answer, 201, 'succeeded');
    t.equal(await outputOf(answer), TABLE, name);
  }
});

t.test('columns', async (t) => {
  const late = `${'{"id":1,"amount":2}\n'.repeat(20_000)}{"id":2,"late":"x"}\n`;
  const kept = await acme.upload('all', [file(late)]);
  t.match(await outputOf(kept), /^id,amount,late\n(1,2,\n){20000}2,,x\n$/, 'no key that comes late is lost');
  const dropped = await acme.upload('drop', [file(late)]);
  t.match(await outputOf(dropped), /^id,amount\n(1,2\n){20000}2,\n$/);
  const flat = await acme.upload('flat', [file('{"id":1,"who":{"name":"x","at":{"zip":"01"}}}\n{"who":null,"id":2}')]);
  t.equal(await outputOf(flat), 'id,who.name,who.at.zip\n1,x,01\n2,,\n');
  const deep = await acme.upload('deep', [file('{"data":{"orders":[{"id":"007"}]},"lists":[{"x":1}]}')]);
  t.equal(await outputOf(deep), 'id\n007\n');
  const lacking = await acme.upload('wanting', [file(RECORDS.join('\n'))]);
  expectError(t, lacking, 422, 'TEMPLATE_COLUMNS_MISSING');
  t.strictSame(lacking.json['columns'], ['absent']);
});

t.test('JSON to JSON through an empty Template keeps every kind', async (t) => {
  const rows =
    '{"a":1.50,"b":"1.50","c":true,"d":null,"e":{"f":[1,"x"]}}\n{"a":12345678901234567890,"b":"","c":false,"d":[],"e":1e5}\n';
  const answer = await acme.upload('same', [file(rows)]);
  t.equal(await outputOf(answer), rows.replace('"b":""', '"b":null'));
});

t.test('rows are read behind the upload where the columns are named, and counted to its end', async (t) => {
  const upload = form([file('{"amount":1,"id":2}\n'.repeat(100_000))]);
  const held = acme.hold('drop', upload, 1_500_000);
  held.send(upload.body.subarray(1_500_000));
  const answer = await held.answer;
  expectRun(t, answer, 201, 'succeeded');
  t.equal(answer.run.rows_written, 100_000);
});

t.test('broken ones are refused with line and column, and nothing of them', async (t) => {
  const broken: readonly (readonly [content: string, place: string])[] = [
    ['[{"CanaryKey":"CanaryCell",}]', 'Line 1, column 28'],
    ['{"id":1}\n{"id":CanaryCell}', 'Line 2, column 7'],
    ['[{"id":1},\n{"id":2}', 'Line 2, column 9'],
    [`${'{"id":1,"amount":2}\n'.repeat(50_000)}{"id":1,"Canary`, 'Line 50001, column 16'],
    ['{"a":[{"Canary":1}],"b":[{"Canary":2}]}', 'member 1 (list of objects), member 2 (list of objects)'],
  ];
  for (const [content, place] of broken) {
    for (const name of ['all', 'drop']) {
      const answer = await acme.upload(name, [file(content)]);
      expectError(t, answer, 400, 'MALFORMED_FILE');
      t.ok(String(answer.json['message']).includes(place), place);
      t.notMatch(answer.text, /Canary/);
    }
  }
});

t.test('hostile ones get their answer in time', { skip: skipUnlessLong }, async (t) => {
  const keys = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',');
  const files: Readonly<Record<string, string>> = {
    'a million lists in each other': '['.repeat(1_000_000),
    'a million lists in a cell': `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`,
    'a million objects in each other': '{"a":'.repeat(1_000_000),
    'a million keys in an object': `{${keys}}`,
    'a million keys in a list of objects': `[{"id":1,"amount":2},{${keys}}]`,
    'a string without end': `{"a":"${'x'.repeat(20 * MIB)}`,
    'a number without end': `{"a":${'1'.repeat(20 * MIB)}`,
    'a member without end': `{"a":1,${' '.repeat(20 * MIB)}`,
    'a new key in each record': Array.from({ length: 100_000 }, (_, index) => `{"k${index}":1}`).join('\n'),
  };
  const now = processorClock(service);
  for (const [name, content] of Object.entries(files)) {
    const started = now();
    const answer = await acme.upload('all', [file(content)]);
    const milliseconds = now() - started;
    expectError(t, answer, 400, 'MALFORMED_FILE');
    t.ok(milliseconds < HOSTILE_MILLISECONDS_MAX, `${name}: ${milliseconds} ms, ${answer.json['message']}`);
  }
});

t.test('the report and the log tell the type alone', async (t) => {
  const answer = await acme.upload('all', [file('[["CanaryId"],["CanaryCell","CanaryExtra"]]')]);
  expectRun(t, answer, 201, 'succeeded');
  const { input } = answer.json['report'] as { input: Record<string, unknown> };
  t.match(input, { type: 'json', encoding: 'utf-8', header_row: 0, errors: { RAGGED_ROW: { count: 1, rows: [1] } } });
  await checkLogs(t, service);
});
