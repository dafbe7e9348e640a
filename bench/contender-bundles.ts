// Owns the bundles that contender processes run: made from what was built last, when somebody measures and they are older.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Compiled benchmarks lie in dist/bench. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export const CONTENDER_BUNDLES = new URL('../bench-bundled/', import.meta.url);

/** Written last: without it the bundles are not complete. */
const BUNDLES_DONE = fileURLToPath(new URL('complete', CONTENDER_BUNDLES));
const PRODUCT_BUNDLE = fileURLToPath(new URL('../bundled/program.cjs', import.meta.url));

/** @param flags of the processes that load the bundles: V8 takes no code that was compiled for other ones */
export function makeContenderBundles(flags: readonly string[]): void {
  if (existsSync(BUNDLES_DONE) && statSync(BUNDLES_DONE).mtimeMs > statSync(PRODUCT_BUNDLE).mtimeMs) return;
  const rolldown = join(dirname(createRequire(import.meta.url).resolve('rolldown/package.json')), 'bin/cli.mjs');
  run([rolldown, '-c', 'bench/rolldown.config.mjs']);
  const folder = fileURLToPath(CONTENDER_BUNDLES);
  run([...flags, 'workers/bundled/keep-compiled.mjs', folder, 'thread', 'checks', 'measured-run']);
  writeFileSync(BUNDLES_DONE, '');
}

function run(args: readonly string[]): void {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${signal ?? status}: ${stdout}${stderr}`);
}
