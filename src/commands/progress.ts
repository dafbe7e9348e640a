// A line on a terminal that tells how far a command is, written over itself; nothing where standard error is no terminal.

/** Often enough to be seen moving, seldom enough to cost nothing. */
const PERIOD_MILLISECONDS = 500;

/** Back to the first column, and the rest of the line is blank. */
const CLEAR_LINE = '\r\u001b[K';

export class Progress {
  readonly #stream: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly #timer: NodeJS.Timeout | null;
  readonly #start = performance.now();
  #shown = false;

  /** @param describe the line, given the seconds since the start */
  constructor(stream: NodeJS.WritableStream, describe: (seconds: number) => string) {
    this.#stream = stream;
    const isTerminal = this.#stream.isTTY === true;
    this.#timer = isTerminal ? setInterval(() => this.#show(describe), PERIOD_MILLISECONDS) : null;
    this.#timer?.unref();
  }

  /** Takes the line away, before anything else is written; it comes back at the next tick. */
  clear(): void {
    if (this.#shown) this.#stream.write(CLEAR_LINE);
    this.#shown = false;
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.clear();
  }

  #show(describe: (seconds: number) => string): void {
    this.#stream.write(CLEAR_LINE + describe(Math.round((performance.now() - this.#start) / 1000)));
    this.#shown = true;
  }
}
