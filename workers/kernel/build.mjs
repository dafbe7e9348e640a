// Compiles the AssemblyScript kernels into dist/workers/kernel: kernel.wasm, whose memory is imported, so that each Run
// brings its own and the budget decides how large it may grow; and read-ahead.wasm, which reads ahead in shared memory.
// What they export is declared in bindings/exports.ts, which is written here from what was compiled: a call of a kernel
// that is not there, or with other parameters, does not compile.
import { mkdirSync, writeFileSync } from 'node:fs';
import asc from 'assemblyscript/asc';

const SOURCES = 'workers/kernel/assembly';
const COMPILED = 'dist/workers/kernel';
const DECLARATIONS = 'workers/kernel/bindings/exports.ts';

const HEAD = `// What the kernels export, and in which file of assembly/ each is written and described. Made by workers/kernel/build.mjs from
// the compiled modules, and not in the repository. Addresses are absolute; what is u32 or an address there comes back as a
// signed number (\`>>> 0\` makes it what it was).
`;

/** In pages of 64 KiB, the most that there can be: whoever brings a memory says how large that one may grow. */
const MEMORY_LIMITS = ['--initialMemory', '1', '--maximumMemory', '65536'];

mkdirSync(COMPILED, { recursive: true });
const modules = [
  await compile('index', 'kernel', []),
  await compile('read-ahead', 'read-ahead', ['--sharedMemory', '--enable', 'threads']),
];
const [kernel, readAhead] = modules.map(declarations);
writeFileSync(
  DECLARATIONS,
  `${HEAD}\nexport type KernelExports = {\n${kernel}};\n\nexport type ReadAheadExports = {\n${readAhead}};\n`,
);

/** Writes the module; gives it and the compiler's own declarations of what it exports. */
async function compile(entry, name, memory) {
  const written = new Map();
  const { error, stderr } = await asc.main(
    [
      `${SOURCES}/${entry}.ts`,
      ...['--outFile', `${name}.wasm`, '--bindings', 'raw', '--runtime', 'stub', '-O3', '--converge', '--noAssert'],
      ...['--enable', 'simd', '--enable', 'bulk-memory', '--importMemory', ...MEMORY_LIMITS, ...memory],
    ],
    { writeFile: (file, contents) => written.set(file, contents) },
  );
  if (error) {
    process.stderr.write(stderr.toString());
    process.exit(1);
  }
  const wasm = written.get(`${name}.wasm`);
  writeFileSync(`${COMPILED}/${name}.wasm`, wasm);
  return { wasm, declared: written.get(`${name}.d.ts`) };
}

/** The lines of an interface: the functions of one file stand together, behind its name. */
function declarations({ wasm, declared }) {
  const found = [...declared.matchAll(/^ {3}\* (\S+)\/(\w+)$[^/]*\*\/\n {2}export function \2(\(.*\): \w+;)$/gm)];
  const exported = WebAssembly.Module.exports(new WebAssembly.Module(wasm)).map(({ name }) => name);
  const missed = exported.filter((name) => name !== 'memory' && !found.some(([, , other]) => other === name));
  if (missed.length > 0) throw new Error(`the compiler's declarations do not tell of ${missed.join(', ')}`);
  let file = '';
  return found
    .sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, path, name, signature]) => {
      const head = path === file ? '' : `  // ${path.replace('workers/kernel/', '')}.ts\n`;
      file = path;
      return `${head}  ${name}${signature}\n`;
    })
    .join('');
}
