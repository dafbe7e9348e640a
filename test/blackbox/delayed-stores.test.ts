// What the API promises holds with stores that answer later too: the cases of admission, keys, waiting, quota and the end of
// a node, each file in a process of its own against a service whose stores are slow.
// With all tests only: several nodes, Redis and HAProxy.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { sweep } from '../sweep.ts';

/** The first three hold each step of the desk; those behind them take minutes. */
const FILES = ['idempotency', 'joined', 'limits', 'wait', 'runs', 'outputs', 'operation'];
const PROGRAM = fileURLToPath(new URL('../fixtures/serve-delayed-stores.js', import.meta.url));

t.setTimeout(600_000);

for (const file of FILES.slice(0, sweep({ short: 3, long: FILES.length }))) {
  t.test(`${file}, with slow stores`, async (t) => {
    const path = fileURLToPath(new URL(`./${file}.test.js`, import.meta.url));
    const child = spawn(process.execPath, [path], {
      env: { ...process.env, SERVE_PROGRAM: PROGRAM },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const [code] = await once(child, 'close');
    t.equal(code, 0, output.match(/^ *not ok .*/gm)?.join('\n') ?? output.slice(-2000));
    t.match(output, /^ *ok \d+/m, 'there were cases');
  });
}
