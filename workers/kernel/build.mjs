// Compiles the AssemblyScript kernels into dist/workers/kernel/kernel.wasm. The memory is imported: each Run
// brings its own, so that the budget decides how large it may grow.
import { mkdirSync } from 'node:fs';
import asc from 'assemblyscript/asc';

const output = 'dist/workers/kernel/kernel.wasm';
mkdirSync('dist/workers/kernel', { recursive: true });
const { error, stderr } = await asc.main([
  'workers/kernel/assembly/index.ts',
  ...['--outFile', output, '--runtime', 'stub', '-O3', '--converge', '--noAssert'],
  ...['--enable', 'simd', '--enable', 'bulk-memory', '--importMemory'],
  ...['--initialMemory', '1', '--maximumMemory', '65536'],
]);
if (error) {
  process.stderr.write(stderr.toString());
  process.exit(1);
}
