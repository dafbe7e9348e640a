// The body of one request as it arrives: back pressure, the watch over its progress, and what happens to what is still
// sent after a refusal. It knows nothing of forms.
// States: held (kept until somebody decides) → flowing (to a sink) or dropped (read and thrown away) → ended; lost.
import type { RawResponse } from './raw-response.ts';
import type { ReadTurns, TurnReader } from './read-turns.ts';

/** A body that brings no byte for this long is cut. */
const BODY_SILENCE_MILLISECONDS_MAX = 30_000;

/** What a refused client still sends is read for at most this long. */
const DRAIN_MILLISECONDS_MAX = 30_000;

/**
 * How often an unfinished body is looked at. The library cuts a connection that brought less than 160 KiB in 10 s;
 * pause and resume start its timer anew, so this must stay well below that.
 */
const WATCH_MILLISECONDS = 2_000;

/**
 * A body that brings so many bytes at once waits for its next turn. The library reads a socket on and on while its buffer
 * of 512 KiB comes back full, paused or not, so that one turn can bring much more; less than this was all there was.
 */
const LARGE_READ_BYTES = 128 * 1024;

export interface BodySink {
  /** The bytes are gone when this returns: what is to stay must be copied. */
  chunk(bytes: Buffer): void;
  /** The last byte has arrived. */
  end(): void;
  /** No byte for too long, or the whole takes too long. Nothing more comes. */
  cut(why: 'silent' | 'late'): void;
}

export class RequestBody implements TurnReader {
  receivedBytes = 0;
  ended = false;
  #response: RawResponse;
  #uploadMilliseconds: number;
  #state: 'held' | 'flowing' | 'dropped' | 'lost' = 'held';
  #held: Buffer[] = [];
  #sink: BodySink | null = null;
  #onDropped: (() => void) | null = null;
  #dropUntil = 0;
  /** What it brought when it last read, in bytes: one chunk, and what the library reads on after a pause. */
  lastReadBytes = 0;
  /** Nobody wants to read now. */
  #paused = false;
  /** It waits for its turn. */
  #waiting = false;
  #turns: ReadTurns;
  #startedAt = performance.now();
  #progressAt = this.#startedAt;
  #watch: NodeJS.Timeout | null = null;

  /** Registers for the data at once: it would be lost otherwise. */
  constructor(response: RawResponse, uploadMilliseconds: number, turns: ReadTurns) {
    this.#response = response;
    this.#turns = turns;
    this.#uploadMilliseconds = uploadMilliseconds;
    response.onData((chunk, isLast) => this.#receive(chunk, isLast));
  }

  /** Sends everything, past and future, to the sink. */
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

  /** From now on bytes are read and dropped; `done` is called when the body has ended or the time is over. */
  drop(done: () => void, milliseconds = DRAIN_MILLISECONDS_MAX): void {
    if (this.#state === 'lost') return;
    this.#state = 'dropped';
    this.#held = [];
    this.#sink = null;
    this.#onDropped = done;
    this.#dropUntil = performance.now() + milliseconds;
    this.#startWatch();
    this.resume();
  }

  /** The connection is gone or the answer is complete: the response may not be touched any more. */
  lose(): void {
    this.#state = 'lost';
    this.#held = [];
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

  /** Whether it is us who keep its client from sending. */
  get isHeldBack(): boolean {
    return this.#paused || this.#waiting;
  }

  /** Its turn has come. */
  readOn(): void {
    this.#waiting = false;
    this.#progressAt = performance.now();
    this.#response.resume();
  }

  /**
   * Nothing more comes: a connection that was left paused would not show that its client is gone, nor its next request.
   * The library's timer begins with this, so that it must be kept off until the answer.
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
    this.#response.pause();
    this.#turns.wait(this);
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    this.receivedBytes += chunk.byteLength;
    const more = this.#paused || this.#waiting;
    this.lastReadBytes = (more ? this.lastReadBytes : 0) + chunk.byteLength;
    if (!isLast && chunk.byteLength >= LARGE_READ_BYTES) this.#awaitTurn();
    if (isLast) {
      this.ended = true;
      this.#settle();
    } else {
      this.#progressAt = performance.now();
      this.#startWatch();
    }
    if (this.#state === 'dropped') {
      if (isLast) this.#dropped();
      return;
    }
    if (this.#state === 'lost') return;
    const bytes = Buffer.from(chunk);
    if (this.#state === 'held') {
      this.#held.push(Buffer.from(bytes));
      this.pause();
      return;
    }
    if (bytes.length > 0) this.#sink?.chunk(bytes);
    if (isLast) this.#sink?.end();
  }

  #dropped(): void {
    this.#stopWatch();
    this.#onDropped?.();
  }

  #startWatch(): void {
    this.#watch ??= setInterval(() => this.#look(), Math.min(WATCH_MILLISECONDS, this.#uploadMilliseconds));
  }

  #stopWatch(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#watch = null;
  }

  #look(): void {
    const now = performance.now();
    if (this.ended) {
      // The answer is not there yet.
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
