// The files of a studio: the Template, which it writes, and the sample, which another program may change.

import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

// The current state of the studio's sample on disk, which another program may change or remove at any time.

export interface SampleState {
  readonly bytes: number;
  /** Changes when the file changes or is removed. */
  readonly version: string;
}

/** The sample was removed. The table keeps the rows that it already shows. */
export class SampleGoneError extends Error {
  constructor() {
    super('The sample file no longer exists. Put it back, or stop the studio and start it with another file.');
    this.name = 'SampleGoneError';
  }
}

export class SampleFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get state(): SampleState {
    const stats = statSync(this.path, { throwIfNoEntry: false });
    if (stats === undefined) return { bytes: 0, version: 'gone' };
    return { bytes: stats.size, version: `${stats.size}/${stats.mtimeMs}` };
  }

  get isGone(): boolean {
    return !existsSync(this.path);
  }
}

// Reads and writes the Template. Never overwrites a file that another program has
// changed.

export interface StoredTemplate {
  readonly source: string;
  /** Digest of the file's bytes; of an empty file if the file does not exist yet. */
  readonly sha256: string;
  /** False: the file does not exist yet, and the text is an unsaved draft. */
  readonly isStored: boolean;
}

/** The file has changed since it was last read. */
export class TemplateChangedError extends Error {
  readonly stored: StoredTemplate;

  constructor(stored: StoredTemplate) {
    super('The Template was changed by another program since it was read.');
    this.name = 'TemplateChangedError';
    this.stored = stored;
  }
}

/** The Template's file is not UTF-8 text. */
export class TemplateEncodingError extends Error {
  constructor() {
    super('A Template is text in UTF-8; this file is not.');
    this.name = 'TemplateEncodingError';
  }
}

export class TemplateStore {
  readonly #path: string;
  /** Initial text of a Template that does not exist yet. */
  #beginning: string;
  #isDrafting = false;

  constructor(path: string, beginning: string) {
    this.#path = path;
    this.#beginning = beginning;
  }

  /** True while a draft is made, which becomes the initial text. */
  get isDrafting(): boolean {
    return this.#isDrafting;
  }

  /** Takes the initial text when it is ready. */
  async beginWith(draft: Promise<string>): Promise<void> {
    this.#isDrafting = true;
    try {
      this.#beginning = await draft;
    } finally {
      this.#isDrafting = false;
    }
  }

  /** Line ends of the text are LF, as in the page. */
  read(): StoredTemplate {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return { source: this.#beginning, sha256: sha256(Buffer.alloc(0)), isStored: false };
    }
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      return { source: text.replaceAll(CRLF, '\n'), sha256: sha256(bytes), isStored: true };
    } catch {
      throw new TemplateEncodingError();
    }
  }

  /**
   * Writes a text with the line ends of the file.
   * @param before digest of the file as the caller has read it. Throws TemplateChangedError if the file has changed
   * since.
   */
  save(source: string, before: string): StoredTemplate {
    const stored = this.read();
    if (stored.sha256 !== before) throw new TemplateChangedError(stored);
    const bytes = Buffer.from(this.#hasCrlf() ? source.replaceAll('\n', CRLF) : source);
    writeWhole(this.#path, bytes);
    return { source, sha256: sha256(bytes), isStored: true };
  }

  #hasCrlf(): boolean {
    return existsSync(this.#path) && readFileSync(this.#path).includes(CRLF);
  }
}

/** The line end that editors on Windows write. */
const CRLF = '\r\n';

/** Permission bits of a mode, without the file type. */
const PERMISSIONS = 0o777;

/**
 * Writes a temporary file beside the target and renames it, so that no program reads half of the text. A link stays a
 * link, and the file keeps its permissions. Throws a system error if the file must not be written.
 * @param newMode permissions of a file that does not exist yet; default: the process's usual permissions
 */
export function writeWhole(name: string, bytes: Buffer, newMode?: number): void {
  const known = statSync(name, { throwIfNoEntry: false });
  // A rename needs write permission only for the folder, so check the file.
  if (known !== undefined) accessSync(name, constants.W_OK);
  const target = known === undefined ? name : realpathSync(name);
  const temporaryPath = `${target}.${process.pid}.saving`;
  // The temporary file must never be readable by more users than the file itself.
  const mode = known === undefined ? newMode : known.mode & PERMISSIONS;
  try {
    writeFileSync(temporaryPath, bytes, mode === undefined ? {} : { mode });
    // Restores the permission bits that the umask removed.
    if (known !== undefined) chmodSync(temporaryPath, known.mode & PERMISSIONS);
    renameSync(temporaryPath, target);
  } finally {
    rmSync(temporaryPath, { force: true });
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
