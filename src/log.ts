// The log: JSON lines on standard output, one per request and one per Run, never anything of an upload. The only importer
// of pino.
import { destination, pino } from 'pino';

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

/** Lines are gathered up to this, or for so long. */
const LINES_BYTES = 64 * 1024;
/** ... and written in pieces of at most this. */
const WRITE_BYTES_MAX = 2 * LINES_BYTES;
const FLUSH_MILLISECONDS = 50;

/** @param level one of pino's levels or "silent" */
export function openLog(level: string): Log {
  // Lines go out in the background and together: neither a slow reader of standard output nor a write for each of
  // thousands of lines a second must hold the loop.
  const stream = destination({
    dest: 1,
    sync: false,
    minLength: LINES_BYTES,
    maxWrite: WRITE_BYTES_MAX,
    periodicFlush: FLUSH_MILLISECONDS,
  });
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, stream);
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
      stream.flush();
    },
    flush: () => stream.flushSync(),
  };
}

function describe(fault: unknown): object {
  if (!(fault instanceof Error)) return { fault: String(fault) };
  const causes = fault instanceof AggregateError ? fault.errors.map(describe) : undefined;
  const cause = fault.cause === undefined ? undefined : describe(fault.cause);
  return { fault: fault.message, stack: fault.stack, causes, cause };
}
