// Persistent storage of the ledger in a LevelDB folder, and the removal of old counters.
import { chmod, mkdir } from 'node:fs/promises';
import { ClassicLevel } from 'classic-level';
import { StoreUnavailableError } from '../stores.ts';

// Persistent storage of the ledger: synced, atomic batches in a LevelDB folder that one process owns. Does not
// interpret its content.
//
// States: healthy → failed (LevelDB accepts no more writes; readers do not see the failed write) → reopening (the
// failed write may become visible, so reads and writes wait until it is undone) → healthy.

/** Another process owns the folder, for example because the node was started twice. The message names the folder. */
export class DirectoryInUseError extends Error {
  readonly directory: string;

  constructor(directory: string) {
    super(`${directory} is in use by another process: one node owns a data directory`);
    this.name = 'DirectoryInUseError';
    this.directory = directory;
  }
}

/** The folder cannot be read or written; the message gives the reason. */
export class LedgerOpenError extends Error {
  constructor(directory: string, cause: unknown) {
    super(`${directory} cannot be opened: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.name = 'LedgerOpenError';
  }
}

/** Only the owner of the node may read charges, whatever the mode of the parent folder. */
const PRIVATE_FOLDER = 0o700;

/** A null value deletes the key. */
export type LedgerWrites = ReadonlyMap<string, string | null>;

export class LedgerStore {
  #level: ClassicLevel<string, string>;
  /** Writes that undo the failed write; null: healthy. */
  #undo: LedgerWrites | null = null;
  #reopening = false;
  #settling: Promise<void> | null = null;

  /**
   * Opens or creates the folder. Rejects with DirectoryInUseError if another process owns it, otherwise with
   * LedgerOpenError.
   */
  static async open(directory: string): Promise<LedgerStore> {
    const level = new ClassicLevel<string, string>(directory, { keyEncoding: 'utf8', valueEncoding: 'utf8' });
    try {
      await makePrivate(directory);
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
   * Writes all entries or none, and resolves when they are on disk. If it rejects, `undo` is written before anything
   * else: after a failed write, LevelDB accepts no writes until it is reopened, and the failed write may become
   * visible then. Only one call at a time is allowed.
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

  /**
   * Writes without syncing, for changes that a crash may lose: the removal of obsolete entries. Skipped after a
   * failed write.
   */
  async write(writes: LedgerWrites): Promise<void> {
    if (this.#undo === null) await this.#batch(writes, false);
  }

  /** False: a write has failed, and nothing has been written since. */
  get isHealthy(): boolean {
    return this.#undo === null;
  }

  /** Tries to become healthy again. Rejects with StoreUnavailableError while the disk still accepts no writes. */
  recover(): Promise<void> {
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
    // Adds the writes one by one: the library copies the objects of a list, which takes the event loop twice as long.
    const batch = this.#level.batch();
    for (const [key, value] of writes) {
      if (value === null) batch.del(key);
      else batch.put(key, value);
    }
    return batch.write({ sync });
  }
}

async function makePrivate(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: PRIVATE_FOLDER });
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
    await chmod(directory, PRIVATE_FOLDER);
  }
}

// The counters in the ledger's storage, and the removal of old ones. Age is measured against the newest charge, not
// against the clock, because a clock that is months ahead at start must not remove the counter of the current period.

/** A counter in the storage. `charged_at` is the time of the last charge; earlier versions did not write it. */
export interface CounterRecord {
  readonly used: number;
  readonly ends_at: number;
  readonly charged_at?: number;
}

/** Counters of past periods are kept this long after the newest charge, so that bills can be explained. */
const PAST_PERIODS_MILLISECONDS = 62 * 24 * 3600 * 1000;

/**
 * This many counters of each account are always kept, because the newest charge may have been made while the clock was
 * months ahead.
 */
const PERIODS_KEPT = 2;

/** Number of counters read at once. */
const PAGE_RECORDS = 1000;

/** @param periodKey key of a BillingPeriod */
export function counterKey(account: string, periodKey: string): string {
  return `used/${account}/${periodKey}`;
}

/** Time of the newest charge, in milliseconds since 1970; null: no charges. */
export async function newestCharge(store: LedgerStore): Promise<number | null> {
  let newest: number | null = null;
  for await (const [key, record] of records(store)) newest = Math.max(newest ?? 0, chargedAtOf(key, record));
  return newest;
}

/** Removes the counters of periods that ended long before `now`. */
export async function forgetPastPeriods(store: LedgerStore, now: number): Promise<void> {
  const writes = new Map<string, null>();
  let newer: [string, CounterRecord][] = [];
  // Records are sorted by account, and by day within an account.
  for await (const [key, record] of records(store)) {
    if (newer[0] !== undefined && accountOf(newer[0][0]) !== accountOf(key)) newer = [];
    newer.push([key, record]);
    if (newer.length <= PERIODS_KEPT) continue;
    const [oldKey, old] = newer.shift()!;
    if (old.ends_at < now - PAST_PERIODS_MILLISECONDS) writes.set(oldKey, null);
  }
  if (writes.size > 0) await store.write(writes);
}

async function* records(store: LedgerStore): AsyncGenerator<[string, CounterRecord]> {
  let from = 'used/';
  for (;;) {
    const page = await store.range(from, 'used0', PAGE_RECORDS);
    for (const [key, value] of page) yield [key, JSON.parse(value) as CounterRecord];
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_RECORDS) return;
    from = `${last[0]} `;
  }
}

function accountOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

/**
 * If a record has no charge time, uses the first day of its period, with which its key ends. The charge was not
 * earlier.
 */
function chargedAtOf(key: string, { charged_at: chargedAt }: CounterRecord): number {
  return chargedAt ?? Date.parse(key.slice(-'2026-01-31'.length));
}
