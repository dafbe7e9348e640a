// Bundles the modules of the engine into a few files, which workers/bundles.ts loads. A process or thread then loads the
// engine in 130 ms instead of 450 ms (about 50 ms with V8's code cache) and needs 18 MB less memory. The separate modules
// remain in dist for the tests. `npm run build:bundled` runs this file.
import { readFileSync, rmSync } from 'node:fs';
import { licences } from './workers/bundled/licences.mjs';

/**
 * Libraries that consist of many modules and that every thread needs. Tests use these bundles too. The input is the
 * source, because the output replaces the compiled file: otherwise a second build would bundle the first bundle and would
 * not find the library for the list of licences.
 */
const libraries = {
  input: ['workers/bundled/ajv.ts', 'workers/bundled/type-box.ts'],
  platform: 'node',
  output: { dir: 'dist/workers/bundled', sourcemap: true },
};

/**
 * Turns each bundle into a function, which workers/bundles.ts calls. Also deletes the old code cache: V8 compares only the
 * length of a source text with its cache, so it could use the cache of another text of the same length.
 */
const asFunctions = {
  name: 'as-functions',
  generateBundle({ dir }, files) {
    rmSync(dir, { recursive: true, force: true });
    for (const file of Object.values(files)) {
      const code = file.code.replaceAll(/\bimport\(/g, 'importLibrary(');
      file.code = `(function (exports, require, module, __filename, importLibrary) {${code}\n})`;
    }
  },
};

/**
 * The program of the command, the library, and the code of the threads for Runs, checks and watched Runs. The benchmark
 * bundles its code with the same settings (bench/rolldown.config.mjs). PACKAGE_FOLDER and KERNEL_FILE resolve to the same
 * paths from dist/bundled as from their own modules.
 */
export const program = {
  input: {
    program: 'dist/src/runtime/program.js',
    library: 'dist/src/library/run-template.js',
    thread: 'dist/workers/thread/serve-runs.js',
    checks: 'dist/src/catalog/serve-checks.js',
    watch: 'dist/workers/watch/serve-watch.js',
  },
  platform: 'node',
  plugins: [asFunctions],
  // These libraries load native code or files from their own folders, or threads do not use them.
  external: [/^(busboy|classic-level|pino|piscina|prom-client|uWebSockets\.js)(\/|$)/],
  output: {
    dir: 'dist/bundled',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    // V8 keeps the source text in memory. Comments would enlarge it, and one character outside ASCII would double its size.
    comments: false,
    charset: 'ascii',
  },
};

/** The read-ahead thread. As CommonJS without other code, it starts in 40 ms instead of 60 ms. */
const readAhead = {
  input: 'dist/workers/thread/read-ahead-main.js',
  platform: 'node',
  output: { file: 'dist/workers/read-ahead.cjs', format: 'cjs', sourcemap: true },
};

/**
 * The entry of a thread: CommonJS, because V8 aborts the whole process if a thread is terminated while it instantiates an
 * ES module ("IsGraphAsync must be used on an instantiated module"). All that it loads is CommonJS too.
 * The files are at the first level of dist/workers, as the modules that they contain refer to other files from there.
 */
const entry = (name, input) => ({
  input,
  platform: 'node',
  output: { file: `dist/workers/${name}.cjs`, format: 'cjs', sourcemap: true },
});
const entries = [
  entry('thread', 'dist/workers/thread/main.js'),
  entry('watch', 'dist/workers/watch/main.js'),
  entry('checks', 'dist/src/catalog/check-main.js'),
];

/** A page: its program for browsers, and the files that are copied unchanged. */
const page = (from, to) => ({
  input: { page: `${from}/main.tsx` },
  platform: 'browser',
  transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [
    {
      name: 'page-files',
      buildStart() {
        for (const fileName of ['index.html', 'page.css'])
          this.emitFile({ type: 'asset', fileName, source: readFileSync(`${from}/${fileName}`, 'utf8') });
      },
    },
  ],
  output: { dir: to, format: 'esm', entryFileNames: '[name].js', minify: true, codeSplitting: false },
});
const studio = page('src/studio/page', 'dist/studio');
const console = page('src/pages/console', 'dist/console');

/** The list of the licences of all bundled libraries. */
const listed = licences('dist/LICENCES.md');

export default [libraries, program, readAhead, ...entries, studio, console].map(({ plugins = [], ...bundle }) => ({
  ...bundle,
  plugins: [...plugins, listed],
}));
