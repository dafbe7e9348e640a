// The ledger's files: synced, atomic batches in a LevelDB folder that one process owns. It does not know what is counted.
// States: sound → unsettled (a write failed and may or may not be on the disk) → sound (reopened, the write undone).
import { ClassicLevel } from 'classic-level';

/** A process that already owns the folder, or one that was started twice. The message names the folder. */
export class DirectoryInUseError extends Error {
  readonly directory: string;

  constructor(directory: string) {
    super(`${directory} is in use by another process: one node owns a data directory`);
    this.name = 'DirectoryInUseError';
    this.directory = directory;
  }
}

/** null as a value deletes the key. */
export type LedgerWrites = ReadonlyMap<string, string | null>;

export class LedgerStore {
  #level: ClassicLevel<string, string>;
  #unsettled: LedgerWrites | null = null;

  /** Opens or makes the folder. Rejects with DirectoryInUseError when a process has it, else with the file system's error. */
  static async open(directory: string): Promise<LedgerStore> {
    const level = new ClassicLevel<string, string>(directory, { keyEncoding: 'utf8', valueEncoding: 'utf8' });
    try {
      await level.open();
    } catch (fault) {
      const cause = fault instanceof Error ? (fault.cause as { code?: string } | undefined) : undefined;
      if (cause?.code === 'LEVEL_LOCKED') throw new DirectoryInUseError(directory);
      throw fault;
    }
    return new LedgerStore(level);
  }

  private constructor(level: ClassicLevel<string, string>) {
    this.#level = level;
  }

  async get(key: string): Promise<string | undefined> {
    return this.#level.get(key);
  }

  async getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    return keys.length === 0 ? [] : this.#level.getMany([...keys]);
  }

  /** At most `max` keys and values with `from` <= key < `to`, in order. */
  async range(from: string, to: string, max: number): Promise<[string, string][]> {
    return this.#level.iterator({ gte: from, lt: to, limit: max }).all();
  }

  /**
   * Writes all or nothing, on the disk before it resolves. When it rejects, `undo` is written before anything else is:
   * LevelDB takes no write after a failed one until it is reopened, and the failed one may still come to light then.
   */
  async writeSynced(writes: LedgerWrites, undo: LedgerWrites): Promise<void> {
    if (this.#unsettled !== null) await this.#settle(this.#unsettled);
    try {
      await this.#batch(writes, true);
    } catch (fault) {
      this.#unsettled = undo;
      throw fault;
    }
  }

  /** For what may be lost in a crash: removal of what nobody asks for any more. */
  async write(writes: LedgerWrites): Promise<void> {
    if (this.#unsettled === null) await this.#batch(writes, false);
  }

  close(): Promise<void> {
    return this.#level.close();
  }

  async #settle(undo: LedgerWrites): Promise<void> {
    await this.#level.close();
    await this.#level.open();
    await this.#batch(undo, true);
    this.#unsettled = null;
  }

  #batch(writes: LedgerWrites, sync: boolean): Promise<void> {
    const operations = [...writes].map(([key, value]) =>
      value === null ? ({ type: 'del', key } as const) : ({ type: 'put', key, value } as const),
    );
    return this.#level.batch(operations, { sync });
  }
}
