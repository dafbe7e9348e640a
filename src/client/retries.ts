// Retries requests that may be repeated, and resumes downloads after a lost connection.

import { ConnectionLostError, refuseErrors, TemplateRunError, type TransportAnswer, unexpected } from './answers.ts';

// Retries requests that may be repeated: exponential backoff with full jitter, never before Retry-After has elapsed.

/** Upper bound of the delay before the first retry; doubled for each further retry. */
const FIRST_DELAY_MILLISECONDS = 250;
/** With a longer delay, a service that has recovered would be noticed too late. */
const DELAY_MILLISECONDS_MAX = 20_000;
/** If the service requests a longer delay, the client does not wait: the caller gets the error with the delay. */
const RETRY_AFTER_SECONDS_MAX = 300;

/** Transient errors: the same request may succeed later. A Run that failed with one of them is repeated. */
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
/**
 * Also covers proxies in front of the service, which use no codes or other codes. Permanent errors never have one of
 * these statuses.
 */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

interface RetrySettings {
  /** Number of retries after the first attempt. */
  readonly retries: number;
  readonly signal: AbortSignal;
  /** Marks further errors of this request as transient. */
  readonly alsoRetried?: (error: TemplateRunError) => boolean;
}

/** Reports that an attempt got further than all earlier ones, which resets the count of failures. */
export type Advanced = () => void;

/** @param work one attempt; rejects with a TemplateRunError or ConnectionLostError if it may be repeated */
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

/**
 * The jitter is added to the delay that the service requests; otherwise all refused clients would return at the same
 * moment.
 */
export function delayMilliseconds(failures: number, retryAfterSeconds: number | null, random = Math.random): number {
  const bound = Math.min(DELAY_MILLISECONDS_MAX, FIRST_DELAY_MILLISECONDS * 2 ** (failures - 1));
  return (retryAfterSeconds ?? 0) * 1000 + random() * bound;
}

/** Rejects with the signal's reason as soon as the signal is aborted. */
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

/** Other errors, such as an unreadable file, belong to the caller and are rethrown unchanged. */
function asError(thrown: unknown): TemplateRunError {
  if (thrown instanceof TemplateRunError) return thrown;
  if (!(thrown instanceof ConnectionLostError)) throw thrown;
  return new TemplateRunError('CONNECTION_LOST', thrown.message, { cause: thrown.cause ?? thrown });
}

function isRetried({ code, status }: TemplateRunError): boolean {
  return RETRIED_CODES.has(code) || RETRIED_STATUSES.has(status ?? 0);
}

// Downloads one output into a sink. Resumes after a lost connection (Range, If-Range), restarts if the service has
// another file, and verifies the service's digest of the complete file.

/** Destination of the bytes. */
export interface OutputSink {
  /** Number of bytes in the sink. */
  readonly bytes: number;
  append(piece: Uint8Array): Promise<void>;
  /** Removes all bytes from the sink. */
  clear(): Promise<void>;
  /** SHA-256 of all bytes in the sink, in base64. */
  sha256(): Promise<string>;
}

export interface Download {
  readonly sink: OutputSink;
  /** Size of the complete file as its Run reports it; null: unknown to the caller. */
  readonly reportedBytes: number | null;
  readonly ask: (headers: Readonly<Record<string, string>>) => Promise<TransportAnswer>;
  readonly onReceived: (bytes: number, totalBytes: number | null) => void;
}

/** Identifies the file to which the bytes in the sink belong. */
interface Representation {
  readonly etag: string;
  readonly sha256: string;
  readonly totalBytes: number;
}

/** Resolves when the sink contains the complete output and the digest matches. */
export async function resumedDownload(
  settings: RetrySettings,
  { sink, reportedBytes, ask, onReceived }: Download,
): Promise<void> {
  let known: Representation | null = null;
  let furthest = 0;
  await retrying(settings, async (advanced) => {
    // All bytes may have arrived before the connection was lost.
    if (known === null || sink.bytes < known.totalBytes) {
      const answer = await ask(rangeHeaders(known, sink.bytes));
      await refuseErrors(answer);
      known = representationOf(answer, sink.bytes);
      if (reportedBytes !== null && known.totalBytes !== reportedBytes) throw wrongSize(answer, reportedBytes);
      if (answer.status === 200) await sink.clear();
      for await (const piece of answer.body) {
        if (sink.bytes + piece.length > known.totalBytes) throw wrongSize(answer, known.totalBytes);
        await sink.append(piece);
        onReceived(sink.bytes, known.totalBytes);
        if (sink.bytes <= furthest) continue;
        furthest = sink.bytes;
        advanced();
      }
    }
    if ((await sink.sha256()) === known.sha256) return;
    known = null;
    await sink.clear();
    throw new TemplateRunError(
      'OUTPUT_DAMAGED',
      'The downloaded file is damaged: its digest differs from the one that the service sent. Download it again.',
    );
  });
}

/** Cancels the download, because a service that sends more bytes than it reports could fill the disk. */
function wrongSize(answer: TransportAnswer, bytes: number): TemplateRunError {
  answer.cancel();
  const message = `The output does not have the ${bytes} bytes that the service reports. The download was stopped.`;
  return new TemplateRunError('UNEXPECTED_ANSWER', message, { status: answer.status });
}

function rangeHeaders(known: Representation | null, bytes: number): Record<string, string> {
  const always = { 'want-repr-digest': 'sha-256=1', 'accept-encoding': 'identity' };
  if (known === null || bytes === 0) return always;
  return { ...always, range: `bytes=${bytes}-`, 'if-range': known.etag };
}

function representationOf(answer: TransportAnswer, from: number): Representation {
  const etag = answer.header('etag');
  const [, sha256] = /(?:^|,) *sha-256=:([A-Za-z0-9+/=]+):/.exec(answer.header('repr-digest') ?? '') ?? [];
  const totalBytes =
    answer.status === 206 ? rangeTotal(answer, from) : Number(answer.header('content-length') ?? 'none');
  const isSuccess = answer.status === 200 || answer.status === 206;
  if (isSuccess && etag !== null && sha256 !== undefined && Number.isInteger(totalBytes))
    return { etag, sha256, totalBytes };
  answer.cancel();
  throw unexpected(answer);
}

/** Size of the complete file; NaN if another range was sent than requested. */
function rangeTotal(answer: TransportAnswer, from: number): number {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.header('content-range') ?? '') ?? [];
  return Number(start) === from ? Number(total) : Number.NaN;
}
