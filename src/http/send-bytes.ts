// Sends the rest of a response piece by piece, as fast as the client reads. The HTTP library disconnects a client that
// sends its next request meanwhile. Knows nothing about files. States: reading (a piece) → writing → waiting (for the
// client) → reading or writing ... → over.
import type { RawResponse } from './raw-response.ts';

/** Access to the bytes of a response. */
export interface RangeReader {
  /**
   * Memory held by the reader until it is closed, in bytes. 0 if any position can be read again, as in a file. Otherwise
   * each read starts where the previous one ended.
   */
  readonly heldBytes: number;
  /** Returns at most `lengthBytes` bytes from `position` on, and at least one byte before the end. */
  read(position: number, lengthBytes: number): Promise<Uint8Array>;
  /** Called once. */
  close(): void;
}

const NO_BYTES = new Uint8Array();

/** Size of one read and one write. */
const PIECE_BYTES = 128 * 1024;

/**
 * Maximum time without progress before the client of a download is disconnected. The kernel's send buffer (up to some
 * MB) hides slow reading from the service: at 20 KB/s there is no progress for minutes.
 */
export const DOWNLOAD_STALL_MILLISECONDS_MAX = 300_000;

/** The same for responses that are held in memory. */
export const ANSWER_STALL_MILLISECONDS_MAX = 30_000;

/** The library closes a connection after 10 s without a write; pausing and resuming restarts that timer. */
const WATCH_MILLISECONDS = 4_000;

export interface Sending {
  readonly source: RangeReader;
  readonly totalBytes: number;
  /** Number of bytes already written. */
  readonly sentBytes: number;
  readonly stallMilliseconds: number;
  /** True if the last write was not accepted: the client must read before the next write. */
  readonly isFull: boolean;
  readonly onDisconnect: (listener: () => void) => void;
  /** Receives the number of bytes sent, and a fault of the source. */
  readonly done: (sentBytes: number, fault: unknown) => void;
}

/** Creates a reader of bytes in memory. */
export function memoryReader(bytes: Uint8Array): RangeReader {
  return {
    heldBytes: bytes.length,
    read: async (at, lengthBytes) => bytes.subarray(at, at + lengthBytes),
    close: () => {},
  };
}

