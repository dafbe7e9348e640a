// The log: JSON lines on standard output that are written in the background, and the fields of the most frequent lines.

import { write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { faultText } from '../../workers/protocol/fault-text.ts';
import type { FinishedExchange } from '../http/exchange.ts';
import type { RunEnded, RunRecord } from '../runs/run.ts';
import { TimeTexts } from './time-texts.ts';

// Writes log lines to standard output: buffered, in the background, one write at a time, and dropped if the system does
// not accept them. Neither a full disk nor a stalled reader of the log may block or end the node.

/** Size of a block of lines in bytes, and maximum time before an incomplete block is written. */
const BLOCK_BYTES = 64 * 1024;
const GATHER_MILLISECONDS = 50;

/**
 * Maximum size of blocks that wait for a slow reader, in bytes; further lines are dropped. Buffers are used because a
 * string that grows to this size piece by piece costs the garbage collector 100 ms each time.
 */
const WAITING_BYTES_MAX = 1024 * 1024;

/** Delay before writing to a full pipe is retried. */
const RETRY_MILLISECONDS = 100;

/** Maximum wait for the reader of a full pipe when the process ends, and polling interval. */
const END_MILLISECONDS_MAX = 1_000;
const END_LOOK_MILLISECONDS = 5;

const LINE_END = 10;

/** Maximum number of bytes of a UTF-16 code unit in UTF-8. */
const UTF8_BYTES_MAX = 3;

export class LogLines {
  #descriptor: number;
  #onLost: (lines: number) => void;
  /** Full blocks, the oldest first. */
  #full: Buffer[] = [];
  /** The block for the next line, and its filled length. */
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #filledBytes = 0;
  /** Total size of the blocks that are full or being written. */
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Rest of a write in progress that the system has not accepted yet, or null without a write. */
  #rest: Buffer | null = null;
  /** Set while `#rest` waits for a full pipe. */
  #retry: NodeJS.Timeout | null = null;
  #lostLines = 0;
  /** Total since the start, including lines already reported. */
  #lostLinesEver = 0;
  /** True if the last accepted bytes end within a line. */
  #torn = false;
  #ending = false;

  /** @param onLost called when lines are accepted again, with the number of dropped lines */
  constructor(descriptor: number, onLost: (lines: number) => void) {
    this.#descriptor = descriptor;
    this.#onLost = onLost;
  }

  get lostLines(): number {
    return this.#lostLinesEver;
  }

  write(line: string): void {
    // Counting bytes costs as much as writing, so a line that certainly fits is not counted.
    const bytesMax = UTF8_BYTES_MAX * line.length;
    const bytes = this.#filledBytes + bytesMax <= BLOCK_BYTES ? bytesMax : Buffer.byteLength(line);
    if (this.#filledBytes + bytes > BLOCK_BYTES) this.#closeBlock();
    if (this.#waitingBytes + this.#filledBytes + bytes > WAITING_BYTES_MAX) {
      this.#lose();
      return;
    }
    if (bytes > BLOCK_BYTES) this.#addFull(Buffer.from(line));
    else this.#filledBytes += this.#block.write(line, this.#filledBytes);
    if (this.#full.length > 0) this.pass();
    else this.#timer ??= setTimeout(() => this.pass(), GATHER_MILLISECONDS);
  }

  /** Writes the buffered lines in the background, after the current write. */
  pass(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#rest !== null) return;
    if (this.#full.length === 0) this.#closeBlock();
    const first = this.#full.shift();
    if (first === undefined) return;
    this.#rest = first;
    this.#writeRest(first);
  }

  /** Resolves when everything has been written or dropped. Lines that wait for a stalled reader are dropped. */
  async end(): Promise<void> {
    this.pass();
    const until = performance.now() + END_MILLISECONDS_MAX;
    while (this.#rest !== null && performance.now() < until) await sleep(END_LOOK_MILLISECONDS);
    this.#ending = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  /**
   * Writes synchronously the lines that are not being written yet, as far as the system accepts them: for a process
   * that ends immediately.
   */
  flushSync(): void {
    this.#closeBlock();
    const blocks = this.#full;
    this.#full = [];
    try {
      for (let rest of blocks) {
        while (rest.length > 0) rest = rest.subarray(writeSync(this.#descriptor, rest));
      }
    } catch {
      // The error cannot be reported anywhere else, and the process ends for another reason.
    }
  }

  #closeBlock(): void {
    if (this.#filledBytes === 0) return;
    this.#addFull(this.#block.subarray(0, this.#filledBytes));
    this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#filledBytes = 0;
  }

  #addFull(block: Buffer): void {
    this.#full.push(block);
    this.#waitingBytes += block.length;
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
    this.#waitingBytes = this.#full.reduce((bytes, { length }) => bytes + length, 0);
    if (refused) {
      for (const byte of last) if (byte === LINE_END) this.#lose();
      // The next write begins a new line.
      if (this.#torn) this.#endTornLine();
      this.#torn = false;
    } else if (this.#lostLines > 0) {
      const lines = this.#lostLines;
      this.#lostLines = 0;
      this.#onLost(lines);
    }
    if (this.#full.length > 0 || this.#timer === null) this.pass();
  }

  #endTornLine(): void {
    if (this.#full.length === 0) this.#closeBlock();
    const first = this.#full[0];
    if (first === undefined) this.#filledBytes += this.#block.write('\n', this.#filledBytes);
    else this.#full[0] = Buffer.concat([Buffer.of(LINE_END), first]);
  }

  #lose(): void {
    this.#lostLines += 1;
    this.#lostLinesEver += 1;
  }
}

function isFullPipe(fault: unknown): boolean {
  return (fault as NodeJS.ErrnoException).code === 'EAGAIN';
}

// The log: JSON lines on standard output, without any content of uploads. The only importer of pino.

export interface Log {
  /** Writes a line with an `event`. */
  debug(event: string, fields?: object): void;
  info(event: string, fields?: object): void;
  warn(event: string, fields?: object): void;
  /** Writes the line of a request or a Run. `fieldsOf` returns its fields, rendered by `requestFields` or `runLine`. */
  rendered(event: string, level: 'debug' | 'info', fieldsOf: () => string): void;
  /** Logs a fault of the service with its stack. */
  fault(event: string, fault: unknown, fields?: object): void;
  /** Writes a line whatever the level. */
  always(event: string, fields?: object): void;
  /** Number of lines since the start that were dropped. */
  readonly lostLines: number;
  /** Resolves when everything has been written or dropped. */
  end(): Promise<void>;
  /** Writes buffered lines before the process ends immediately. */
  flushSync(): void;
}

/** File descriptor. */
const STANDARD_OUTPUT = 1;

/** @param level one of pino's levels or "silent" */
export function openLog(level: string): Log {
  // Lines are written in the background and in groups: neither a slow reader of standard output nor thousands of writes
  // per second may block the event loop.
  const lines = new LogLines(STANDARD_OUTPUT, (lost) => logger.warn({ event: 'log_lines_lost', lines: lost }));
  const times = new TimeTexts();
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${times.of(Date.now())}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger: Logger = pino(options, lines);
  const unconditional = logger.child({}, { level: 'info' });
  return {
    debug: (event, fields) => {
      if (logger.isLevelEnabled('debug')) logger.debug({ event, ...fields });
    },
    info: (event, fields) => {
      // Avoids building the object if the line would not be written.
      if (logger.isLevelEnabled('info')) logger.info({ event, ...fields });
    },
    warn: (event, fields) => logger.warn({ event, ...fields }),
    rendered: (event, level, fieldsOf) => {
      if (!logger.isLevelEnabled(level)) return;
      lines.write(`{"level":"${level}","time":"${times.of(Date.now())}","event":"${event}",${fieldsOf()}}\n`);
    },
    fault: (event, fault, fields) => logger.error({ event, ...fields, ...describe(fault) }),
    always: (event, fields) => {
      unconditional.info({ event, ...fields });
      lines.pass();
    },
    get lostLines() {
      return lines.lostLines;
    },
    end: () => lines.end(),
    flushSync: () => lines.flushSync(),
  };
}

function describe(fault: unknown): object {
  const { message, stack } = faultText(fault);
  if (!(fault instanceof Error)) return { fault: message };
  const causes = fault instanceof AggregateError ? fault.errors.map(describe) : undefined;
  const cause = fault.cause === undefined ? undefined : describe(fault.cause);
  return { fault: message, stack, causes, cause };
}

// Fields of the most frequent log lines. Each request has the line `request`, which also reports how its Run ended. If
// the Run ends after this line was written, a separate line `run` reports the end. Rendered without pino, which takes
// four times as long for two dozen fields: a tenth of the main thread's time for a small Run.

/** Other methods are text from the client and are not logged. */
const LOGGED_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function requestFields(exchange: FinishedExchange): string {
  const { requestId, method, endpoint, account, keyId, templateId, runId, status, code, runFields } = exchange;
  const shown = LOGGED_METHODS.has(method) ? method : 'other';
  return (
    `"request_id":${quoted(requestId)},"method":"${shown}","operation":"${endpoint}",` +
    `"account":${quoted(account)},"key":${quoted(keyId)},"template":${quoted(templateId)},"run":${quoted(runId)},` +
    `"status":${status},"code":${quoted(code)},"ms":${rounded(exchange.milliseconds)},` +
    `"received_bytes":${exchange.receivedBytes},"sent_bytes":${exchange.sentBytes}` +
    (runFields === null ? '' : `,${runFields}`)
  );
}

/** Fields of an ended Run, for the line of its request or for its own line. */
export function runFields(run: RunRecord, details: RunEnded): string {
  const { milliseconds, busyMilliseconds, threads, fileBytes, rowsRead, rowsWritten, charged } = details;
  return (
    `"run_status":"${run.status}","run_code":${quoted(run.errorCode)},"run_ms":${milliseconds},` +
    `"busy_ms":${busyMilliseconds === null ? null : rounded(busyMilliseconds)},"threads":${threads},` +
    `"file_bytes":${fileBytes},"rows_read":${rowsRead},"rows_written":${rowsWritten},"charged":${charged}`
  );
}

/** Fields of the line of a Run that ended after the line of its request was written. */
export function runLine({ account, templateId, id }: RunRecord, requestId: string, fields: string): string {
  return (
    `"request_id":${quoted(requestId)},"account":${quoted(account)},"template":${quoted(templateId)},` +
    `"run":${quoted(id)},${fields}`
  );
}

/** Text without characters that JSON escapes. */
const PLAIN = /^[\w .:/-]*$/;

function quoted(text: string | null): string {
  if (text === null) return 'null';
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Rounded to a thousandth: further digits are noise. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
