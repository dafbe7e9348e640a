// Outputs in a bucket of an S3-compatible object store. No thread is blocked: a store that hangs delays only the
// callers that need it.
import type http from 'node:http';
import { memoryReader, type RangeReader } from '../../http/send-bytes.ts';
import { SharedStoreUnavailableError } from '../../stores/stores.ts';
import type { Log } from '../../telemetry/log.ts';
import { isHour, PlaceTurns, type SharedPlace, SOON_MILLISECONDS } from '../shared-outputs.ts';
import {
  type S3Address,
  S3RefusedError,
  type S3Request,
  S3Requests,
  S3UnreachableError,
  uploadToS3,
} from './s3-requests.ts';

const WHAT = 'the bucket of outputs';

/** Maximum number of concurrent uploads. Each takes a few pieces of memory. */
const UPLOADS_MAX = 4;

/** Time limit of requests for which no client waits. */
const CLEANUP_MILLISECONDS_MAX = 10_000;

/** Object that each starting node writes. */
const STARTED = 'started';

export class BucketPlace implements SharedPlace {
  readonly #requests: S3Requests;
  readonly #uploads = new PlaceTurns(WHAT, UPLOADS_MAX);

  private constructor(requests: S3Requests) {
    this.#requests = requests;
  }

  /** Rejects with SharedStoreUnavailableError if the bucket may not be listed or written. */
  static async open(address: S3Address, log: Log): Promise<BucketPlace> {
    const place = new BucketPlace(new S3Requests(address, log));
    try {
      await place.#list(1);
      await place.put(STARTED, new Uint8Array(), 0, CLEANUP_MILLISECONDS_MAX);
      return place;
    } catch (fault) {
      place.close();
      throw fault;
    }
  }

  /** Number of errors by code. */
  get errorCounts(): ReadonlyMap<string, number> {
    return this.#requests.errorCounts;
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
    // An empty range cannot be requested.
    if (lengthBytes === 0) return memoryReader(new Uint8Array());
    const range = `bytes=${start}-${start + lengthBytes - 1}`;
    const request = { method: 'GET', name, range, stepMilliseconds: SOON_MILLISECONDS } as const;
    try {
      const answer = await unavailableOf(this.#requests.open(request));
      if (answer.headers['content-range']?.startsWith(`${range.replace('=', ' ')}/`) !== true) {
        answer.destroy();
        throw new SharedStoreUnavailableError(WHAT, new Error('it did not return the requested range'));
      }
      return readerOf(answer, lengthBytes);
    } catch (fault) {
      if (fault instanceof SharedStoreUnavailableError && isMissing(fault.cause)) return null;
      throw fault;
    }
  }

  async remove(name: string): Promise<void> {
    const request = { method: 'DELETE', name, stepMilliseconds: CLEANUP_MILLISECONDS_MAX } as const;
    await unavailableOf(this.#requests.text(request));
  }

  /** Names are listed in order, so objects that expired earliest come first. */
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

  /** Lists the first names. */
  async #list(count: number): Promise<string[]> {
    const { prefix } = this.#requests;
    const query = { 'list-type': '2', 'max-keys': String(count), prefix };
    const request: S3Request = { method: 'GET', name: '', query, stepMilliseconds: CLEANUP_MILLISECONDS_MAX };
    const { text } = await unavailableOf(this.#requests.text(request));
    return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key!.slice(prefix.length));
  }
}

/** Converts errors of the bucket to SharedStoreUnavailableError. The log and the metrics have the original errors. */
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

/** Memory that Node holds for a response that is not read, in bytes: a chunk and its queue. */
const STREAM_BYTES = 128 * 1024;

/** Reads as the client accepts data. Unread data stays in the connection. */
function readerOf(answer: http.IncomingMessage, lengthBytes: number): RangeReader {
  const pieces = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let left: Uint8Array = new Uint8Array();
  let position = 0;
  return {
    heldBytes: STREAM_BYTES,
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
