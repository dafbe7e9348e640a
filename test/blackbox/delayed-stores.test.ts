// The guarantees of the API also hold with slow stores. Runs the test files on admission, keys, waiting, quota and the
// end of a node, each in its own process, against a service whose stores respond late.
// With all tests only: several nodes, Redis and HAProxy.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { sweep } from '../sweep.ts';

/** The first three delay each step of the admission store. The later ones take minutes. */
const FILES = ['idempotency', 'joined', 'limits', 'wait', 'runs', 'outputs', 'operation'];
const PROGRAM = fileURLToPath(new URL('../fixtures/serve-delayed-stores.js', import.meta.url));

/** A busy machine may take many minutes for each file. */
const FILE_SECONDS_MAX = 1_800;

t.setTimeout(FILE_SECONDS_MAX * 2_000);

for (const file of FILES.slice(0, sweep({ short: 3, long: FILES.length }))) {
  t.test(`${file}, with slow stores`, async (t) => {
    const path = fileURLToPath(new URL(`./${file}.test.js`, import.meta.url));
    const child = spawn(process.execPath, [path], {
      env: { ...process.env, SERVE_PROGRAM: PROGRAM, TAP_TIMEOUT: String(FILE_SECONDS_MAX) },
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
