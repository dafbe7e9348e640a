// Rows that a Template rejects: a second file of the Run, with a separate download, by the service and by `run`.
// With all tests only: files of all formats over HTTP.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { ALL_SCOPES, step, template } from './catalog-folder.ts';
import { expectError, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { COMMAND, checkLogs, startService } from './service.ts';

const parse = (onError: string) => template([step('parse_number', { columns: 'n', on_error: onError })]);
const service = await startService(t, {
  accounts: {
    acme: {
      keys: { full: { scopes: ALL_SCOPES } },
      templates: { apart: parse('reject'), gone: parse('drop_row') },
    },
  },
});
const acme = service.client();

const ROWS = 'n,x\n1,a\nCanary,b\n3,c\n';
const REJECTS = '_row,_operation,_column,_code,n,x\n2,1 parse_number,n,NOT_A_NUMBER,Canary,b\n';

t.test('a Run tells of its rejected rows, and gives them', async (t) => {
  const answer = await acme.upload('apart', [file(ROWS)]);
  expectRun(t, answer, 201, 'succeeded');
  const { id, rejects, output } = answer.run;
  t.match(answer.run, { rows_written: 2, report: { rejects: { rows: 1, size_bytes: REJECTS.length } } });
  t.match(rejects, { mime_type: 'text/csv', size_bytes: REJECTS.length, name: /-rejects\.csv$/ });
  t.equal(new URL(rejects!.download_url).pathname, `/api/v1/runs/${id}/rejects`);
  t.equal((await acme.get(`/api/v1/runs/${id}/output`)).text, 'n,x\n1,a\n3,c\n');
  const download = await acme.get(`/api/v1/runs/${id}/rejects`);
  t.equal(download.text, REJECTS);
  t.match(download.headers['content-disposition'], rejects!.name);
  t.not(download.headers['etag'], (await acme.get(`/api/v1/runs/${id}/output`)).headers['etag'], 'another file');
  const part = await acme.get(`/api/v1/runs/${id}/rejects`, { range: 'bytes=0-3' });
  t.same([part.status, part.text], [206, '_row']);
  t.same((await acme.get(`/api/v1/runs/${id}`)).run, answer.run);
  t.ok(output);
});

t.test('files too large for memory', async (t) => {
  const answer = await acme.upload('apart', [file(`n,x\n${'Canary,b\n'.repeat(9_000)}1,${'y'.repeat(100_000)}\n`)]);
  t.match(answer.run.report, { rejects: { rows: 9_000 } });
  const { text } = await acme.get(`/api/v1/runs/${answer.run.id}/rejects`);
  t.equal(text.split('\n').length, 9_002);
  t.ok(text.endsWith('9000,1 parse_number,n,NOT_A_NUMBER,Canary,b\n'));
});

t.test('a Template that rejects nothing has no such file', async (t) => {
  const { run } = await acme.upload('gone', [file(ROWS)]);
  t.equal(run.rejects, undefined);
  expectError(t, await acme.get(`/api/v1/runs/${run.id}/rejects`), 404, 'RUN_NOT_FOUND');
});

t.test('run --rejects', { skip: skipUnlessLong }, async (t) => {
  const folder = t.testdir({
    'apart.json': JSON.stringify(parse('reject')),
    'rows.csv': ROWS,
    'more.csv': ROWS,
    'good.csv': 'n,x\n1,a\n',
  });
  const at = (name: string): string => join(folder, name);
  const run = (...args: string[]) =>
    new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [COMMAND, 'run', at('apart.json'), ...args], (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  t.match((await run(at('rows.csv'))).stderr, /rejected and left out: --rejects FILE keeps them/);
  t.match((await run(at('good.csv'))).stderr, / 0 rows rejected\n/);
  const one = await run(at('rows.csv'), '--rejects', at('bad.csv'));
  t.match(one.stderr, /rows? rejected\n/);
  t.match(one, { status: 0, stdout: 'n,x\n1,a\n3,c\n', stderr: '1 row rejected' });
  t.equal(readFileSync(at('bad.csv'), 'utf8'), REJECTS);
  const two = await run(at('rows.csv'), at('more.csv'), '-o', at('good/'), '--rejects', at('bad/'));
  t.equal(two.status, 0);
  for (const name of ['rows', 'more']) t.equal(readFileSync(at(`bad/${name}.csv`), 'utf8'), REJECTS);
  const same = await run(at('rows.csv'), '-o', at('both.csv'), '--rejects', at('both.csv'));
  t.match(same, { status: 2, stderr: 'would both be written' });
  t.notOk(existsSync(at('both.csv')));
  t.match(await run(at('rows.csv'), '--rejects', at('rows.csv')), { status: 2, stderr: 'is not overwritten' });
  const printed = await run(at('rows.csv'), '-o', at('good.csv'), '--rejects', '-');
  t.match(printed, { status: 0, stdout: REJECTS, stderr: '1 row rejected' });
  t.equal(readFileSync(at('good.csv'), 'utf8'), 'n,x\n1,a\n3,c\n');
  t.match(await run(at('rows.csv'), '--rejects', '-'), {
    status: 2,
    stderr: 'written to standard output: write -o FILE',
  });
  const several = await run(at('rows.csv'), at('more.csv'), '-o', at('good/'), '--rejects', '-');
  t.match(several, { status: 2, stderr: 'need a folder: write --rejects DIR' });
});

t.test('logs', (t) => checkLogs(t, service));
