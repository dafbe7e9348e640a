// A line on a terminal that tells how far a command is, written over itself; nothing where standard error is no terminal,
// unless lines are asked for.

/** Often enough to be seen moving, seldom enough to cost nothing. */
const PERIOD_MILLISECONDS = 500;

/** Back to the first column, and the rest of the line is blank. */
const CLEAR_LINE = '\r\u001b[K';

/** Lines of a file or a pipe stay: one for each so many periods. */
const PERIODS_OF_LINES = 4;

export class Progress {
  readonly #stream: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly #isTerminal: boolean;
  readonly #timer: NodeJS.Timeout | null;
  readonly #start = performance.now();
  #shown = false;

  /**
   * @param describe the line, given the seconds since the start
   * @param always also where there is no terminal: lines that stay
   */
  constructor(stream: NodeJS.WritableStream, describe: (seconds: number) => string, always = false) {
    this.#stream = stream;
    this.#isTerminal = this.#stream.isTTY === true;
    const period = this.#isTerminal ? PERIOD_MILLISECONDS : PERIOD_MILLISECONDS * PERIODS_OF_LINES;
    this.#timer = this.#isTerminal || always ? setInterval(() => this.#show(describe), period) : null;
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
    const line = describe(Math.round((performance.now() - this.#start) / 1000));
    this.#stream.write(this.#isTerminal ? CLEAR_LINE + line : `${line}\n`);
    this.#shown = this.#isTerminal;
  }
}
