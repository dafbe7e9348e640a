// Tries again what may be tried again: full jitter below a bound that doubles, never before Retry-After has passed.
import { TemplateRunError } from './errors.ts';
import { ConnectionLostError } from './transport.ts';

/** The bound before the first repeat; that of a further one is twice as high. */
const FIRST_DELAY_MILLISECONDS = 250;
/** Longer waits would find a service later that has long been back. */
const DELAY_MILLISECONDS_MAX = 20_000;
/** A service that asks for more is not waited for: the caller learns how long it would take. */
const RETRY_AFTER_SECONDS_MAX = 300;

/** Errors that pass: the same request may succeed later. A failed Run with one of them is made again. */
const RETRIED_CODES: ReadonlySet<string> = new Set([
  'CONNECTION_LOST',
  'CONCURRENCY_LIMIT_REACHED',
  'RATE_LIMITED',
  'SERVER_BUSY',
  'INTERNAL_ERROR',
  'RUN_INTERRUPTED',
  'RUN_TIMEOUT',
  'OUTPUT_DAMAGED',
]);
/** Also of a proxy before the service, which knows no codes or has others of its own; no error that stays has one of these. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

export interface RetrySettings {
  /** Repeats, beside the first try. */
  readonly retries: number;
  readonly signal: AbortSignal;
  /** More errors that pass for this request. */
  readonly alsoRetried?: (error: TemplateRunError) => boolean;
}

/** Tells of a try that came further than the last: what went wrong before no longer counts. */
export type Advanced = () => void;

/** @param work one try; rejects with a TemplateRunError or ConnectionLostError where it might be tried again */
export async function retrying<T>(settings: RetrySettings, work: (advanced: Advanced) => Promise<T>): Promise<T> {
  let failures = 0;
  const advanced = (): void => {
    failures = 0;
  };
  for (;;) {
    settings.signal.throwIfAborted();
    try {
      return await work(advanced);
    } catch (thrown) {
      settings.signal.throwIfAborted();
      const error = asError(thrown);
      const passes = isRetried(error) || settings.alsoRetried?.(error) === true;
      if (!passes || failures >= settings.retries || (error.retryAfter ?? 0) > RETRY_AFTER_SECONDS_MAX) throw error;
      failures += 1;
      await wait(delayMilliseconds(failures, error.retryAfter), settings.signal);
    }
  }
}

/** The service's wish is the floor, with the jitter on top of it: else all that it sent away would come back at once. */
export function delayMilliseconds(failures: number, retryAfterSeconds: number | null, random = Math.random): number {
  const bound = Math.min(DELAY_MILLISECONDS_MAX, FIRST_DELAY_MILLISECONDS * 2 ** (failures - 1));
  return (retryAfterSeconds ?? 0) * 1000 + random() * bound;
}

/** Rejects with the signal's reason as soon as it is aborted. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', aborted);
      resolve();
    }, milliseconds);
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}

/** Anything else, such as a file that cannot be read, is the caller's and goes on as it is. */
function asError(thrown: unknown): TemplateRunError {
  if (thrown instanceof TemplateRunError) return thrown;
  if (!(thrown instanceof ConnectionLostError)) throw thrown;
  return new TemplateRunError('CONNECTION_LOST', thrown.message, { cause: thrown.cause ?? thrown });
}

function isRetried({ code, status }: TemplateRunError): boolean {
  return RETRIED_CODES.has(code) || RETRIED_STATUSES.has(status ?? 0);
}
