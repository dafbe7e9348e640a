// Loads the program's bundles (rolldown.config.mjs) together with the code that V8 compiled from them during the build.
// Without it, each process would compile every function on its first call. Apart from processing the rows, that took
// half the time of a process's first Run.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** Relative to dist/workers. */
const FOLDER = new URL('../bundled/', import.meta.url);

/**
 * Wrapper function of a bundle. `importLibrary` replaces `import(id)` of a library: V8's own import needs a callback,
 * which the runtime provides for scripts only with a warning.
 */
type ModuleFunction = (
  exports: object,
  require: (id: string) => unknown,
  module: object,
  file: string,
  importLibrary: (id: string) => Promise<object>,
) => void;

interface Bundle {
  readonly file: string;
  readonly script: Script;
  readonly exports: object;
}

/** The bundles of one process or thread. Each is loaded once. */
export class Bundles {
  readonly #folder: URL;
  readonly #bundles = new Map<string, Bundle>();

  constructor(folder: URL = FOLDER) {
    this.#folder = folder;
  }

  /** @returns the exports of the bundle with this name */
  load(name: string): object {
    const known = this.#bundles.get(name);
    if (known !== undefined) return known.exports;
    const file = fileURLToPath(new URL(`${name}.cjs`, this.#folder));
    const cache = compiledFile(file);
    const script = new Script(readFileSync(file, 'latin1'), {
      filename: file,
      // V8 rejects code from another version of the runtime or for other flags. The bundle is then compiled as usual.
      ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
    });
    const module = { exports: {} };
    this.#bundles.set(name, { file, script, exports: module.exports });
    const library = createRequire(file);
    const required = (id: string): unknown => {
      const bundle = /^\.\/(.+)\.cjs$/.exec(id)?.[1];
      return bundle === undefined ? library(id) : this.load(bundle);
    };
    (script.runInThisContext() as ModuleFunction)(module.exports, required, module, file, (id) => import(id));
    return module.exports;
  }

  /** True if the bundle was loaded with its stored code. */
  isCompiled(name: string): boolean {
    return this.#bundles.get(name)?.script.cachedDataRejected === false;
  }

  /** Stores the code of all functions called so far, for processes with the same runtime and flags. */
  keepCompiled(): void {
    for (const { file, script } of this.#bundles.values()) {
      writeFileSync(compiledFile(file), script.createCachedData());
    }
  }
}

function compiledFile(file: string): string {
  return `${file}.${cachedDataVersionTag()}.compiled`;
}
