// A file to send, as Node has them, and the form around it. Each try opens it anew.
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { Upload } from '../transport.ts';

/** A path, bytes, or what gives a new stream of the same bytes for each try. */
export type Source = string | Uint8Array | (() => Readable | Promise<Readable>);

/** A piece of a body: large enough that each costs little. */
const PIECE_BYTES = 256 * 1024;

export interface OpenForm {
  readonly contentType: string;
  /** null: its end is not known before. */
  readonly lengthBytes: number | null;
  /** Read once, to its end or not: what was opened is closed. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Nobody waits for a piece any more, also where the source gives none. */
  close(): void;
}

interface OpenSource {
  readonly name: string;
  readonly lengthBytes: number | null;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** What stays open when nobody reads on. */
  readonly stream: Readable | null;
}

/** Rejects with a system error where the file cannot be opened. */
export async function openForm({ source, fields, onSent }: Upload<Source>): Promise<OpenForm> {
  const boundary = `template-run-${crypto.randomUUID()}`;
  const opened = await openSource(source);
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
    close: () => void opened.stream?.destroy(),
  };
}

async function openSource(source: Source): Promise<OpenSource> {
  if (typeof source === 'string') return openFile(source);
  if (typeof source !== 'function')
    return { name: 'upload', lengthBytes: source.length, pieces: bytesOf([source]), stream: null };
  const stream = await source();
  return { name: 'upload', lengthBytes: null, pieces: bytesOf(stream), stream };
}

/** Nothing stays open that is not read: the file is opened again when its first piece is asked for. */
async function openFile(path: string): Promise<OpenSource> {
  const handle = await open(path);
  const stats = await handle.stat().finally(() => handle.close());
  if (!stats.isFile()) throw new TypeError(`${path} is no file that could be read twice.`);
  const lengthBytes = stats.size;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    if (lengthBytes === 0) return;
    const again = await open(path);
    let bytes = 0;
    // The stream closes the file, also where it is left.
    for await (const piece of again.createReadStream({ end: lengthBytes - 1, highWaterMark: PIECE_BYTES })) {
      bytes += (piece as Uint8Array).length;
      yield piece as Uint8Array;
    }
    if (bytes !== lengthBytes) throw new Error(`${path} became shorter while it was sent.`);
  }
  return { name: basename(path), lengthBytes, pieces: pieces(), stream: null };
}

async function* bytesOf(pieces: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

/** As browsers write file names into forms. */
function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
