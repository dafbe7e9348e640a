// The runner of the tests.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'tap';

test('the runner ends although a test has left a process behind', async (t) => {
  const folder = t.testdir({
    'left.test.js': `
      import { spawn } from 'node:child_process';
      import { writeFileSync } from 'node:fs';
      import { test } from 'tap';
      test('leaves a process', async (t) => {
        const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 2 ** 30)'], { stdio: ['ignore', 'ignore', 'inherit'] });
        writeFileSync(new URL('id', import.meta.url), String(child.pid));
        child.unref();
        t.pass();
      });`,
  });
  const runner = join(import.meta.dirname, 'run-tests.js');
  const { status, stdout } = spawnSync(process.execPath, [runner, relative('', join(folder, 'left.test.js'))], {
    encoding: 'utf8',
  });
  const id = Number(readFileSync(join(folder, 'id'), 'utf8'));
  t.ok(process.kill(id, 'SIGKILL'), 'it was still there');
  t.match(stdout, '1 passed, 0 failed');
  t.equal(status, 0);
});
