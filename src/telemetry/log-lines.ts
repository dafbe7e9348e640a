// Lines on their way to standard output: gathered, written in the background one write at a time, and given up where the
// system does not take them. Neither a full disk below the log nor a reader that has stopped may hold up or end the node.
import { write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Lines are gathered up to this, in characters, or for so long. */
const GATHERED_LENGTH_MAX = 64 * 1024;
const GATHER_MILLISECONDS = 50;

/** Lines that wait for a slow reader are kept up to this, in characters; further ones are lost. */
const WAITING_LENGTH_MAX = 16 * 1024 * 1024;

/** A full pipe is tried again after this. */
const RETRY_MILLISECONDS = 100;

/** The end of the process waits for the reader of a full pipe at most this long, and looks this often. */
const END_MILLISECONDS_MAX = 1_000;
const END_LOOK_MILLISECONDS = 5;

const LINE_END = 10;

export class LogLines {
  #descriptor: number;
  #onLost: (lines: number) => void;
  #gathered = '';
  #timer: NodeJS.Timeout | null = null;
  /** Of a write that has begun, what the system has not taken yet; null = none has. */
  #rest: Buffer | null = null;
  /** While `rest` waits for room in a pipe. */
  #retry: NodeJS.Timeout | null = null;
  #lostLines = 0;
  /** Since the start, also those that were told. */
  #lostLinesEver = 0;
  /** What the system took last ends within a line. */
  #torn = false;
  #ending = false;

  /** @param onLost called when lines are taken again, with the number of those that were not */
  constructor(descriptor: number, onLost: (lines: number) => void) {
    this.#descriptor = descriptor;
    this.#onLost = onLost;
  }

  get lostLines(): number {
    return this.#lostLinesEver;
  }

  write(line: string): void {
    if (this.#gathered.length > WAITING_LENGTH_MAX) {
      this.#lose();
      return;
    }
    this.#gathered += line;
    if (this.#gathered.length >= GATHERED_LENGTH_MAX) this.pass();
    else this.#timer ??= setTimeout(() => this.pass(), GATHER_MILLISECONDS);
  }

  /** Writes in the background what there is; behind what is being written, when that is done. */
  pass(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#rest !== null || this.#gathered === '') return;
    this.#rest = Buffer.from(this.#gathered);
    this.#gathered = '';
    this.#writeRest(this.#rest);
  }

  /** Resolves when everything was taken or refused; what waits for a reader that has stopped is given up. */
  async end(): Promise<void> {
    this.pass();
    const until = performance.now() + END_MILLISECONDS_MAX;
    while (this.#rest !== null && performance.now() < until) await sleep(END_LOOK_MILLISECONDS);
    this.#ending = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  /** Writes in place what was not begun, as far as it is taken: for a process that ends at once. */
  flushSync(): void {
    let rest = Buffer.from(this.#gathered);
    this.#gathered = '';
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#descriptor, rest));
    } catch {
      // There is no other place to tell it, and the process ends for another reason.
    }
  }

  #writeRest(rest: Buffer): void {
    this.#retry = null;
    write(this.#descriptor, rest, (fault, count) => {
      if (fault !== null && isFullPipe(fault) && !this.#ending) {
        this.#retry = setTimeout(() => this.#writeRest(rest), RETRY_MILLISECONDS);
        return;
      }
      if (fault === null) this.#torn = rest[count - 1] !== LINE_END;
      if (fault === null && count < rest.length) {
        this.#rest = rest.subarray(count);
        this.#writeRest(this.#rest);
      } else {
        this.#over(rest, fault !== null);
      }
    });
  }

  #over(last: Buffer, refused: boolean): void {
    this.#rest = null;
    if (refused) {
      for (const byte of last) if (byte === LINE_END) this.#lose();
      if (this.#torn) this.#gathered = `\n${this.#gathered}`;
      this.#torn = false;
    } else if (this.#lostLines > 0) {
      const lines = this.#lostLines;
      this.#lostLines = 0;
      this.#onLost(lines);
    }
    if (this.#gathered.length >= GATHERED_LENGTH_MAX || this.#timer === null) this.pass();
  }

  #lose(): void {
    this.#lostLines += 1;
    this.#lostLinesEver += 1;
  }
}

function isFullPipe(fault: unknown): boolean {
  return (fault as NodeJS.ErrnoException).code === 'EAGAIN';
}
