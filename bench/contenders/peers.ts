// Loads the libraries used for comparison from bench/peers, where `npm run bench:setup` installs them.
import { createRequire } from 'node:module';
import { PACKAGE_FOLDER } from '../../src/package-folder.ts';

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
