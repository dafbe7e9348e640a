// Loads the libraries used for comparison from bench/peers, where `npm run bench:setup` installs them.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../../src/package-folder.ts';

/** Contenders whose versions the results name. Miller is a program of the system. */
const NAMED = {
  DuckDB: '@duckdb/node-api',
  Polars: 'nodejs-polars',
  uDSV: 'udsv',
  papaparse: 'papaparse',
  'csv-parse': 'csv-parse',
  Fastify: 'fastify',
  Piscina: 'piscina',
} as const;

/** Installed separately, so that the project itself stays small. */
const require = createRequire(new URL('bench/peers/package.json', PACKAGE_FOLDER));

/** Returns the library, or null if the peers are not installed. */
export function peer<Library>(name: string): Library | null {
  try {
    return require(name) as Library;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

/** Same as `peer`, for a contender that runs: throws if the library is missing. */
export function requiredPeer<Library>(name: string): Library {
  const library = peer<Library>(name);
  if (library === null) throw new Error(`${name} is not installed: npm run bench:setup`);
  return library;
}

/** Returns the name and the version of each contender that is installed. */
export function peerVersions(): readonly string[] {
  const libraries = Object.entries(NAMED).flatMap(([name, library]) => {
    const version = versionOf(library);
    return version === null ? [] : [`${name} ${version}`];
  });
  const { error, stdout } = spawnSync('mlr', ['--version'], { encoding: 'utf8' });
  return error === undefined ? [...libraries, `Miller ${stdout.trim().replace(/^mlr (?:version )?/, '')}`] : libraries;
}

/** Some libraries do not export their package.json, so it is read as a file. */
function versionOf(library: string): string | null {
  const folders = require.resolve.paths(library) ?? [];
  for (const folder of folders) {
    try {
      const text = readFileSync(join(folder, library, 'package.json'), 'utf8');
      return (JSON.parse(text) as { readonly version: string }).version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return null;
}
