// Runs the tests of kernels and operations again, with kernels that check each address (test/fixtures/checked-kernels.ts).
// With all tests only: each load of a kernel takes several times as long.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'tap';
import { partOf } from './sweep.ts';

const DIST = join(import.meta.dirname, '..');

/** All tests that call kernels in the test's process. A shortened check runs only the kernels' own tests. */
const FOLDERS = partOf(['kernel', 'batch', 'input', 'operations', 'output']).map((name) => `dist/test/workers/${name}`);

async function outputOf(args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const env = { ...process.env, TEMPLATE_RUN_ALL_TESTS: '' };
  const child = spawn(process.execPath, args, { cwd: join(DIST, '..'), env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (more) => (text += more));
  const [code] = (await once(child, 'close')) as [number];
  return { code, text };
}

test('a store after the end of the heap fails', async (t) => {
  const preload = pathToFileURL(join(DIST, 'test', 'fixtures', 'checked-kernels.js')).href;
  const program = `
    import { compileKernels, instantiateKernel } from './dist/workers/kernel/bindings/kernel.js';
    import { unlimitedShare } from './dist/workers/memory/budget.js';
    import { Heap } from './dist/workers/memory/heap.js';
    const { memory, exports } = instantiateKernel(compileKernels());
    const heap = new Heap(memory, exports.heapStart(), unlimitedShare(), 1 << 20);
    const words = heap.allocate(64);
    const copyTo = (to) => exports.scatter(words, words, 1, to);
    copyTo(words + 32);
    console.log('inside passes');
    copyTo(heap.end);
  `;
  const { code, text } = await outputOf(['--import', preload, '--input-type=module', '-e', program]);
  t.match(text, /inside passes[\s\S]*a kernel used an address outside the memory/);
  t.not(code, 0);
});

test('no kernel leaves the memory that the Heap has allocated', { timeout: 1_800_000 }, async (t) => {
  const { code, text } = await outputOf([
    join(DIST, 'test', 'run-tests.js'),
    '--checked-kernels',
    '--jobs=2',
    ...FOLDERS,
  ]);
  t.equal(code, 0, text.slice(-20_000));
  t.match(text, /^# \d{3,} passed, 0 failed/m);
});
