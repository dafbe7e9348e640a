// Large uploads that several threads process in parts: the responses are those of a service with one thread for each
// Run, other Runs get their turn, and nothing remains of an upload that ends early.
import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { plan, step, template } from './catalog-folder.ts';
import { type Answer, type Client, until } from './client.ts';
import { expectRun } from './expect.ts';
import { file, form } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const ROWS = 500_000;
/** Uploads of the same file until further threads took part: on a busy machine one thread may be done before another begins. */
const UPLOADS_MAX = 30;

/** Slow enough that one thread does not keep up with the upload. */
const CHANGED = [
  ...Array.from({ length: 4 }, () => step('set', { columns: { note: 'replace_re(note, "(m+)ore?", "$1ore")' } })),
  step('set', { columns: { name: 'name.upperAscii()' } }),
  step('parse_number', { columns: ['amount'], on_error: 'flag' }),
];
const templates = {
  changed: template(CHANGED),
  rejecting: template([step('parse_number', { columns: ['amount'], on_error: 'reject' })]),
  failing: template([step('parse_number', { columns: ['amount'], on_error: 'fail' })]),
};
const catalog = {
  plans: { rows: plan({ rows_max: ROWS - 1 }), few: plan({ output_rows_max: 1000 }) },
  accounts: {
    acme: { templates },
    rows: { plan: 'rows', templates },
    few: { plan: 'few', templates },
    other: { templates: { all: template([]) } },
  },
};
// While an upload arrives, one of the cores is for the main thread.
const shared = await startService(t, catalog, { workers: 3 });
const alone = await startService(t, catalog, { workers: 2, 'run-threads': 1 });

/** 34 MB; one row with a number that is none, and quoted line breaks. */
function textOf(quoted: (row: number) => boolean): string {
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const name = quoted(row) ? '"CanaryCell\nof two lines"' : `CanaryCell with a long name, number ${row % 977}`;
    return `${row},${quoted(row) ? name : `"${name}"`},${row === ROWS - 9 ? 'x' : row / 8},some more text`;
  });
  return `id,name,amount,note\n${rows.join('\n')}\n`;
}
const PLAIN = textOf(() => false);
const RARE = textOf((row) => row % 9973 === 5);
const OFTEN = textOf((row) => row % 3 === 1);

/** What an answer says of the Run and its output, without what differs between Runs. */
async function seen(client: Client, { status, run }: Answer): Promise<object> {
  const { report, error, rows_written, truncated } = run;
  const digests: Record<string, string> = {};
  for (const name of ['output', 'rejects'] as const) {
    const answer = await client.get(`/api/v1/runs/${run.id}/${name}`);
    digests[name] = `${answer.status} ${createHash('sha256')
      .update(answer.status === 200 ? answer.text : '')
      .digest('hex')}`;
  }
  return { status, runStatus: run.status, report, error, rows_written, truncated, digests };
}

async function compare(t: Test, account: string, name: keyof typeof templates, text: string): Promise<void> {
  const upload = form([file(text)]);
  const clients = [shared.client(account), alone.client(account)] as const;
  const [divided, whole] = await Promise.all(
    clients.map(async (client) => seen(client, await client.upload(name, upload))),
  );
  t.strictSame(divided, whole);
}

const threadsOf = (run: string): unknown =>
  shared.events.find((event) => event.run === run && event.run_status !== undefined)?.threads;

t.test('several threads process a large upload', async (t) => {
  const client = shared.client();
  const upload = form([file(PLAIN)]);
  let threads: unknown = 0;
  for (let uploads = 0; uploads < UPLOADS_MAX && !(Number(threads) >= 2); uploads++) {
    const answer = await client.upload('changed', upload);
    expectRun(t, answer, 201, 'succeeded');
    threads = await until(
      async () => threadsOf(answer.run.id),
      (known) => known !== undefined,
    );
  }
  t.ok(Number(threads) >= 2, `${threads} threads`);
});

for (const [name, text] of Object.entries({ PLAIN, RARE, OFTEN })) {
  t.test(`output and report are those of one thread: ${name}`, (t) => compare(t, 'acme', 'changed', text));
}
t.test('rejected rows', (t) => compare(t, 'acme', 'rejecting', PLAIN));
t.test('a row error that ends the Run', (t) => compare(t, 'acme', 'failing', PLAIN));
t.test('a file that is broken at its end', (t) => compare(t, 'acme', 'changed', `${PLAIN}1,"open`));
t.test('more rows than the plan allows', (t) => compare(t, 'rows', 'changed', PLAIN));
t.test('a truncated output', (t) => compare(t, 'few', 'changed', PLAIN));

t.test('a small Run of another account gets its turn beside an upload that stops', async (t) => {
  const upload = form([file(PLAIN)]);
  const held = await shared.letIn(() => shared.client().hold('changed', upload, upload.body.length - 3_000_000));
  const small = shared.client('other');
  for (let run = 0; run < 20; run++) {
    expectRun(t, await small.upload('all', [file(`a\n${'CanaryCell\n'.repeat(run * 4_000)}`)]), 201, 'succeeded');
  }
  t.notOk(held.answered());
  expectRun(t, await held.finish(), 201, 'succeeded');
});

t.test('nothing remains of an upload whose client leaves', async (t) => {
  const upload = form([file(PLAIN)]);
  const held = await shared.letIn(() => shared.client().hold('changed', upload, upload.body.length - 3_000_000));
  held.answer.catch(() => undefined);
  held.vanish();
  const reserved = await until(
    () => shared.metric('template_run_budget_held_bytes{charge="reservations"}'),
    (bytes) => bytes === 0,
  );
  t.equal(reserved, 0);
});

t.test('the logs', async (t) => {
  await checkLogs(t, shared);
  await checkLogs(t, alone);
});
