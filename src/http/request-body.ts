// The body of one request as it arrives: back pressure, the watch over its progress, and what happens to what is still
// sent after a refusal. It knows nothing of forms.
// States: held (kept until somebody decides) → flowing (to a sink) or dropped (read and thrown away) → ended; lost.
import type { RawResponse } from './raw-response.ts';

/** A body that brings no byte for this long is cut. */
export const BODY_SILENCE_MILLISECONDS_MAX = 30_000;

/** What a refused client still sends is read for at most this long. */
export const DRAIN_MILLISECONDS_MAX = 30_000;

/**
 * How often an unfinished body is looked at. The library cuts a connection that brought less than 160 KiB in 10 s;
 * pause and resume start its timer anew, so this must stay well below that.
 */
const WATCH_MILLISECONDS = 2_000;

export interface BodySink {
  /** The bytes are gone when this returns: what is to stay must be copied. */
  chunk(bytes: Buffer): void;
  /** The last byte has arrived. */
  end(): void;
  /** No byte for too long, or the whole takes too long. Nothing more comes. */
  cut(why: 'silent' | 'late'): void;
}

export class RequestBody {
  receivedBytes = 0;
  ended = false;
  #response: RawResponse;
  #uploadMilliseconds: number;
  #state: 'held' | 'flowing' | 'dropped' | 'lost' = 'held';
  #held: Buffer[] = [];
  #sink: BodySink | null = null;
  #onDropped: (() => void) | null = null;
  #dropUntil = 0;
  #paused = false;
  #startedAt = performance.now();
  #progressAt = this.#startedAt;
  #watch: NodeJS.Timeout | null = null;

  /** Registers for the data at once: it would be lost otherwise. */
  constructor(response: RawResponse, uploadMilliseconds: number) {
    this.#response = response;
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
    this.#stopWatch();
  }

  /** Asks the client to wait. */
  pause(): void {
    if (this.#paused || this.ended || this.#state === 'lost') return;
    this.#paused = true;
    this.#response.pause();
  }

  resume(): void {
    if (!this.#paused || this.#state === 'lost') return;
    this.#paused = false;
    this.#progressAt = performance.now();
    this.#response.resume();
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    this.receivedBytes += chunk.byteLength;
    if (isLast) {
      this.ended = true;
      // The library may read on for a moment after a pause: then its timer must be kept off until the answer.
      if (!this.#paused) this.#stopWatch();
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
      if (this.#paused) return;
    } else if (this.#state === 'dropped') {
      if (now >= this.#dropUntil) {
        this.#dropped();
        return;
      }
    } else if (now - this.#startedAt >= this.#uploadMilliseconds) {
      this.#cut('late');
      return;
    } else if (!this.#paused && now - this.#progressAt >= BODY_SILENCE_MILLISECONDS_MAX) {
      this.#cut('silent');
      return;
    }
    if (this.#paused) return;
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
