// The read-ahead thread of a thread as its Runs see it: a second thread that reads ahead in a large file while the Run works on what
// was read before. One Run at a time has it, and only while a core is free for it. A Run never depends on it: where the
// read-ahead thread is not there, not ready or gone, the Run reads alone.
// States: none → starting → idle ⇄ on a job → gone (none again). Beside them it is held by a Run or not: a job may be over
// while its Run has yet to take what was read.
import { Worker } from 'node:worker_threads';
import { READ_AHEAD_ENTRY } from '../../built-files.ts';
import type { CoreShare } from '../../thread/core-share.ts';
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

/** Its heap holds next to nothing; smaller ones V8 does not take. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 24, stackSizeMb: 1 };

export interface ReadAheadSettings {
  /** Where less is there to be read no thread is started. */
  readonly startBytesMin: number;
  /** Of one job. */
  readonly jobBytesMin: number;
  readonly jobBytesMax: number;
  /** A thread that nobody has sent for so long ends. */
  readonly idleMilliseconds: number;
}

const MIB = 1024 * 1024;

/**
 * To start a thread takes 45 ms of a core, in which a Run alone reads 20 to 40 MB. A job costs both threads some
 * 0.2 ms; of an upload that arrives more slowly than it is read there never is so much. Behind its most bytes it is asked
 * again whether a core is free. A thread keeps 10 MB.
 */
export const READ_AHEAD_SETTINGS: ReadAheadSettings = {
  startBytesMin: 32 * MIB,
  jobBytesMin: 4 * MIB,
  jobBytesMax: 64 * MIB,
  idleMilliseconds: 10_000,
};

/** A chunk takes a read-ahead half a millisecond. What takes longer is a slow disk: then other Runs may go on. */
const STRETCH_MILLISECONDS_MAX = 10;

/** No Run may be there to tell it; without a read-ahead thread all goes on, more slowly. */
function warnOfLoss(fault: unknown): void {
  process.emitWarning(`a read-ahead thread was lost, large files are read without: ${fault}`);
}

interface ReadAheadWorker {
  readonly worker: Worker;
  readonly memory: ReadAheadMemory;
  /** False when it has ended, whatever its phase says. */
  isAlive: boolean;
  fault: unknown;
}

export class ReadAheadThread {
  readonly settings: ReadAheadSettings;
  readonly #cores: CoreShare;
  readonly #entry: URL;
  #thread: ReadAheadWorker | null = null;
  /** The system has none for it. */
  #isRefused = false;
  #slot = 0;
  #hasCore = false;
  /** A Run has it, from `send` to `recall`: its chunks are there for longer than the thread is on its job. */
  #isHeld = false;

  /** @param settings READ_AHEAD_SETTINGS unless a test wants smaller ones, as `entry` is its own */
  constructor(cores: CoreShare, settings: ReadAheadSettings = READ_AHEAD_SETTINGS, entry = READ_AHEAD_ENTRY) {
    this.settings = settings;
    this.#cores = cores;
    this.#entry = entry;
  }

  /** Starts the thread where there is none and enough to do: it is ready some 45 ms later. */
  prepare(rest: FileRest | null): void {
    if (this.#isHeld) return;
    if (rest === null || rest.to - rest.from < this.settings.startBytesMin || !this.#cores.hasFree) return;
    const thread = this.#thread;
    if (thread?.isAlive === true && thread.memory.phase !== PHASE_GONE) return;
    // What the system refused, or what failed, would be so again at each window.
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
    // Modules that the process is told to load first are not for it: they would not fit.
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

  /** Whether it has a thread that could be sent now. */
  get isIdle(): boolean {
    if (this.#isHeld) return false;
    return this.#thread?.isAlive === true && this.#thread.memory.phase === PHASE_IDLE;
  }

  get isStarting(): boolean {
    return this.#thread?.isAlive === true && this.#thread.memory.phase === PHASE_STARTING;
  }

  /** False: it is not ready, away for another Run, or no core is free. */
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

  /** 'over': the job has ended before the file did. 'none': nothing yet, ask again in a moment. Throws its fault. */
  next(): Chunk | 'over' | 'none' {
    const { memory, isAlive, fault } = this.#thread!;
    const chunk = memory.awaitChunk(this.#slot, isAlive ? STRETCH_MILLISECONDS_MAX : 0);
    if (chunk !== 'none' || isAlive) return chunk;
    // The system may refuse a thread or its memory; what is no such refusal is a fault of ours.
    if (fault !== null && !(fault instanceof Error && 'code' in fault)) throw fault;
    return 'over';
  }

  /** All bytes of the slot that holds the chunk. */
  get bytes(): Uint8Array {
    return this.#thread!.memory.u8[this.#slot]!;
  }

  /** The chunk was copied. */
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
    if (this.#hasCore) this.#cores.give();
    this.#hasCore = false;
  }
}
