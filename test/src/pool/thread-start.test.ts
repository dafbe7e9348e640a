// Threads that are terminated while they load: V8 would abort the process if they were loading an ES module.
// With all tests only: work and memory of large inputs.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { READ_AHEAD_ENTRY, THREAD_ENTRY, WATCH_ENTRY } from '../../../workers/built-files.ts';
import { skipUnlessLong } from '../../sweep.ts';

t.setTimeout(1_200_000);

t.test('threads that are terminated while they load end alone', { skip: skipUnlessLong }, async (t) => {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['dist/test/fixtures/terminate-threads.js'], {
    encoding: 'utf8',
  });
  t.strictSame({ status, signal, stdout, stderr }, { status: 0, signal: null, stdout: '30\n', stderr: '' });
});

t.test('what a thread loads is CommonJS', async (t) => {
  const checks = new URL('checks.cjs', THREAD_ENTRY);
  for (const entry of [THREAD_ENTRY, WATCH_ENTRY, READ_AHEAD_ENTRY, checks]) {
    t.match(entry.pathname, /\.cjs$/);
    const loaded = [...readFileSync(entry, 'utf8').matchAll(/\brequire\("([^"]+)"\)/g)].map(([, id]) => id!);
    t.ok(loaded.length > 0, 'it loads something');
    for (const id of loaded) t.match(id, /^(?:node:\w+|url)$/, `${entry.pathname} loads ${id}`);
  }
});
