// Opens a file to be sent and builds the multipart form around it. Each attempt opens the source again.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { SourceError } from '../answers.ts';
import type { Upload } from '../transport.ts';

/** A path, bytes, or a function that returns a new stream of the same bytes for each attempt. */
export type Source = string | Uint8Array | (() => Readable | Promise<Readable>);

/** Size of the pieces of a body, large enough that the overhead of each piece is small. */
const PIECE_BYTES = 256 * 1024;

export interface OpenForm {
  readonly contentType: string;
  /** Null: unknown before the end of the source. */
  readonly lengthBytes: number | null;
  /** Iterable once. The source is closed at the end, and also if the iteration stops early. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Closes the source, even if it never yields a piece. */
  close(): void;
}

interface OpenSource {
  readonly name: string;
  readonly lengthBytes: number | null;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Stream that must be closed if the pieces are not read; null: nothing stays open. */
  readonly stream: Readable | null;
}

/**
 * Rejects with a system error or a SourceError if the file cannot be opened, and with the signal's reason even if the
 * source never opens.
 */
export async function openForm({ source, fields, onSent }: Upload<Source>, signal: AbortSignal): Promise<OpenForm> {
  const boundary = `template-run-${crypto.randomUUID()}`;
  const opened = await unlessAborted(openSource(source), signal, close);
  const head = Buffer.from(
    [...fields]
      .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('') +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${escaped(opened.name)}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    onSent(bytes, opened.lengthBytes);
    yield head;
    for await (const piece of opened.pieces) {
      yield piece;
      bytes += piece.length;
      onSent(bytes, opened.lengthBytes);
    }
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    lengthBytes: opened.lengthBytes === null ? null : head.length + opened.lengthBytes + tail.length,
    pieces: pieces(),
    close: () => close(opened),
  };
}

/** Errors of a stream no longer matter once it is closed, so they are ignored. */
function close({ stream }: OpenSource): void {
  stream?.on('error', () => {}).destroy();
}

/** @param closeLate receives the opened source if it opens only after the abort */
function unlessAborted<T>(opening: Promise<T>, signal: AbortSignal, closeLate: (late: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      reject(signal.reason);
      opening.then(closeLate, () => {});
    };
    const settled = (): void => signal.removeEventListener('abort', aborted);
    signal.addEventListener('abort', aborted, { once: true });
    opening.then(resolve, reject).then(settled);
    if (signal.aborted) aborted();
  });
}

async function openSource(source: Source): Promise<OpenSource> {
  if (typeof source === 'string') return openFile(source);
  if (typeof source !== 'function')
    return { name: 'upload', lengthBytes: source.length, pieces: bytesOf([source]), stream: null };
  const stream = await source();
  return { name: 'upload', lengthBytes: null, pieces: bytesOf(stream), stream };
}

/**
 * Checks the file and closes it again, so that an unread source leaves nothing open. The file is reopened when the
 * first piece is requested.
 */
async function openFile(path: string): Promise<OpenSource> {
  const { handle, lengthBytes } = await openRegular(path);
  await handle.close();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    if (lengthBytes === 0) return;
    const { handle: again } = await openRegular(path);
    let bytes = 0;
    // The stream closes the file, also if the iteration stops early.
    for await (const piece of again.createReadStream({ end: lengthBytes - 1, highWaterMark: PIECE_BYTES })) {
      bytes += (piece as Uint8Array).length;
      yield piece as Uint8Array;
    }
    if (bytes !== lengthBytes)
      throw new SourceError('SOURCE_SHORTENED', `${path} became shorter while it was being sent.`);
  }
  return { name: basename(path), lengthBytes, pieces: pieces(), stream: null };
}

/**
 * Opens without blocking. A blocking open of a pipe without a writer would occupy a thread and prevent the process
 * from ending.
 */
async function openRegular(path: string): Promise<{ readonly handle: FileHandle; readonly lengthBytes: number }> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  let isKept = false;
  try {
    const stats = await handle.stat();
    if (!stats.isFile())
      throw new SourceError(
        'SOURCE_NOT_A_FILE',
        `${path} is not a regular file, so it cannot be read again if the request is repeated.`,
      );
    isKept = true;
    return { handle, lengthBytes: stats.size };
  } finally {
    if (!isKept) await handle.close();
  }
}

async function* bytesOf(pieces: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

/** Escapes a file name the way browsers do in forms. */
function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
