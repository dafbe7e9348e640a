// One Run whose file several threads may process in parts (workers/run/split.ts). The first thread decides whether its
// file is processed in parts. Then idle threads are lent to the Run, and leave it when another Run needs them. Their
// results are joined. If a part fails, the file is read again as a whole, so that the result is the same.
//
// States: first (one thread, parts not decided or no thread to lend) -> parts -> ending (a part has failed or the Run
// was cancelled, and its shares are ending) -> whole (the file is read again) -> over. A Run that its first thread
// processes as a whole goes from first to over. If the shares have grouped the rows, a last task merges their groups:
// parts -> merging -> over, or whole if that task fails. If they process rows by key (KeyPhase) or have sorted their
// parts (TaskRanges), new shares begin the next phase: parts -> merging -> first -> parts.
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import {
  accountSlot,
  BUDGET_KEPT,
  BUDGET_LIMIT,
  BUDGET_MAIN,
  BUDGET_UNIT_BYTES,
  type BudgetCounters,
  RUN_RESERVATION_BYTES,
  tryHold,
  unitsOf,
} from '../../workers/memory/budget.ts';
import { SharedMemories, spareMemoryBytesMax, ThreadCollector } from '../../workers/memory/collector.ts';
import { faultText } from '../../workers/protocol/fault-text.ts';
import {
  KEYS_PAGE_BYTES,
  KEYS_WORDS_AT,
  type KeysMemory,
  NEXT_PAGE,
  PAID_PAGES,
} from '../../workers/protocol/frame.ts';
import {
  exchangeFolder,
  type KeyPhase,
  NO_ACCOUNT,
  type RunOutcome,
  type RunTask,
  type ShareOpened,
  STREAMS,
  type TaskGroups,
  type TaskRanges,
} from '../../workers/protocol/messages.ts';
import { taskOutcome } from '../../workers/protocol/outcome-codec.ts';
import { PartTurns, TURNS_BYTES } from '../../workers/protocol/part-turns.ts';
import { joined, merged } from './joined-shares.ts';
import type { PooledRun, TaskEnd } from './pool-thread.ts';

export interface PartSizes {
  /** Smaller files are processed as a whole. */
  readonly fileBytesMin: number;
  /** Approximate size of one part. */
  readonly partBytes: number;
  /** A further thread takes part only if at least this many parts are available; 1 by default. */
  readonly partsMin?: number;
}

const MIB = 1024 * 1024;

/**
 * Pause after a share that processed no part, because the memory budget refused it or another Run needed the thread.
 * Without the pause, shares were started and ended in a loop that took a third of a core.
 */
const LEND_AGAIN_MILLISECONDS = 200;

/**
 * For the command line and the library, where a second thread costs as much processor time as the work on 60 to 150 MB,
 * for its start and for compiling its code. A part takes 2 to 6 ms: its output is still in the cache when it is
 * written, and threads rarely wait for each other.
 */
export const PART_SIZES: PartSizes = { fileBytesMin: 256 * MIB, partBytes: 2 * MIB };

/**
 * For uploads. The threads of a service are ready, and each share of a thread costs about 2 ms for its pipeline. While
 * an upload arrives as slowly as one thread reads it, no other thread takes part.
 */
export const UPLOAD_PART_SIZES: PartSizes = { ...PART_SIZES, fileBytesMin: 32 * MIB, partsMin: 4 };

/** Conditions under which several threads may share a Run. */
export interface Sharing {
  readonly sizes: PartSizes;
  /** Maximum number of threads for the Run. */
  readonly threadsMax: number;
  /** False if the file may have changed since the Run began. If it was read twice, two contents would be mixed. */
  readonly isUnchanged?: () => boolean;
  /** Called when the file is read again as a whole. */
  readonly restarted?: () => void;
  /** Called when the Run ends, with the number of parts; 1: as a whole. */
  readonly ended?: (parts: number) => void;
}

/** A task that is part of a shared Run. */
export interface SharedTask extends PooledRun {
  /** Number of the thread that has or had the task. Null if no thread has had it. */
  thread(): number | null;
}

/** Time after which memory that no Run has used again is dropped. */
const SPARE_MILLISECONDS = 1000;

/** Memory of an earlier Run. */
interface SpareMemory {
  readonly keys: KeysMemory;
  /** Units of the budget that the main thread holds for all of it until it is given back. */
  readonly units: number;
}

