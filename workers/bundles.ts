// Loads the program's bundles (rolldown.config.mjs) with what V8 compiled of them when they were built. Else each process
// compiles every function anew at its first call, which was half of what its first Run cost beside the work on the rows.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** From dist/workers. */
const FOLDER = new URL('../bundled/', import.meta.url);

/** The last is what `import(id)` of a library became: V8's own asks the runtime, which has none for scripts without a warning. */
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

/** The bundles of one process or thread, each loaded once. */
export class Bundles {
  readonly #folder: URL;
  readonly #bundles = new Map<string, Bundle>();

  constructor(folder: URL = FOLDER) {
    this.#folder = folder;
  }

  /** @returns what the bundle of this name exports */
  load(name: string): object {
    const known = this.#bundles.get(name);
    if (known !== undefined) return known.exports;
    const file = fileURLToPath(new URL(`${name}.cjs`, this.#folder));
    const cache = compiledFile(file);
    const script = new Script(readFileSync(file, 'latin1'), {
      filename: file,
      // Code of another version of the runtime, or for other flags, is refused, and then compiled as ever.
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

  /** Whether the bundle was loaded with the code that was kept for it. */
  isCompiled(name: string): boolean {
    return this.#bundles.get(name)?.script.cachedDataRejected === false;
  }

  /** Keeps the code of all functions that were called so far, for processes of the same runtime and flags. */
  keepCompiled(): void {
    for (const { file, script } of this.#bundles.values()) {
      writeFileSync(compiledFile(file), script.createCachedData());
    }
  }
}

function compiledFile(file: string): string {
  return `${file}.${cachedDataVersionTag()}.compiled`;
}