/** Creates a reader of a text in UTF-8. Encodes only what is read. */
export function textReader(text: string): RangeReader {
  const encoder = new TextEncoder();
  let at = 0;
  return {
    // V8 stores a character in at most two bytes.
    heldBytes: 2 * text.length,
    read: async (_position, lengthBytes) => {
      const cutsPair = isHighSurrogate(text.charCodeAt(at + lengthBytes - 1));
      const bytes = new Uint8Array(lengthBytes);
      const { read, written } = encoder.encodeInto(text.slice(at, at + lengthBytes + (cutsPair ? 1 : 0)), bytes);
      at += read;
      return bytes.subarray(0, written);
    },
    close: () => {},
  };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Restarts the library's timer. A connection that stays paused never becomes writable. */
function keepOpen(response: RawResponse): void {
  response.pause();
  response.resume();
}

function tryEnd(response: RawResponse, piece: Uint8Array, totalBytes: number): [boolean, boolean] {
  let ended: [boolean, boolean] = [false, false];
  response.cork(() => {
    ended = response.tryEnd(piece, totalBytes);
  });
  return ended;
}

/** Closes the connection of a client that accepts nothing for this time. */
function watchProgress(response: RawResponse, stallMilliseconds: number, progressAt: () => number): NodeJS.Timeout {
  return setInterval(() => {
    if (performance.now() - progressAt() >= stallMilliseconds) response.close();
    else keepOpen(response);
  }, WATCH_MILLISECONDS);
}

/** The head must already be written. */
export function sendBytes(response: RawResponse, sending: Sending, answers: WaitingAnswers): void {
  const { source, totalBytes, stallMilliseconds, onDisconnect, done } = sending;
  let { sentBytes } = sending;
  let progressAt = performance.now();
  let over = false;
  let isWaiting = false;
  let rest: Uint8Array | null = null;
  const waiting: WaitingAnswer = { close: () => void response.close() };
  const finish = (fault: unknown): void => {
    if (over) return;
    over = true;
    clearInterval(watch);
    answers.leave(waiting);
    source.close();
    done(sentBytes, fault);
  };
  const watch = watchProgress(response, stallMilliseconds, () => progressAt);
  onDisconnect(() => finish(null));

  const write = (piece: Uint8Array): void => {
    const start = sentBytes;
    const [ok, complete] = tryEnd(response, piece, totalBytes);
    progressAt = performance.now();
    sentBytes = complete ? totalBytes : start + piece.length;
    if (complete) finish(null);
    else if (ok) {
      read();
    } else {
      sentBytes = response.getWriteOffset();
      waitForClient(source.heldBytes === 0 ? null : piece.subarray(sentBytes - start));
    }
  };
  /** @param bytes what the kernel did not accept, or null to read it again */
  const waitForClient = (bytes: Uint8Array | null): void => {
    rest = bytes;
    isWaiting = true;
    if (source.heldBytes > 0) answers.wait(waiting, source.heldBytes);
    if (!over) response.onWritable(onWritable);
  };
  /** One function for all waits: while uWebSockets.js calls a handler, it ignores the registration of another one. */
  const onWritable = (offset: number): boolean => {
    if (over || !isWaiting) return true;
    isWaiting = false;
    progressAt = performance.now();
    answers.leave(waiting);
    const taken = offset - sentBytes;
    sentBytes = offset;
    if (sentBytes === totalBytes) write(NO_BYTES);
    else if (rest === null || rest.length === taken) read();
    else write(rest.subarray(taken));
    return true;
  };
  const read = (): void => {
    source.read(sentBytes, Math.min(PIECE_BYTES, totalBytes - sentBytes)).then((piece) => {
      if (over) return;
      if (piece.length === 0) return fail(new Error('an output ended before its length'));
      write(piece);
    }, fail);
  };
  const fail = (fault: unknown): void => {
    if (over) return;
    finish(fault ?? new Error('an output could not be read'));
    response.close();
  };
  if (sending.isFull) waitForClient(null);
  else read();
}

// Memory of responses whose clients read more slowly than the service writes. The bytes are charged to the memory
// budget. Beyond a limit, the connection that has waited longest without progress is closed. One object for all ports.

/** Limits for waiting responses: this fraction (1/n) of the memory budget, and at most this many bytes. */
const BUDGET_SHARE = 16;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Maximum number of requests answered in the turn of the event loop in which they arrive. Further responses wait for
 * the next turn, so that one packet full of pipelined requests cannot block the loop: the HTTP library closes a
 * connection which sends a request before the previous one is answered. 256 short responses take about 5 ms.
 */
const ANSWERS_PER_TURN = 256;

/**
 * One in this many responses without a length (204) closes its connection. The library does not report whether the
 * kernel accepts these responses, so a client that never reads could otherwise accumulate them without limit.
 */
const NO_CONTENT_PER_CONNECTION = 256;

export interface WaitingAnswer {
  /** Closes the connection. The response then leaves. */
  close(): void;
}

export interface WaitingAnswersSettings {
  readonly budgetBytes: number;
  /** Charges bytes to the memory budget; a negative number releases them. */
  readonly charge: (bytes: number) => void;
}

export class WaitingAnswers {
  /** Number of connections closed because all waiting responses together exceeded the limit. Since the start. */
  closed = 0;
  readonly #bytesMax: number;
  readonly #charge: (bytes: number) => void;
  /** Bytes of each response, ordered by time without progress, longest first. */
  readonly #bytes = new Map<WaitingAnswer, number>();
  #heldBytes = 0;
  #answersInTurn = 0;
  #noContentAnswers = 0;

  constructor({ budgetBytes, charge }: WaitingAnswersSettings) {
    this.#bytesMax = Math.min(WAITING_BYTES_MAX, Math.floor(budgetBytes / BUDGET_SHARE));
    this.#charge = charge;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Returns whether another request may be answered in this turn of the event loop. */
  takesTurn(): boolean {
    if (this.#answersInTurn === 0) {
      setImmediate(() => {
        this.#answersInTurn = 0;
      });
    }
    this.#answersInTurn += 1;
    return this.#answersInTurn <= ANSWERS_PER_TURN;
  }

  /** Returns whether a connection stays open after a response without a length. */
  keepsConnection(): boolean {
    this.#noContentAnswers += 1;
    return this.#noContentAnswers % NO_CONTENT_PER_CONNECTION !== 0;
  }

  /** Registers a response that waits for its client and holds this many bytes. Called again after each progress. */
  wait(answer: WaitingAnswer, bytes: number): void {
    this.leave(answer);
    this.#bytes.set(answer, bytes);
    this.#hold(bytes);
    // A response that exceeds the limit by itself may wait if it is the only one.
    while (this.#heldBytes > this.#bytesMax && this.#bytes.size > 1) {
      const [longest] = this.#bytes.keys() as Iterable<WaitingAnswer> as [WaitingAnswer];
      this.leave(longest);
      this.closed += 1;
      longest.close();
    }
  }

  /** Does nothing if the response does not wait. */
  leave(answer: WaitingAnswer): void {
    const bytes = this.#bytes.get(answer);
    if (bytes === undefined) return;
    this.#bytes.delete(answer);
    this.#hold(-bytes);
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#charge(bytes);
  }
}
