// The read-ahead thread of a worker thread, as its Runs use it: a second thread that reads ahead in a large file while
// the Run processes earlier rows. One Run at a time may use it, and only while a core is free. A Run never depends on
// it: if the thread does not exist, is not ready or has ended, the Run reads alone.
//
// States: none → starting → idle ⇄ on a job → gone (none again). In addition, a Run may hold it: a job may be finished
// while its Run still has to take the results.
import { Worker } from 'node:worker_threads';
import { READ_AHEAD_ENTRY } from '../../built-files.ts';
import type { CoreShare } from '../../scheduling/core-share.ts';
import type { FileRest } from '../source/source.ts';
import type { ReadAheadJob } from './read-ahead-job.ts';
import {
  type Chunk,
  newReadAheadShare,
  PHASE_GONE,
  PHASE_IDLE,
  PHASE_JOB,
  PHASE_STARTING,
  ReadAheadMemory,
  slotAfter,
} from './read-ahead-memory.ts';

/** Heap limits of the thread. Its heap holds almost nothing, but V8 does not accept smaller limits. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 24, stackSizeMb: 1 };

export interface ReadAheadSettings {
  /** Minimum number of bytes left to read for which a thread is started. */
  readonly startBytesMin: number;
  /** Minimum and maximum size of a job. */
  readonly jobBytesMin: number;
  readonly jobBytesMax: number;
  /** Time after which an idle thread ends. */
  readonly idleMilliseconds: number;
}

const MIB = 1024 * 1024;

/**
 * Starting a thread takes 45 ms of a core, in which a Run alone reads 20 to 40 MB. A job costs both threads about 0.2
 * ms. An upload that arrives more slowly than it is read never has enough bytes for a job. After the maximum size of a
 * job, the thread checks again whether a core is free. A thread takes 10 MB.
 */
export const READ_AHEAD_SETTINGS: ReadAheadSettings = {
  startBytesMin: 32 * MIB,
  jobBytesMin: 4 * MIB,
  jobBytesMax: 64 * MIB,
  idleMilliseconds: 10_000,
};

/**
 * Maximum wait for a chunk. A chunk normally takes half a millisecond. If it takes longer, the disk is slow, and other
 * Runs may continue.
 */
const STRETCH_MILLISECONDS_MAX = 10;

/**
 * Emits a warning of the process, because there may be no active Run that could report the loss. Runs continue without
 * the thread, only more slowly.
 */
function warnOfLoss(fault: unknown): void {
  process.emitWarning(`a read-ahead thread was lost, large files are read without: ${fault}`);
}

interface ReadAheadWorker {
  readonly worker: Worker;
  readonly memory: ReadAheadMemory;
  /** False once the thread has ended, whatever its phase says. */
  isAlive: boolean;
  fault: unknown;
}

export class ReadAheadThread {
  readonly settings: ReadAheadSettings;
  readonly #cores: CoreShare;
  readonly #entry: URL;
  #thread: ReadAheadWorker | null = null;
  /** True if the system has refused to start a thread. */
  #isRefused = false;
  #slot = 0;
  #hasCore = false;
  /**
   * True while a Run holds the thread, from `send` to `recall`: its chunks exist longer than the thread works on its
   * job.
   */
  #isHeld = false;

  /** @param settings READ_AHEAD_SETTINGS, or smaller ones in tests, which also set `entry` */
  constructor(cores: CoreShare, settings: ReadAheadSettings = READ_AHEAD_SETTINGS, entry = READ_AHEAD_ENTRY) {
    this.settings = settings;
    this.#cores = cores;
    this.#entry = entry;
  }

  /** Starts the thread if it is not running and there is enough to read. It is ready about 45 ms later. */
  prepare(rest: FileRest | null): void {
    if (this.#isHeld) return;
    if (rest === null || rest.to - rest.from < this.settings.startBytesMin || !this.#cores.hasFree) return;
    const thread = this.#thread;
    if (thread?.isAlive === true && thread.memory.phase !== PHASE_GONE) return;
    // After a refusal or a fault, the thread is not started again: the same would probably happen at each window.
    if (this.#isRefused || (thread !== null && thread.fault !== null)) return;
    try {
      this.#thread = this.#start();
    } catch (fault) {
      this.#isRefused = true;
      warnOfLoss(fault);
    }
  }

  #start(): ReadAheadWorker {
    const share = newReadAheadShare();
    const workerData = { share, idleMilliseconds: this.settings.idleMilliseconds };
    // Modules preloaded by the process are not loaded here: they would exceed the memory limits.
    const worker = new Worker(this.#entry, { workerData, resourceLimits: RESOURCE_LIMITS, execArgv: [] });
    const started: ReadAheadWorker = { worker, memory: new ReadAheadMemory(share), isAlive: true, fault: null };
    worker.on('error', (fault: unknown) => {
      started.fault = fault;
      warnOfLoss(fault);
    });
    worker.on('exit', () => {
      started.isAlive = false;
    });
    worker.unref();
    return started;
  }

  /** True if there is a thread that could start a job now. */
  get isIdle(): boolean {
    if (this.#isHeld) return false;
    return this.#thread?.isAlive === true && this.#thread.memory.phase === PHASE_IDLE;
  }

  get isStarting(): boolean {
    return this.#thread?.isAlive === true && this.#thread.memory.phase === PHASE_STARTING;
  }

  /** Returns false if the thread is not ready or works for another Run, or if no core is free. */
  send(job: ReadAheadJob): boolean {
    if (!this.isIdle || !this.#takeCore()) return false;
    const { memory, worker } = this.#thread!;
    memory.clear();
    worker.postMessage(job);
    this.#slot = 0;
    this.#isHeld = memory.passTo(PHASE_JOB, PHASE_IDLE);
    if (!this.#isHeld) this.#giveCore();
    return this.#isHeld;
  }

  /**
   * 'over': the job has ended before the end of the file. 'none': no chunk yet, ask again in a moment. Throws the fault
   * of the thread.
   */
  next(): Chunk | 'over' | 'none' {
    const { memory, isAlive, fault } = this.#thread!;
    const chunk = memory.awaitChunk(this.#slot, isAlive ? STRETCH_MILLISECONDS_MAX : 0);
    if (chunk !== 'none' || isAlive) return chunk;
    // The system may refuse the thread or its memory. Any other error is a fault of the service.
    if (fault !== null && !(fault instanceof Error && 'code' in fault)) throw fault;
    return 'over';
  }

  /** All bytes of the slot with the current chunk. */
  get bytes(): Uint8Array {
    return this.#thread!.memory.u8[this.#slot]!;
  }

  /** Called after the chunk has been copied. */
  taken(): void {
    this.#thread!.memory.empty(this.#slot);
    this.#slot = slotAfter(this.#slot);
  }

  /** Ends the job. */
  recall(): void {
    this.#thread!.memory.recall();
    this.#isHeld = false;
    this.#giveCore();
  }

  async end(): Promise<void> {
    await this.#thread?.worker.terminate();
  }

  #takeCore(): boolean {
    this.#hasCore = this.#cores.tryTake();
    return this.#hasCore;
  }

  #giveCore(): void {
    if (this.#hasCore) this.#cores.release();
    this.#hasCore = false;
  }
}
