// The body of a request as it arrives: back pressure, supervision of its progress, and reading the rest after a
// refusal. Knows nothing about forms. States: held (kept until its use is decided) → flowing (to a sink) or dropped
// (read and discarded) → ended; lost.
import type { RawResponse } from './raw-response.ts';
import { CHUNK_WORK_BYTES, type ReadTurns, type TurnReader } from './read-turns.ts';

/** Maximum time without a byte, after which the body is cut. */
const BODY_SILENCE_MILLISECONDS_MAX = 30_000;

/** Maximum time for reading what a refused client still sends. */
const DRAIN_MILLISECONDS_MAX = 30_000;

/**
 * Interval for checking an unfinished body. The library closes a connection that delivers less than 160 KiB in 10 s;
 * pausing and resuming restarts its timer, so this must be well below 10 s.
 */
const WATCH_MILLISECONDS = 2_000;

/**
 * A body that delivers this many bytes at once waits for its next turn. The library keeps reading a socket as long as
 * its 512 KiB buffer is filled, whether paused or not, so one turn may deliver much more. Less than this means that the
 * socket was empty.
 */
const LARGE_READ_BYTES = 128 * 1024;

/**
 * Maximum number of chunks per turn of the event loop if they are smaller than CHUNK_BYTES_MIN on average. Each chunk
 * costs a call: 256 KiB in one-byte chunks would block the loop for 100 ms, and the library reads them without a pause.
 */
const TINY_CHUNKS_PER_TURN = 1_024;
const CHUNK_BYTES_MIN = 16;

/**
 * Chunks of fewer bytes that arrive in one turn are joined before the sink receives them. One read of the library
 * (512 KiB) may contain 20,000 chunks, and for the sink a chunk costs as much as a few hundred bytes.
 */
const SHORT_CHUNK_BYTES = 1_024;

/** Maximum size of joined chunks, in bytes. */
const JOINED_BYTES_MAX = 16 * 1024;

/**
 * Maximum number of consecutive reads that were cut short because of tiny chunks. Node's server pauses when requested,
 * so that no single turn reaches the number of chunks above.
 */
const TINY_READS_MAX = 4;

export interface BodySink {
  /** The bytes are valid until this returns; copy what must be kept. */
  chunk(bytes: Buffer): void;
  /** The last byte has arrived. */
  end(): void;
  /** The body was silent for too long, or took too long in total. Nothing more follows. */
  cut(why: 'silent' | 'late'): void;
}

export class RequestBody implements TurnReader {
  receivedBytes = 0;
  ended = false;
  #response: RawResponse;
  #uploadMilliseconds: number;
  #state: 'held' | 'flowing' | 'dropped' | 'lost' = 'held';
  #held: Buffer[] = [];
  /** Short chunks of this turn that the sink has not received. null if there are none. */
  #joined: Buffer | null = null;
  #joinedBytes = 0;
  #sink: BodySink | null = null;
  #onDropped: (() => void) | null = null;
  #dropUntil = 0;
  /** Work of its last read: the chunks of one turn, and what the library reads after a pause. */
  lastReadWork = 0;
  /** Turn of the event loop that delivered the last chunk. */
  #turnNumber = 0;
  #chunksInTurn = 0;
  #bytesInTurn = 0;
  /** Number of consecutive reads with tiny chunks. */
  #tinyReads = 0;
  /** True if the sink has asked for a pause. */
  #paused = false;
  /** True while it waits for its turn. */
  #waiting = false;
  #turns: ReadTurns;
  #onTinyChunks: () => void;
  #startedAt = performance.now();
  #progressAt = this.#startedAt;
  #watch: NodeJS.Timeout | null = null;

