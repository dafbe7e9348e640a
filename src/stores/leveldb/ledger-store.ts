// The ledger's files: synced, atomic batches in a LevelDB folder that one process owns. It does not know what is counted.
// States: sound → failed (LevelDB takes no more writes; what failed is not seen by readers) → reopening (it may come to
// light, so nobody reads or writes before it is undone) → sound.
import { ClassicLevel } from 'classic-level';
import { StoreUnavailableError } from '../store-unavailable.ts';

/** A process that already owns the folder, or one that was started twice. The message names the folder. */
export class DirectoryInUseError extends Error {
  readonly directory: string;

  constructor(directory: string) {
    super(`${directory} is in use by another process: one node owns a data directory`);
    this.name = 'DirectoryInUseError';
    this.directory = directory;
  }
}

/** The folder cannot be read or written; the message says why. */
export class LedgerOpenError extends Error {
  constructor(directory: string, cause: unknown) {
    super(`${directory} cannot be opened: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.name = 'LedgerOpenError';
  }
}

/** null as a value deletes the key. */
export type LedgerWrites = ReadonlyMap<string, string | null>;

export class LedgerStore {
  #level: ClassicLevel<string, string>;
  /** What undoes the write that failed; null = sound. */
  #undo: LedgerWrites | null = null;
  #reopening = false;
  #settling: Promise<void> | null = null;

  /** Opens or makes the folder. Rejects with DirectoryInUseError when a process has it, else with LedgerOpenError. */
  static async open(directory: string): Promise<LedgerStore> {
    const level = new ClassicLevel<string, string>(directory, { keyEncoding: 'utf8', valueEncoding: 'utf8' });
    try {
      await level.open();
    } catch (fault) {
      const cause = (fault instanceof Error ? fault.cause : undefined) as { code?: string } | undefined;
      if (cause?.code === 'LEVEL_LOCKED') throw new DirectoryInUseError(directory);
      throw new LedgerOpenError(directory, cause ?? fault);
    }
    return new LedgerStore(level);
  }

  private constructor(level: ClassicLevel<string, string>) {
    this.#level = level;
  }

  async get(key: string): Promise<string | undefined> {
    await this.#readable();
    return this.#level.get(key);
  }

  async getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    if (keys.length === 0) return [];
    await this.#readable();
    return this.#level.getMany([...keys]);
  }

  /** At most `max` keys and values with `from` <= key < `to`, in order. */
  async range(from: string, to: string, max: number): Promise<[string, string][]> {
    await this.#readable();
    return this.#level.iterator({ gte: from, lt: to, limit: max }).all();
  }

  /**
   * Writes all or nothing, on the disk before it resolves. When it rejects, `undo` is written before anything else is:
   * LevelDB takes no write after a failed one until it is reopened, and the failed one may still come to light then.
   * One call at a time.
   */
  async writeSynced(writes: LedgerWrites, undo: LedgerWrites): Promise<void> {
    await this.#settle();
    try {
      await this.#batch(writes, true);
    } catch (fault) {
      this.#undo = undo;
      throw new StoreUnavailableError('the ledger', fault);
    }
  }

  /** For what may be lost in a crash: removal of what nobody asks for any more. Left out after a failed write. */
  async write(writes: LedgerWrites): Promise<void> {
    if (this.#undo === null) await this.#batch(writes, false);
  }

  /** False: a write has failed, and nothing was written since. */
  get isSound(): boolean {
    return this.#undo === null;
  }

  /** Tries to be sound again. Rejects with StoreUnavailableError where there is still no room. */
  mend(): Promise<void> {
    return this.#settle();
  }

  close(): Promise<void> {
    return this.#level.close();
  }

  async #readable(): Promise<void> {
    if (this.#reopening) await this.#settle();
  }

  async #settle(): Promise<void> {
    if (this.#undo === null) return;
    this.#settling ??= this.#reopen(this.#undo)
      .catch((fault) => {
        throw new StoreUnavailableError('the ledger', fault);
      })
      .finally(() => {
        this.#settling = null;
      });
    await this.#settling;
  }

  async #reopen(undo: LedgerWrites): Promise<void> {
    this.#reopening = true;
    await this.#level.close();
    await this.#level.open();
    await this.#batch(undo, true);
    this.#undo = null;
    this.#reopening = false;
  }

  #batch(writes: LedgerWrites, sync: boolean): Promise<void> {
    // Given one by one: the library copies the objects of a list, which takes the loop twice as long.
    const batch = this.#level.batch();
    for (const [key, value] of writes) {
      if (value === null) batch.del(key);
      else batch.put(key, value);
    }
    return batch.write({ sync });
  }
}
