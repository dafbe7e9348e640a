// The texts of pages while they are not saved. They survive the end of the command, a closed page and a lost browser. Each page
// has a file of its own, and a file is only overwritten or removed while it has the content that its page wrote last. Two
// windows, or two studios, on one Template therefore never replace each other's text.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RecoveredText } from './studio-answers.ts';
import { writeWhole } from './template-store.ts';

/** Permissions of a recovery file: only its owner can read it. */
const RECOVERY_MODE = 0o600;

/** Files of one Template: more than a person has windows. */
const FILES_MAX = 20;

/** No file could be made, so the text is not kept. */
export class RecoveryRefusedError extends Error {
  constructor(name: string) {
    super(
      `${name} and ${FILES_MAX - 1} more such files exist, so the unsaved text is not kept. Restore or delete them.`,
    );
    this.name = 'RecoveryRefusedError';
  }
}

interface Held {
  readonly path: string;
  /** What the page wrote last. */
  readonly text: string;
}

/** The hidden files `.NAME.unsaved`, `.NAME.2.unsaved` and so on beside the Template. A catalog ignores hidden files. */
export class RecoveryFiles {
  readonly #templatePath: string;
  readonly #paths: readonly string[];
  /** By page. */
  readonly #held = new Map<string, Held>();

  constructor(templatePath: string) {
    this.#templatePath = templatePath;
    const name = basename(templatePath);
    this.#paths = Array.from({ length: FILES_MAX }, (_, index) =>
      join(dirname(templatePath), `.${name}${index === 0 ? '' : `.${index + 1}`}.unsaved`),
    );
  }

  /**
   * The newest text of another page; null: none.
   * @param stored the text of the Template now, which needs no recovery
   * @param seen names of files that the page has decided about
   */
  offered(page: string, stored: string, seen: readonly string[]): RecoveredText | null {
    const own = this.#held.get(page)?.path;
    const templateAt = statSync(this.#templatePath, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const isHeld = (path: string): boolean => [...this.#held.values()].some((held) => held.path === path);
    const offers = this.#paths
      .filter((path) => path !== own && !seen.includes(basename(path)))
      .flatMap((path): RecoveredText[] => {
        const source = textOf(path);
        const writtenAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
        if (source === null || source === stored || writtenAt === undefined) return [];
        const isTemplateNewer = templateAt > writtenAt;
        return [{ name: basename(path), source, writtenAt, isTemplateNewer, mayBeOpen: isHeld(path) }];
      });
    return offers.sort((one, other) => other.writtenAt - one.writtenAt)[0] ?? null;
  }

  /** The page takes over a file whose text it has restored, unless the file has another text meanwhile. */
  take(page: string, name: string, text: string): void {
    const path = this.#pathOf(name);
    if (path === null || textOf(path) !== text) return;
    this.remove(page);
    for (const [other, held] of this.#held) if (held.path === path) this.#held.delete(other);
    this.#held.set(page, { path, text });
  }

  /** Removes a file that is not needed, unless its text has changed meanwhile. */
  drop(name: string, text: string): void {
    const path = this.#pathOf(name);
    if (path !== null && textOf(path) === text) rmSync(path, { force: true });
  }

  /** Throws RecoveryRefusedError, or a system error if the folder cannot be written. */
  write(page: string, text: string): void {
    const held = this.#held.get(page);
    if (held === undefined || textOf(held.path) !== held.text)
      this.#held.set(page, { path: this.#newFile(text), text });
    else if (held.text !== text) {
      writeWhole(held.path, Buffer.from(text), RECOVERY_MODE);
      this.#held.set(page, { path: held.path, text });
    }
  }

  /** The text of the page needs no recovery any more. */
  remove(page: string): void {
    const held = this.#held.get(page);
    this.#held.delete(page);
    if (held !== undefined && textOf(held.path) === held.text) rmSync(held.path, { force: true });
  }

  /** Another process may make the same file at the same time, so the file must not exist. */
  #newFile(text: string): string {
    for (const path of this.#paths) {
      try {
        writeFileSync(path, text, { flag: 'wx', mode: RECOVERY_MODE });
        return path;
      } catch (error) {
        if (!['EEXIST', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      }
    }
    throw new RecoveryRefusedError(basename(this.#paths[0]!));
  }

  /** Null: the name is not that of a recovery file. */
  #pathOf(name: string): string | null {
    return this.#paths.find((path) => basename(path) === name) ?? null;
  }
}

/** Null: the file does not exist or cannot be read. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
