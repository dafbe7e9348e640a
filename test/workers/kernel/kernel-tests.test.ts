// Kernels without a direct test, which calls the kernel itself in this folder. Tests of code that is built on a kernel do not
// count.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';

/** Number of kernels without a direct test. A new kernel needs a test; whenever an old one gets a test, lower the number. */
const UNTESTED_MAX = 5;

test('the number of kernels without a direct test only falls', (t) => {
  const exported = Object.keys(instantiateKernel(compileKernels()).exports);
  const sources = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.test.js') && name !== 'kernel-tests.test.js')
    .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
    .join('\n');
  const isCalled = (name: string): boolean =>
    new RegExp(`\\bexports\\.${name}\\b|\\{[^}]*\\b${name}\\b[^}]*\\} = kernel\\.exports`).test(sources);
  const untested = exported.filter((name) => name !== 'memory' && name !== 'heapStart' && !isCalled(name)).sort();
  t.equal(
    untested.length,
    UNTESTED_MAX,
    `kernels without a direct test: ${untested.join(', ')}. If there are more than before, write a test; if fewer, lower UNTESTED_MAX`,
  );
  t.end();
});