/** Keeps the memory for the keys of one Run for the next one, for a short time. The budget covers it. */
export class SpareKeys {
  /** No Run uses a dropped memory again, whatever its size. */
  readonly #memories = new SharedMemories(new ThreadCollector(), 0);
  readonly #counters: BudgetCounters;
  #spare: SpareMemory | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** @param budget counters of the memory budget */
  constructor(budget: SharedArrayBuffer) {
    this.#counters = new Int32Array(budget);
  }

  take(): SpareMemory | null {
    const spare = this.#spare;
    this.#spare = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    return spare;
  }

  /**
   * Holds memory for a Run in the main thread.
   * @param units negative to release them
   */
  hold(units: number, accountRow: number): boolean {
    if (!tryHold(this.#counters, BUDGET_MAIN, units)) return false;
    Atomics.add(this.#counters, accountSlot(this.#counters, accountRow, BUDGET_MAIN), units);
    return true;
  }

  /**
   * @param isFree true if no thread can still use the memory
   * @param spareUnits units that the main thread holds, if it is spare memory
   */
  give(keys: KeysMemory, isFree: boolean, spareUnits = 0): void {
    tryHold(this.#counters, BUDGET_MAIN, -spareUnits);
    const { byteLength } = keys.memory.buffer;
    const units = unitsOf(byteLength);
    if (!isFree || this.#spare !== null || !this.#mayKeep(byteLength, units)) {
      this.#memories.drop(keys.memory);
      return;
    }
    this.#spare = { keys, units };
    this.#timer = setTimeout(() => this.#drop(this.take()!), SPARE_MILLISECONDS).unref();
  }

  #drop({ keys, units }: SpareMemory): void {
    tryHold(this.#counters, BUDGET_MAIN, -units);
    this.#memories.drop(keys.memory);
  }

  #mayKeep(bytes: number, units: number): boolean {
    const budgetBytes = Atomics.load(this.#counters, BUDGET_LIMIT) * BUDGET_UNIT_BYTES;
    if (bytes > spareMemoryBytesMax(budgetBytes)) return false;
    return tryHold(this.#counters, BUDGET_MAIN, units, Atomics.load(this.#counters, BUDGET_KEPT));
  }
}

/** The pool, as a shared Run needs it. */
export interface SharingPool {
  /**
   * True if a thread and a core are idle.
   * @param isArriving true if the main thread is busy, because it receives the file
   */
  canLend(isArriving: boolean): boolean;
  nextTask(): number;
  /** Starts a task that is part of the Run. `opened` is called if it processes its file in parts. */
  start(task: RunTask, ended: (end: TaskEnd) => void, opened: ((share: ShareOpened) => void) | null): SharedTask;
  /** Starts a share in an idle thread. */
  lend(task: RunTask, ended: (end: TaskEnd) => void): SharedTask;
  /** Returns memory for keys that an earlier Run has used, or null. */
  takeKeys(): SpareMemory | null;
  /** See SpareKeys. */
  holdKeys(units: number, accountRow: number): boolean;
  /** @param isFree true if no thread can still use the memory, so that another Run may use it */
  giveKeys(keys: KeysMemory, isFree: boolean, spareUnits: number): void;
}

export class SharedRun implements PooledRun {
  readonly task: number;
  readonly #pool: SharingPool;
  readonly #task: RunTask;
  readonly #sharing: Sharing;
  readonly #ended: (end: TaskEnd) => void;
  #shared = new SharedArrayBuffer(TURNS_BYTES);
  /** Parts of the file, or the streams or ranges that the threads take in a later phase. */
  #turns: PartTurns;
  #keyPhase: KeyPhase = { phase: 'scatter', seed: randomInt(2 ** 32), rows: [], cells: [] };
  /** Number of rows in the file, if it is read a second time. */
  #rowsRead = 0;
  /** Work of the phases before the current one. */
  #busyMilliseconds = 0;
  /** Results of the phase that sorted the parts, while the shares write ranges of the sorted rows. Otherwise null. */
  #sorted: { readonly outcome: RunOutcome; readonly ranges: TaskRanges; readonly parts: number } | null = null;
  #state: 'first' | 'parts' | 'ending' | 'merging' | 'whole' | 'over' = 'first';
  #head: ShareOpened['head'] | null = null;
  /** Memory that the first share may use for keys. */
  #spareKeys: SpareMemory | null;
  /** Units of the budget that the main thread holds for the sorted rows. */
  #sortedUnits = 0;
  #keys: KeysMemory | null = null;
  /** Its first share, later the task that reads the whole file again. */
  #main: SharedTask;
  readonly #lent = new Set<SharedTask>();
  /** Threads that have processed parts. A thread may have had several shares. */
  readonly #threads = new Set<number | null>();
  /** Ends of the shares that have ended. */
  #mainEnd: TaskEnd | null = null;
  readonly #lentEnds: TaskEnd[] = [];
  /** No thread is lent before this time (performance.now). */
  #lendsFrom = 0;
  #grown: { readonly bytes: number; readonly ended: boolean } | null = null;
  #isCancelled = false;
  #isSuspended = false;

  /** @param ended called exactly once, after the constructor has returned */
  constructor(pool: SharingPool, task: RunTask, sharing: Sharing, ended: (end: TaskEnd) => void) {
    this.task = task.task;
    this.#pool = pool;
    this.#task = task;
    this.#sharing = sharing;
    this.#ended = ended;
    this.#spareKeys = pool.takeKeys();
    this.#turns = new PartTurns(this.#shared, sharing.sizes.partBytes);
    this.#main = this.#startShares(task.task);
  }

  /** Starts the first share. Others can take part when it has opened the output. */
  #startShares(task: number): SharedTask {
    let main: SharedTask | null = null;
    const ended = (end: TaskEnd): void => {
      this.#mainEnd = end;
      if (hasParts(end)) this.#threads.add(main!.thread());
      this.#shareEnded(end);
    };
    const parts = this.#partsWith(this.#head, true);
    main = this.#pool.start({ ...this.#task, ranges: this.#sorted?.ranges, task, parts }, ended, ({ head, keys }) => {
      if (this.#state !== 'first') return;
      this.#state = 'parts';
      this.#head = head;
      // Each message has another reference to the same memory. The first one stays the longest, and is dropped at the end.
      if (keys !== null) this.#keys ??= this.#spareKeys?.keys ?? keys;
      // Another Run may need it.
      if (keys === null) this.#giveKeys(true);
      this.lend();
    });
    return main;
  }

  rowsRead(): number {
    const isShared = this.#state === 'parts' || this.#state === 'merging';
    return Math.max(this.#rowsRead, isShared ? this.#turns.rows.read : this.#main.rowsRead());
  }

  grown(bytes: number, ended: boolean): void {
    this.#grown = { bytes, ended };
    if (this.#keyPhase.phase !== 'compute' && this.#sorted === null) this.#turns.grown(bytes, ended);
    this.#main.grown(bytes, ended);
    this.lend();
  }

  cancel(): void {
    this.#isCancelled = true;
    if (this.#state === 'parts') this.#endShares();
    else this.#main.cancel();
  }

  /** If the first share waits for bytes, it ends as if it were cancelled, and then the others end. */
  suspend(): void {
    this.#main.suspend();
  }

  /** Lends idle threads to the Run if there is enough to do. Called again and again while the Run works. */
  lend(): void {
    const { threadsMax } = this.#sharing;
    while (
      this.#state === 'parts' &&
      !this.#isCancelled &&
      performance.now() >= this.#lendsFrom &&
      this.#lent.size < threadsMax - 1 &&
      this.#hasEnough &&
      this.#pool.canLend(this.#grown?.ended !== true)
    ) {
      const task = {
        ...this.#task,
        ranges: this.#sorted?.ranges,
        task: this.#pool.nextTask(),
        reservationBytes: RUN_RESERVATION_BYTES,
        parts: this.#partsWith(this.#head, false),
      };
      const ended = (end: TaskEnd): void => {
        this.#lent.delete(lent);
        // Not kept: a long Run may have thousands of such shares.
        if (isEmpty(end)) this.#lendsFrom = performance.now() + LEND_AGAIN_MILLISECONDS;
        else this.#lentEnds.push(end);
        if (hasParts(end)) this.#threads.add(lent.thread());
        this.#shareEnded(end);
      };
      const lent = this.#pool.lend(task, ended);
      this.#lent.add(lent);
    }
  }

  /** True if a further thread is worth its start. */
  get #hasEnough(): boolean {
    const { left, partBytes } = this.#turns;
    const { sizes } = this.#sharing;
    // A stream or a range is at least as large as a part.
    const leftBytes = partBytes === 1 ? left * sizes.partBytes : left * partBytes;
    return leftBytes >= (sizes.partsMin ?? 1) * sizes.partBytes;
  }

  #partsWith(head: ShareOpened['head'] | null, isFirst: boolean): RunTask['parts'] {
    const { partBytes } = this.#sharing.sizes;
    const isCounted = this.#keyPhase.phase === 'compute' || this.#sorted !== null;
    return {
      turns: this.#shared,
      partBytes: isCounted ? 1 : partBytes,
      keys: head === null ? (this.#spareKeys?.keys ?? null) : this.#keys,
      head,
      keyPhase: this.#keyPhase,
      isFirst,
    };
  }

  #shareEnded(end: TaskEnd): void {
    // Before `opened`, the first share processes the file as a whole, and its failure is the failure of the Run.
    const isFailed = end.kind !== 'done' || (end.outcome.failure !== null && this.#head !== null);
    if (isFailed && this.#head !== null && this.#state !== 'ending') {
      this.#isSuspended = end === this.#mainEnd && end.kind === 'cancelled';
      this.#endShares();
    }
    if (this.#mainEnd !== null && this.#lent.size === 0) this.#conclude(this.#mainEnd);
  }

  #endShares(): void {
    this.#state = 'ending';
    if (this.#mainEnd === null) this.#main.cancel();
    for (const lent of this.#lent) lent.cancel();
  }

  /** Called when all shares have ended. */
  #conclude(mainEnd: TaskEnd): void {
    const fault = this.#lentEnds.find(({ kind }) => kind === 'fault');
    if (fault !== undefined) this.#over(fault, 1);
    else if (this.#head === null || this.#isSuspended) this.#over(mainEnd, 1);
    else if (mainEnd.kind === 'fault' || mainEnd.kind === 'interrupted') this.#over(mainEnd, 1);
    else if (this.#isCancelled) this.#over({ kind: 'cancelled' }, 1);
    else if (isWhole(mainEnd)) this.#over(mainEnd, 1);
    else {
      const outcomes = [mainEnd, ...this.#lentEnds].flatMap((end) => (end.kind === 'done' ? end.outcome : []));
      const { count } = this.#turns;
      const isFailed = outcomes.some(({ failure }) => failure !== null);
      const isMixed = this.#keyPhase.phase === 'match' && this.#sharing.isUnchanged?.() === false;
      const mustRestart = isFailed || isMixed || this.#state === 'ending' || this.#turns.hasTooManyErrors;
      const shares = mustRestart ? null : joined(outcomes, count);
      if (shares === null) void this.#readWhole();
      else if (shares.streams !== null) void this.#nextPhase(this.#afterStreams(shares.streams));
      else if (this.#sorted !== null) this.#done(merged(this.#sorted.outcome, taskOutcome(shares.outcome)));
      else if (shares.sorted !== null) void this.#writeRanges(shares.outcome, { ...shares.sorted, head: this.#head });
      else if (shares.groups === null) this.#done(shares.outcome);
      else void this.#merge(shares.outcome, { ...shares.groups, ...this.#counts, head: this.#head });
    }
  }

  get #counts(): Pick<TaskGroups, 'rows' | 'errors'> {
    return { rows: this.#turns.rows.read, errors: this.#turns.errors };
  }

  #afterStreams(names: readonly string[]): Partial<KeyPhase> {
    return this.#keyPhase.phase === 'compute' ? { phase: 'match', cells: names } : { phase: 'compute', rows: names };
  }

  /** Starts the next phase of a Run whose rows are processed by key. */
  async #nextPhase(next: Partial<KeyPhase>): Promise<void> {
    this.#keyPhase = { ...this.#keyPhase, ...next };
    const isCompute = this.#keyPhase.phase === 'compute';
    this.#rowsRead = Math.max(this.#rowsRead, this.#turns.rows.read);
    for (const end of [this.#mainEnd!, ...this.#lentEnds])
      if (end.kind === 'done') this.#busyMilliseconds += end.outcome.busyMilliseconds;
    this.#state = 'merging';
    if (!isCompute && !(await this.#removeOutput())) return;
    const { bytes, ended } = isCompute ? { bytes: STREAMS, ended: true } : this.#grown!;
    this.#startAgain(isCompute ? 1 : this.#sharing.sizes.partBytes, bytes, ended);
  }

  /** Starts the shares of the next phase. With streams or ranges, `partBytes` is 1, and `bytes` is their number. */
  #startAgain(partBytes: number, bytes: number, ended: boolean): void {
    this.#mainEnd = null;
    this.#lentEnds.length = 0;
    this.#lendsFrom = 0;
    this.#shared = new SharedArrayBuffer(TURNS_BYTES);
    this.#turns = new PartTurns(this.#shared, partBytes);
    this.#turns.grown(bytes, ended);
    this.#state = 'first';
    this.#main = this.#startShares(this.#pool.nextTask());
    this.#main.grown(this.#grown!.bytes, this.#grown!.ended);
  }

  async #readWhole(): Promise<void> {
    this.#state = 'whole';
    this.#giveKeys(false);
    if (!(await this.#removeOutput())) return;
    this.#sharing.restarted?.();
    this.#startTask({}, (end) => this.#over(end, 1));
  }

  /** Starts the phase in which the threads write ranges of the sorted rows. They take ranges like parts. */
  async #writeRanges(outcome: RunOutcome, ranges: TaskRanges): Promise<void> {
    this.#rowsRead = outcome.report.rows_read;
    this.#state = 'merging';
    if (!this.#payForRows()) {
      void this.#readWhole();
      return;
    }
    if (!(await this.#removeOutput())) return;
    this.#sorted = { outcome, ranges, parts: this.#turns.count };
    this.#startAgain(1, ranges.count, true);
  }

  /**
   * Pays for the sorted rows from now on, because all threads have left the Run. Returns false if other Runs have taken
   * the memory.
   */
  #payForRows(): boolean {
    if (this.#keys === null) return true;
    const words = new Int32Array(this.#keys.memory.buffer, KEYS_WORDS_AT, PAID_PAGES + 1);
    const pages = Atomics.load(words, NEXT_PAGE) - Atomics.load(words, PAID_PAGES);
    if (pages <= 0) return true;
    const units = unitsOf(pages * KEYS_PAGE_BYTES);
    if (!this.#pool.holdKeys(units, this.#accountRow)) return false;
    this.#sortedUnits = units;
    Atomics.add(words, PAID_PAGES, pages);
    return true;
  }

  get #accountRow(): number {
    return this.#task.accountRow ?? NO_ACCOUNT;
  }

  async #merge(shares: RunOutcome, groups: TaskGroups): Promise<void> {
    this.#state = 'merging';
    if (!(await this.#removeOutput())) return;
    this.#startTask({ groups }, (end) => {
      if (end.kind !== 'done') this.#over(end, 1);
      else if (end.outcome.failure !== null) void this.#readWhole();
      else this.#done(merged(shares, end.outcome));
    });
  }

  /** Removes what the shares have written to the output. Returns false if the Run is over. */
  async #removeOutput(): Promise<boolean> {
    try {
      await rm(this.#task.output.path, { force: true });
    } catch (error) {
      this.#over({ kind: 'fault', ...faultText(error) }, 1);
      return false;
    }
    if (this.#isCancelled) this.#over({ kind: 'cancelled' }, 1);
    return !this.#isCancelled;
  }

  /** Called when all shares have ended. A thread that was lost may still use the memory. */
  #giveKeys(isFree: boolean): void {
    if (this.#sortedUnits > 0) this.#pool.holdKeys(-this.#sortedUnits, this.#accountRow);
    this.#sortedUnits = 0;
    const keys = this.#keys ?? this.#spareKeys?.keys;
    if (keys !== undefined) this.#pool.giveKeys(keys, isFree, this.#spareKeys?.units ?? 0);
    this.#keys = null;
    this.#spareKeys = null;
  }

  #startTask(more: Partial<RunTask>, ended: (end: TaskEnd) => void): void {
    this.#main = this.#pool.start({ ...this.#task, ...more, task: this.#pool.nextTask() }, ended, null);
    if (this.#grown !== null) this.#main.grown(this.#grown.bytes, this.#grown.ended);
  }

  #done(outcome: RunOutcome): void {
    const busyMilliseconds = this.#busyMilliseconds + outcome.busyMilliseconds;
    const done = { ...taskOutcome({ ...outcome, busyMilliseconds }), threads: this.#threads.size };
    this.#over({ kind: 'done', outcome: done }, this.#sorted?.parts ?? this.#turns.count);
  }

  #over(end: TaskEnd, parts: number): void {
    this.#state = 'over';
    this.#giveKeys(end.kind === 'done');
    const over = (last: TaskEnd): void => {
      this.#sharing.ended?.(parts);
      this.#ended(last);
    };
    const folder = exchangeFolder(this.#task);
    // A first share whose thread is lost before others take part leaves it behind, too.
    if (!existsSync(folder)) {
      over(end);
      return;
    }
    rm(folder, { recursive: true, force: true }).then(
      () => over(end),
      (error) => over({ kind: 'fault', ...faultText(error) }),
    );
  }
}

function hasParts(end: TaskEnd): boolean {
  return end.kind === 'done' && (end.outcome.results?.length ?? 0) > 0;
}

/** True for a first share that had no memory for parts, and has processed the whole file. */
function isWhole(end: TaskEnd): boolean {
  return end.kind === 'done' && end.outcome.failure === null && end.outcome.results === undefined;
}

/** True for a share that ended without a failure and without a part. */
function isEmpty(end: TaskEnd): boolean {
  return end.kind === 'done' && end.outcome.failure === null && !hasParts(end);
}
