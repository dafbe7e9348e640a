// Compiles the AssemblyScript kernels into dist/workers/kernel: kernel.wasm, whose memory is imported, so that each Run
// brings its own and the budget decides how large it may grow; and scout.wasm, which reads ahead in shared memory.
import { mkdirSync } from 'node:fs';
import asc from 'assemblyscript/asc';

const folder = 'dist/workers/kernel';
mkdirSync(folder, { recursive: true });
await compile('index', 'kernel', ['--maximumMemory', '65536']);
// As large as SLOT_PAGES (workers/input/scout/scout-memory.ts).
await compile('scout', 'scout', ['--maximumMemory', '128', '--sharedMemory', '--enable', 'threads']);

async function compile(entry, name, memory) {
  const { error, stderr } = await asc.main([
    `workers/kernel/assembly/${entry}.ts`,
    ...['--outFile', `${folder}/${name}.wasm`, '--runtime', 'stub', '-O3', '--converge', '--noAssert'],
    ...['--enable', 'simd', '--enable', 'bulk-memory', '--importMemory', '--initialMemory', '1', ...memory],
  ]);
  if (!error) return;
  process.stderr.write(stderr.toString());
  process.exit(1);
}
