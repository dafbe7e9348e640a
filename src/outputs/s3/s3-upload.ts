// Sends an output to a bucket: in one request, or in parts where it is long. A step that fails for a reason that passes is
// tried again until the time is over; the file is read again then.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { S3RefusedError, type S3Request, type S3Requests, S3UnreachableError } from './s3-requests.ts';

/** In bytes. A part may be 5 MiB to 5 GiB, and there may be 10,000 of them. */
export const PART_BYTES = 64 * 1024 ** 2;

/** Without a step forward. */
const STEP_MILLISECONDS = 10_000;

/** Until the first further try, and twice as long each time. */
const AGAIN_MILLISECONDS = 100;
const AGAIN_MILLISECONDS_MAX = 5_000;

export interface S3Content {
  /** Or the path of a file. */
  readonly content: Uint8Array | string;
  readonly sizeBytes: number;
}

/** Rejects with S3RefusedError, S3UnreachableError, or a fault of the file. @returns SHA-256 in lower-case hex */
export async function uploadToS3(
  requests: S3Requests,
  name: string,
  content: S3Content,
  milliseconds: number,
): Promise<string> {
  const until = performance.now() + milliseconds;
  const again = <T>(step: () => Promise<T>): Promise<T> => untilDone(step, until);
  if (content.sizeBytes <= PART_BYTES) {
    const { hash } = await again(() => sendPart(requests, { name }, content, 0, createHash('sha256')));
    return hash.digest('hex');
  }
  const begun = { method: 'POST', name, query: { uploads: '' }, stepMilliseconds: STEP_MILLISECONDS } as const;
  const { text } = await again(() => requests.text(begun));
  const [, uploadId = ''] = /<UploadId>([^<]+)<\/UploadId>/.exec(text) ?? [];
  try {
    const tags: string[] = [];
    let whole = createHash('sha256');
    for (let start = 0; start < content.sizeBytes; start += PART_BYTES) {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const { hash, tag } = await again(() => sendPart(requests, { name, query }, content, start, whole));
      whole = hash;
      tags.push(tag);
    }
    const body = bodyOf(completion(tags));
    await again(() => requests.text({ ...begun, query: { uploadId }, body }));
    return whole.digest('hex');
  } catch (fault) {
    // What it does not take now, a rule of the bucket takes away: uploads that are not complete cost too.
    await requests
      .text({ method: 'DELETE', name, query: { uploadId }, stepMilliseconds: STEP_MILLISECONDS })
      .catch(() => {});
    throw fault;
  }
}

/** @param before the digest of what was sent before, which stays as it is: the part may have to be sent again */
async function sendPart(
  requests: S3Requests,
  place: Pick<S3Request, 'name' | 'query'>,
  { content, sizeBytes }: S3Content,
  start: number,
  before: Hash,
): Promise<{ readonly hash: Hash; readonly tag: string }> {
  const end = Math.min(start + PART_BYTES, sizeBytes);
  const hash = before.copy();
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    const source =
      typeof content === 'string' ? createReadStream(content, { start, end: end - 1 }) : [content.subarray(start, end)];
    for await (const piece of source) {
      hash.update(piece);
      yield piece;
    }
  };
  const body = { pieces: pieces(), sizeBytes: end - start };
  const { headers } = await requests.text({ method: 'PUT', ...place, body, stepMilliseconds: STEP_MILLISECONDS });
  return { hash, tag: String(headers['etag'] ?? '') };
}

async function untilDone<T>(step: () => Promise<T>, until: number): Promise<T> {
  for (let wait = AGAIN_MILLISECONDS; ; wait = Math.min(2 * wait, AGAIN_MILLISECONDS_MAX)) {
    try {
      return await step();
    } catch (fault) {
      const left = until - performance.now();
      if (!passes(fault) || left <= 0) throw fault;
      await pause(Math.min(wait, left));
    }
  }
}

/** Whether it may succeed when it is tried again. */
function passes(fault: unknown): boolean {
  if (fault instanceof S3RefusedError) return fault.status >= 500 || fault.status === 429 || fault.status === 408;
  return fault instanceof S3UnreachableError;
}

function completion(tags: readonly string[]): string {
  const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

function bodyOf(text: string): NonNullable<S3Request['body']> {
  const bytes = Buffer.from(text);
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    yield bytes;
  };
  return { pieces: pieces(), sizeBytes: bytes.length };
}
