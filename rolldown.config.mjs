// Joins modules into few files for workers/bundles.ts: a process or thread then loads the engine in 130 ms instead of 450,
// in some 50 with what V8 compiled before, and keeps 18 MB less for it. The modules stay beside for the tests. Run by
// `build:bundled`.
import { readFileSync, rmSync } from 'node:fs';
import { licences } from './workers/bundled/licences.mjs';

/** Libraries of many modules that every thread needs: also tests, which load modules one by one. */
const libraries = {
  input: ['dist/workers/bundled/ajv.js', 'dist/workers/bundled/type-box.js'],
  platform: 'node',
  output: { dir: 'dist/workers/bundled', sourcemap: true },
};

/** What workers/bundles.ts loads: functions. Of a text V8 looks at no more than the length, so what it kept must go. */
const asFunctions = {
  name: 'as-functions',
  generateBundle({ dir }, files) {
    rmSync(dir, { recursive: true, force: true });
    for (const file of Object.values(files)) {
      const code = file.code.replaceAll('import("', 'importLibrary("');
      file.code = `(function (exports, require, module, __filename, importLibrary) {${code}\n})`;
    }
  },
};

/**
 * The executable's program, what the package is as a library, and what threads do: those of Runs, of checks, and of Runs that
 * are watched. The benchmark bundles what it measures by the same settings (bench/rolldown.config.mjs).
 * PACKAGE_FOLDER and KERNEL_FILE lead to the same places from dist/bundled as from where they stood.
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
  // They load native code or files of their own from where they lie, or are of no use to a thread.
  external: [/^(busboy|classic-level|pino|piscina|prom-client|uWebSockets\.js)(\/|$)/],
  output: {
    dir: 'dist/bundled',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    // Comments would be kept in memory with the text, and one character outside ASCII would double it.
    comments: false,
    charset: 'ascii',
  },
};

/** A thread that reads ahead: of nothing but its own code, as CommonJS, it starts in 40 instead of 60 ms. */
const readAhead = {
  input: 'dist/workers/thread/read-ahead-main.js',
  platform: 'node',
  output: { file: 'dist/workers/read-ahead.cjs', format: 'cjs', sourcemap: true },
};

/** A page: its program for browsers, and beside it the files that need no work. */
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

/** One list of all that goes into the bundles. */
const listed = licences('dist/LICENCES.md');

export default [libraries, program, readAhead, studio, console].map(({ plugins = [], ...bundle }) => ({
  ...bundle,
  plugins: [...plugins, listed],
}));
