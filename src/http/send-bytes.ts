// Sends a long answer piece by piece, as fast as the client reads and with one piece in memory. Knows nothing of files.
// States: reading (a piece) → writing → waiting (for the client) → reading ... → over.
import type { RawResponse } from './raw-response.ts';

/** The bytes of an output from any position on. */
export interface RangeReader {
  /** At most `lengthBytes` bytes from `position` on; fewer than asked, but never none before the end. */
  read(position: number, lengthBytes: number): Promise<Uint8Array>;
  /** Called once. */
  close(): void;
}

/** One read and one write. */
const PIECE_BYTES = 128 * 1024;

/**
 * A client that takes nothing for this long is given up. The kernel's own send buffer (up to some MB) hides slow
 * reading from us: at 20 KB/s it says nothing for minutes.
 */
const STALL_MILLISECONDS_MAX = 300_000;

/** The library closes a connection after 10 s without a write; pause and resume start that timer anew. */
const WATCH_MILLISECONDS = 4_000;

/** Sends `totalBytes` bytes; the head is already written. `done` gets what was sent, and a fault of the source. */
export function sendBytes(
  response: RawResponse,
  source: RangeReader,
  totalBytes: number,
  onGone: (listener: () => void) => void,
  done: (sentBytes: number, fault: unknown) => void,
): void {
  let sentBytes = 0;
  let progressAt = performance.now();
  let over = false;
  const finish = (fault: unknown): void => {
    if (over) return;
    over = true;
    clearInterval(watch);
    source.close();
    done(sentBytes, fault);
  };
  const watch = setInterval(() => {
    if (performance.now() - progressAt >= STALL_MILLISECONDS_MAX) return void response.close();
    response.pause();
    response.resume();
  }, WATCH_MILLISECONDS);
  onGone(() => finish(null));

  const write = (piece: Uint8Array): void => {
    const start = sentBytes;
    let ok = false;
    let complete = false;
    response.cork(() => {
      [ok, complete] = response.tryEnd(piece, totalBytes);
    });
    progressAt = performance.now();
    if (complete) {
      sentBytes = totalBytes;
      finish(null);
    } else if (ok) {
      sentBytes = start + piece.length;
      read();
    } else {
      // What the kernel did not take stays ours: it is written again from where it stopped.
      response.onWritable((offset) => {
        progressAt = performance.now();
        sentBytes = offset;
        const rest = piece.subarray(offset - start);
        if (rest.length === 0) read();
        else write(rest);
        return true;
      });
    }
  };
  const read = (): void => {
    source.read(sentBytes, Math.min(PIECE_BYTES, totalBytes - sentBytes)).then(
      (piece) => {
        if (over) return;
        if (piece.length === 0) return fail(new Error('an output ended before its length'));
        write(piece);
      },
      (fault: unknown) => fail(fault),
    );
  };
  const fail = (fault: unknown): void => {
    if (over) return;
    finish(fault ?? new Error('an output could not be read'));
    response.close();
  };
  read();
}
