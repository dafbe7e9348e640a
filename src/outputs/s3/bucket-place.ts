// Outputs in a bucket of an object store that speaks S3. Nothing here waits in a thread: a store that hangs holds up those
// alone who want something of it.
import type http from 'node:http';
import type { RangeReader } from '../../http/send-bytes.ts';
import { SharedStoreUnavailableError } from '../../stores/store-unavailable.ts';
import type { Log } from '../../telemetry/log.ts';
import { PlaceTurns } from '../place-turns.ts';
import { isHour, type SharedPlace, SOON_MILLISECONDS } from '../shared-place.ts';
import type { S3Address } from './s3-address.ts';
import { S3RefusedError, type S3Request, S3Requests, S3UnreachableError } from './s3-requests.ts';
import { uploadToS3 } from './s3-upload.ts';

const WHAT = 'the bucket of outputs';

/** Uploads at a time; each takes a few pieces of memory. */
const UPLOADS_MAX = 4;

/** Nobody waits for these. */
const ASIDE_MILLISECONDS = 10_000;

/** Written by each node that starts. */
const STARTED = 'started';

export class BucketPlace implements SharedPlace {
  readonly #requests: S3Requests;
  readonly #uploads = new PlaceTurns(WHAT, UPLOADS_MAX);

  private constructor(requests: S3Requests) {
    this.#requests = requests;
  }

  /** Rejects with SharedStoreUnavailableError where it may not be listed, or not be written. */
  static async open(address: S3Address, log: Log): Promise<BucketPlace> {
    const place = new BucketPlace(new S3Requests(address, log));
    try {
      await place.#list(1);
      await place.put(STARTED, new Uint8Array(), 0, ASIDE_MILLISECONDS);
      return place;
    } catch (fault) {
      place.close();
      throw fault;
    }
  }

  /** By code. */
  get troubles(): ReadonlyMap<string, number> {
    return this.#requests.troubles;
  }

  hurry(): void {
    this.#uploads.hurry();
  }

  close(): void {
    this.#requests.close();
  }

  async put(name: string, content: Uint8Array | string, sizeBytes: number, milliseconds: number): Promise<string> {
    const until = performance.now() + milliseconds;
    const upload = (): Promise<string> =>
      uploadToS3(this.#requests, name, { content, sizeBytes }, until - performance.now());
    return unavailableOf(this.#uploads.takeWithin(milliseconds, upload, () => this.remove(name)));
  }

  async open(name: string, start: number, lengthBytes: number): Promise<RangeReader | null> {
    // A range of nothing cannot be asked for.
    if (lengthBytes === 0) return { read: async () => new Uint8Array(), close: () => {} };
    const range = `bytes=${start}-${start + lengthBytes - 1}`;
    const request = { method: 'GET', name, range, stepMilliseconds: SOON_MILLISECONDS } as const;
    try {
      const answer = await unavailableOf(this.#requests.open(request));
      if (answer.headers['content-range']?.startsWith(`${range.replace('=', ' ')}/`) !== true) {
        answer.destroy();
        throw new SharedStoreUnavailableError(WHAT, new Error('it does not give the range that was asked for'));
      }
      return readerOf(answer, lengthBytes);
    } catch (fault) {
      if (fault instanceof SharedStoreUnavailableError && isMissing(fault.cause)) return null;
      throw fault;
    }
  }

  async remove(name: string): Promise<void> {
    const request = { method: 'DELETE', name, stepMilliseconds: ASIDE_MILLISECONDS } as const;
    await unavailableOf(this.#requests.text(request));
  }

  /** Names are listed in their order: those of the oldest hours come first. */
  async sweep(hour: string): Promise<void> {
    for (;;) {
      const names = await this.#list(1000);
      const expired = names.filter((name) => {
        const [first = ''] = name.split('/');
        return isHour(first) && first < hour;
      });
      for (const name of expired) await this.remove(name);
      if (expired.length === 0 || expired.length < names.length) return;
    }
  }

  /** The first names. */
  async #list(count: number): Promise<string[]> {
    const { prefix } = this.#requests;
    const query = { 'list-type': '2', 'max-keys': String(count), prefix };
    const request: S3Request = { method: 'GET', name: '', query, stepMilliseconds: ASIDE_MILLISECONDS };
    const { text } = await unavailableOf(this.#requests.text(request));
    return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key!.slice(prefix.length));
  }
}

/** What clients of a store know: the others are in the log and in the metrics. */
async function unavailableOf<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (fault) {
    if (fault instanceof S3RefusedError || fault instanceof S3UnreachableError) {
      throw new SharedStoreUnavailableError(WHAT, fault);
    }
    throw fault;
  }
}

function isMissing(fault: unknown): boolean {
  return fault instanceof S3RefusedError && fault.code === 'NoSuchKey';
}

async function reached<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (fault) {
    throw new S3UnreachableError(fault);
  }
}

/** Reads on as its client takes it: what waits meanwhile is with the connection. */
function readerOf(answer: http.IncomingMessage, lengthBytes: number): RangeReader {
  const pieces = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let left: Uint8Array = new Uint8Array();
  let position = 0;
  return {
    read: async (at, length) => {
      if (at !== position) throw new Error(`a download reads at ${at} and not at ${position}`);
      while (left.length === 0 && position < lengthBytes) {
        const { value, done } = await unavailableOf(reached(pieces.next()));
        if (done) break;
        left = value;
      }
      const piece = left.subarray(0, length);
      left = left.subarray(piece.length);
      position += piece.length;
      return piece;
    },
    close: () => {
      if (position < lengthBytes) answer.destroy();
      else answer.resume();
    },
  };
}
