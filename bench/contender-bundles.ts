// The bundles that contender processes load: built from the latest build when a measurement starts and they are
// outdated.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Compiled benchmarks are in dist/bench. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export const CONTENDER_BUNDLES = new URL('../bench-bundled/', import.meta.url);

/** Written last: if it is missing, the bundles are incomplete. */
const BUNDLES_DONE = fileURLToPath(new URL('complete', CONTENDER_BUNDLES));
const PRODUCT_BUNDLE = fileURLToPath(new URL('../bundled/program.cjs', import.meta.url));

/**
 * @param flags flags of the processes that load the bundles: V8 rejects a code cache that was created with other flags
 */
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
