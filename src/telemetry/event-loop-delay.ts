// How late the event loop is, over windows of its own: whoever reads it, however often, changes nothing for others.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Above the usual distance of scrapes: each window is in one of them at least. */
const WINDOW_MILLISECONDS = 30_000;

/** How often the delay is measured. */
const RESOLUTION_MILLISECONDS = 10;

const NANOSECONDS = 1e9;

export interface DelayHistogram {
  /** In nanoseconds. */
  percentile(percentile: number): number;
  reset(): void;
}

export class EventLoopDelay {
  readonly #histogram: DelayHistogram;
  /** Of the last full window, in seconds; null: there was none yet. */
  #last: number | null = null;

  constructor(histogram: DelayHistogram = measured()) {
    this.#histogram = histogram;
    // It keeps no process.
    setInterval(() => this.turn(), WINDOW_MILLISECONDS).unref();
  }

  /** The 99th percentile of the last full window, in seconds; before there is one, since the start. */
  get p99Seconds(): number {
    return this.#last ?? this.#now();
  }

  /** Ends a window. */
  turn(): void {
    this.#last = this.#now();
    this.#histogram.reset();
  }

  #now(): number {
    const seconds = this.#histogram.percentile(99) / NANOSECONDS;
    // Without any measurement there is no number.
    return Number.isFinite(seconds) ? seconds : 0;
  }
}

function measured(): DelayHistogram {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MILLISECONDS });
  histogram.enable();
  return histogram;
}
