// The one file that a studio writes: its Template. A file that another program has changed is never written over.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

export interface StoredTemplate {
  readonly source: string;
  /** Of the bytes; of nothing where there is no file yet. */
  readonly sha256: string;
}

/** The file is not what it was when it was read last. */
export class TemplateChangedError extends Error {
  readonly stored: StoredTemplate;

  constructor(stored: StoredTemplate) {
    super('The Template was changed by another program since it was read.');
    this.name = 'TemplateChangedError';
    this.stored = stored;
  }
}

/** The Template's file is no text in UTF-8. */
export class TemplateEncodingError extends Error {
  constructor() {
    super('A Template is text in UTF-8; this file is not.');
    this.name = 'TemplateEncodingError';
  }
}

export class TemplateStore {
  readonly #path: string;
  /** What a Template begins with that is not there yet. */
  readonly #beginning: string;

  constructor(path: string, beginning: string) {
    this.#path = path;
    this.#beginning = beginning;
  }

  read(): StoredTemplate {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return { source: this.#beginning, sha256: sha256(Buffer.alloc(0)) };
    }
    try {
      return { source: new TextDecoder('utf-8', { fatal: true }).decode(bytes), sha256: sha256(bytes) };
    } catch {
      throw new TemplateEncodingError();
    }
  }

  /** @param before the hash of what the caller has read. Throws TemplateChangedError where the file is another one by now. */
  save(source: string, before: string): StoredTemplate {
    const stored = this.read();
    if (stored.sha256 !== before) throw new TemplateChangedError(stored);
    const bytes = Buffer.from(source);
    // Beside it and then in its place, so that nobody reads half a Template.
    const aside = `${this.#path}.${process.pid}.saving`;
    const mode = statSync(this.#path, { throwIfNoEntry: false })?.mode;
    try {
      writeFileSync(aside, bytes, mode === undefined ? {} : { mode });
      renameSync(aside, this.#path);
    } finally {
      rmSync(aside, { force: true });
    }
    return { source, sha256: sha256(bytes) };
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
