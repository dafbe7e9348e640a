// Loads the libraries that the benchmark compares with from bench/peers, where `npm run bench:setup` puts them.
import { createRequire } from 'node:module';
import { PACKAGE_FOLDER } from '../../src/package-folder.ts';

/** They are installed apart: the project itself stays small. */
const require = createRequire(new URL('bench/peers/package.json', PACKAGE_FOLDER));

/** The library, or null where the peers were not set up. */
export function peer<Library>(name: string): Library | null {
  try {
    return require(name) as Library;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

/** As `peer`, for a contender that runs: its absence is an error. */
export function requiredPeer<Library>(name: string): Library {
  const library = peer<Library>(name);
  if (library === null) throw new Error(`${name} is not installed: npm run bench:setup`);
  return library;
}
