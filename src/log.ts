// The log: JSON lines on standard output, one per request and one per Run, never anything of an upload. The only importer
// of pino.
import { destination, pino } from 'pino';
import { TimeTexts } from './time-texts.ts';

export interface Log {
  /** One line with an `event`. */
  info(event: string, fields?: object): void;
  warn(event: string, fields?: object): void;
  /** A fault of ours, with its stack. */
  fault(event: string, fault: unknown, fields?: object): void;
  /** A line that is written whatever the level. */
  always(event: string, fields?: object): void;
  /** Writes out what is still buffered, before the process ends. */
  flush(): void;
}

/** Lines are gathered up to this, in characters, or for so long. */
const GATHERED_LENGTH_MAX = 64 * 1024;
const GATHER_MILLISECONDS = 50;

/** @param level one of pino's levels or "silent" */
export function openLog(level: string): Log {
  // Lines go out in the background and together: neither a slow reader of standard output nor a write for each of
  // thousands of lines a second must hold the loop.
  const lines = new GatheredLines(destination({ dest: 1, sync: false }));
  const times = new TimeTexts();
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${times.of(Date.now())}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, lines);
  const unconditional = logger.child({}, { level: 'info' });
  return {
    info: (event, fields) => {
      // The line is not even put together for nobody.
      if (logger.isLevelEnabled('info')) logger.info({ event, ...fields });
    },
    warn: (event, fields) => logger.warn({ event, ...fields }),
    fault: (event, fault, fields) => logger.error({ event, ...fields, ...describe(fault) }),
    always: (event, fields) => {
      unconditional.info({ event, ...fields });
      lines.pass();
    },
    flush: () => lines.flushSync(),
  };
}

/**
 * Gathers lines before the library's own stream, which measures all that it has gathered at each new line: with 64 KiB of
 * them that took longer than to write the line.
 */
class GatheredLines {
  #stream: ReturnType<typeof destination>;
  #gathered = '';
  #timer: NodeJS.Timeout | null = null;

  constructor(stream: ReturnType<typeof destination>) {
    this.#stream = stream;
  }

  write(line: string): void {
    this.#gathered += line;
    if (this.#gathered.length >= GATHERED_LENGTH_MAX) this.pass();
    else this.#timer ??= setTimeout(() => this.pass(), GATHER_MILLISECONDS);
  }

  /** Writes in the background what there is. */
  pass(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#gathered === '') return;
    this.#stream.write(this.#gathered);
    this.#gathered = '';
  }

  /** Returns when everything is written. */
  flushSync(): void {
    this.pass();
    this.#stream.flushSync();
  }
}

function describe(fault: unknown): object {
  if (!(fault instanceof Error)) return { fault: String(fault) };
  const causes = fault instanceof AggregateError ? fault.errors.map(describe) : undefined;
  const cause = fault.cause === undefined ? undefined : describe(fault.cause);
  return { fault: fault.message, stack: fault.stack, causes, cause };
}
