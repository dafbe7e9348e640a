// Measures how long a Run uses its thread without a pause.
import { Cancelled } from '../../../workers/protocol/failure.ts';
import type { RunOutcome } from '../../../workers/protocol/messages.ts';
import type { Coroutine } from '../../../workers/scheduling/coroutine.ts';
import { applyTemplate } from '../apply-template.ts';

/** Each Run is watched for this time and then cancelled: the slowest would take hours. */
const LOOK_MILLISECONDS = 1200;

export interface NastyCase {
  readonly template: object;
  readonly input: string | Uint8Array;
  readonly tables?: Readonly<Record<string, string>>;
  /** Replaces the usual maximum. */
  readonly stepMillisecondsMax?: number;
}

/** Processor time of the longest synchronous step in milliseconds, at most its elapsed time. */
export async function longestStep({ template, input, tables }: NastyCase): Promise<{ longest: number; end: string }> {
  let longest = 0;
  const begun = performance.now();
  const used = (): number => (({ user, system }) => (user + system) / 1000)(process.cpuUsage());
  const drive = async (work: Coroutine<RunOutcome>): Promise<RunOutcome> => {
    for (;;) {
      const [at, cpu] = [performance.now(), used()];
      const step = work.next();
      // Threads that compile and collect garbage count in the process's time, and other processes in the elapsed time; the
      // smaller is used.
      longest = Math.max(longest, Math.min(performance.now() - at, used() - cpu));
      if (step.done) return step.value;
      await step.value;
    }
  };
  const cancelled = (): boolean => performance.now() - begun > LOOK_MILLISECONDS;
  try {
    const { outcome } = await applyTemplate(template, input, 4096, tables, {
      drive,
      cancelled,
      outputBytesMax: 2 ** 29,
    });
    return { longest, end: outcome.failure?.code ?? 'done' };
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    return { longest, end: 'cancelled' };
  }
}