  /**
   * Registers for data immediately, because it would be lost otherwise.
   * @param onTinyChunks must close the connection, because the chunks of the body are too small
   */
  constructor(response: RawResponse, uploadMilliseconds: number, turns: ReadTurns, onTinyChunks: () => void) {
    this.#response = response;
    this.#turns = turns;
    this.#onTinyChunks = onTinyChunks;
    this.#uploadMilliseconds = uploadMilliseconds;
    response.onData((chunk, isLast) => this.#receive(chunk, isLast));
  }

  /** Passes all bytes, including those already held, to the sink. */
  flow(sink: BodySink): void {
    if (this.#state !== 'held') return;
    this.#state = 'flowing';
    this.#sink = sink;
    const held = this.#held;
    this.#held = [];
    for (const bytes of held) sink.chunk(bytes);
    if (this.ended) sink.end();
    else this.resume();
  }

  /** Discards all further bytes. Calls `done` when the body has ended or the time is over. */
  drop(done: () => void, milliseconds = DRAIN_MILLISECONDS_MAX): void {
    if (this.#state === 'lost') return;
    this.#state = 'dropped';
    this.#held = [];
    this.#joined = null;
    this.#sink = null;
    this.#onDropped = done;
    this.#dropUntil = performance.now() + milliseconds;
    this.#startWatch();
    this.resume();
  }

  /** Called when the connection is closed or the response is complete: the response must not be used any more. */
  lose(): void {
    this.#state = 'lost';
    this.#held = [];
    this.#joined = null;
    this.#sink = null;
    this.#turns.leave(this);
    this.#stopWatch();
  }

  /** Asks the client to wait. */
  pause(): void {
    if (this.#paused || this.ended || this.#state === 'lost') return;
    this.#paused = true;
    if (!this.#waiting) this.#response.pause();
    this.#waiting = false;
    this.#turns.leave(this);
  }

  resume(): void {
    if (!this.#paused || this.#state === 'lost') return;
    this.#paused = false;
    this.#waiting = true;
    this.#turns.wait(this);
  }

  /** True if the service, not the client, is the reason for the pause. */
  get isHeldBack(): boolean {
    return this.#paused || this.#waiting;
  }

  /** Called when its turn has come. */
  continueReading(): void {
    this.#waiting = false;
    this.#progressAt = performance.now();
    this.#response.resume();
  }

  /**
   * Called at the end of the body. A connection that stays paused would show neither a disconnect nor the next request,
   * so it is resumed. This starts the library's timer, which must be kept from firing until the response.
   */
  #settle(): void {
    if (this.#paused || this.#waiting) {
      this.#paused = false;
      this.#waiting = false;
      this.#turns.leave(this);
      this.#response.resume();
      this.#startWatch();
    } else this.#stopWatch();
  }

  #awaitTurn(): void {
    if (this.#paused || this.#waiting) return;
    this.#waiting = true;
    this.#tinyReads = this.#hasTinyChunks ? this.#tinyReads + 1 : 0;
    this.#response.pause();
    this.#turns.wait(this);
  }

  #receive(chunk: Buffer, isLast: boolean): void {
    this.receivedBytes += chunk.byteLength;
    this.#measure(chunk.byteLength);
    if (!isLast && this.#isTiny) {
      // The library continues to deliver what it has read until the connection is closed.
      this.#onTinyChunks();
      return;
    }
    if (!isLast && this.lastReadWork >= LARGE_READ_BYTES) {
      this.#awaitTurn();
    }
    if (isLast) {
      this.ended = true;
      this.#settle();
    } else {
      // Once per turn, because reading the clock for each of many chunks is slow.
      if (this.#chunksInTurn === 1) this.#progressAt = performance.now();
      this.#startWatch();
    }
    if (this.#state === 'dropped') {
      if (isLast) this.#dropped();
      return;
    }
    if (this.#state === 'lost') return;
    if (this.#state === 'held') {
      this.#held.push(Buffer.from(chunk));
      this.pause();
      return;
    }
    this.#pass(chunk, isLast);
    if (isLast) this.#sink?.end();
  }

  /** Passes the chunk to the sink, a short one together with those that follow in this turn. */
  #pass(chunk: Buffer, isLast: boolean): void {
    const isShort = chunk.length < SHORT_CHUNK_BYTES && !isLast;
    if (this.#joined !== null && (!isShort || this.#joinedBytes + chunk.length > JOINED_BYTES_MAX)) this.#passJoined();
    if (!isShort) {
      if (chunk.length > 0) this.#sink?.chunk(chunk);
      return;
    }
    if (this.#state !== 'flowing') return;
    if (this.#joined === null) {
      this.#joined = Buffer.allocUnsafe(JOINED_BYTES_MAX);
      this.#joinedBytes = 0;
      const joined = this.#joined;
      setImmediate(() => {
        if (this.#joined === joined) this.#passJoined();
      });
    }
    this.#joinedBytes += chunk.copy(this.#joined, this.#joinedBytes);
  }

  #passJoined(): void {
    const joined = this.#joined;
    this.#joined = null;
    if (joined !== null) this.#sink?.chunk(joined.subarray(0, this.#joinedBytes));
  }

  /**
   * The library keeps reading after a pause, so bytes that arrive while the body waits count as part of the same read.
   */
  #measure(bytes: number): void {
    const turnNumber = this.#turns.turnNumber;
    const isSameTurn = turnNumber === this.#turnNumber;
    this.#turnNumber = turnNumber;
    this.#chunksInTurn = isSameTurn ? this.#chunksInTurn + 1 : 1;
    this.#bytesInTurn = isSameTurn ? this.#bytesInTurn + bytes : bytes;
    if (!isSameTurn && this.lastReadWork < LARGE_READ_BYTES) this.#tinyReads = 0;
    const readsOn = isSameTurn || this.#paused || this.#waiting;
    this.lastReadWork = (readsOn ? this.lastReadWork : 0) + bytes + CHUNK_WORK_BYTES;
  }

  get #isTiny(): boolean {
    return (this.#chunksInTurn > TINY_CHUNKS_PER_TURN && this.#hasTinyChunks) || this.#tinyReads > TINY_READS_MAX;
  }

  /** True if the chunks of this turn are tiny. */
  get #hasTinyChunks(): boolean {
    return this.#bytesInTurn < this.#chunksInTurn * CHUNK_BYTES_MIN;
  }

  #dropped(): void {
    this.#stopWatch();
    this.#onDropped?.();
  }

  #startWatch(): void {
    this.#watch ??= setInterval(() => this.#checkProgress(), Math.min(WATCH_MILLISECONDS, this.#uploadMilliseconds));
  }

  #stopWatch(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#watch = null;
  }

  #checkProgress(): void {
    const now = performance.now();
    if (this.ended) {
      // The response is not yet ready.
    } else if (this.#state === 'dropped') {
      if (now >= this.#dropUntil) {
        this.#dropped();
        return;
      }
    } else if (now - this.#startedAt >= this.#uploadMilliseconds) {
      this.#cut('late');
      return;
    } else if (!this.#paused && !this.#waiting && now - this.#progressAt >= BODY_SILENCE_MILLISECONDS_MAX) {
      this.#cut('silent');
      return;
    }
    if (this.#paused || this.#waiting) return;
    this.#response.pause();
    this.#response.resume();
  }

  #cut(why: 'silent' | 'late'): void {
    const sink = this.#sink;
    if (sink === null) return;
    this.#stopWatch();
    sink.cut(why);
  }
}
