// Downloads one output into a sink: goes on where a lost connection left off (Range, If-Range), begins again where the
// service has another file, and compares what came with the service's digest of the whole.
import { refuseErrors, unexpected } from './answers.ts';
import { TemplateRunError } from './errors.ts';
import { type RetrySettings, retrying } from './retries.ts';
import type { TransportAnswer } from './transport.ts';

/** Where the bytes go. */
export interface OutputSink {
  /** How many it holds. */
  readonly bytes: number;
  append(piece: Uint8Array): Promise<void>;
  /** Holds nothing any more. */
  clear(): Promise<void>;
  /** Of all bytes that it holds, in base64. */
  sha256(): Promise<string>;
}

export interface Download {
  readonly sink: OutputSink;
  readonly ask: (headers: Readonly<Record<string, string>>) => Promise<TransportAnswer>;
  readonly onReceived: (bytes: number, totalBytes: number | null) => void;
}

/** The file that the bytes in the sink are of. */
interface Representation {
  readonly etag: string;
  readonly sha256: string;
  readonly totalBytes: number;
}

/** Resolves when the sink holds the whole output and its digest is right. */
export async function resumedDownload(settings: RetrySettings, { sink, ask, onReceived }: Download): Promise<void> {
  let known: Representation | null = null;
  let furthest = 0;
  await retrying(settings, async (advanced) => {
    // All bytes may have come before the connection was lost.
    if (known === null || sink.bytes < known.totalBytes) {
      const answer = await ask(rangeHeaders(known, sink.bytes));
      await refuseErrors(answer);
      known = representationOf(answer, sink.bytes);
      if (answer.status === 200) await sink.clear();
      for await (const piece of answer.body) {
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
      'What was downloaded is not what the service sent: the digests differ.',
    );
  });
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
  const isSound = answer.status === 200 || answer.status === 206;
  if (isSound && etag !== null && sha256 !== undefined && Number.isInteger(totalBytes))
    return { etag, sha256, totalBytes };
  answer.cancel();
  throw unexpected(answer);
}

/** The length of the whole, NaN where another range was sent than was asked for. */
function rangeTotal(answer: TransportAnswer, from: number): number {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.header('content-range') ?? '') ?? [];
  return Number(start) === from ? Number(total) : Number.NaN;
}
