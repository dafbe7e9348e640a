// One thread of the system with its one long task: started, ended by force, and watched until it is gone, for a thread in
// native code ends only when that returns. The only importer of piscina.
import { Piscina } from 'piscina';
import type { ThreadStart } from '../../workers/protocol/messages.ts';

/**
 * The last line behind all that bounds a Run: a thread whose heap grows beyond this ends with its Runs (RUN_INTERRUPTED) and is
 * replaced, instead of taking the memory of the others. The worst cases of test/stress take 150. Measured on Node 20: texts,
 * lists and JSON that pile up end the thread alone; one array or map that is larger than what is left aborts the process, with
 * or without a limit. So it is far above what one cell can ask for at once.
 */
const OLD_GENERATION_MIB_MAX = 512;

export interface PoolWorker {
  /** Resolves when its task is over: with null, or with what ended it. */
  readonly ended: Promise<unknown>;
  /** Resolves when the thread is no more. */
  readonly gone: Promise<void>;
  /** The caller's own thread: it ends when it is told to stop, and in no other way. */
  readonly isOwn: boolean;
  /** Ends it, whatever it does. Nothing happens when it has ended. */
  end(): void;
}

export interface PoolWorkerSettings {
  /** Module whose export `serve` takes a ThreadStart. */
  readonly entry: URL;
  readonly youngGenerationMibMax: number;
  /** The thread failed before it had its task: it could not be loaded. Without it: an exception. */
  readonly onLoadFault: ((fault: unknown) => void) | null;
}

/** Piscina looks after one thread each: which threads there are, and which Runs they get, is decided by the pool. */
export function startWorker(start: ThreadStart, settings: PoolWorkerSettings): PoolWorker {
  const piscina = new Piscina({
    filename: settings.entry.href,
    name: 'serve',
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: 1,
    atomics: 'disabled',
    recordTiming: false,
    resourceLimits: {
      maxYoungGenerationSizeMb: settings.youngGenerationMibMax,
      maxOldGenerationSizeMb: OLD_GENERATION_MIB_MAX,
    },
  });
  const worker = piscina.threads[0]!;
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const unloaded = new Promise<unknown>((resolve) => {
    piscina.on('error', (fault: unknown) => {
      if (settings.onLoadFault === null) throw fault;
      settings.onLoadFault(fault);
      resolve(fault);
    });
  });
  const task = piscina.run(start, { transferList: [start.port] }).then(
    () => null,
    (fault: unknown) => fault,
  );
  const end = (): void => void piscina.destroy();
  const ended = Promise.race([task, unloaded]).then((fault) => {
    // It would start another thread in the place of one that died.
    end();
    return fault;
  });
  return { ended, gone, isOwn: false, end };
}

/** A thread that is the caller's own: it ends when its work does. */
export function ownWorker(work: Promise<void>): PoolWorker {
  const ended = work.then(
    () => null,
    (fault: unknown) => fault,
  );
  return { ended, gone: ended.then(() => undefined), isOwn: true, end: () => undefined };
}
