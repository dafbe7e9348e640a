// The log: JSON lines on standard output, one per request and one per Run, never anything of an upload. The only importer
// of pino.
import { type Logger, pino } from 'pino';
import { faultText } from '../../workers/protocol/fault-text.ts';
import { LogLines } from './log-lines.ts';
import { TimeTexts } from './time-texts.ts';

export interface Log {
  /** One line with an `event`. */
  debug(event: string, fields?: object): void;
  info(event: string, fields?: object): void;
  warn(event: string, fields?: object): void;
  /** A fault of ours, with its stack. */
  fault(event: string, fault: unknown, fields?: object): void;
  /** A line that is written whatever the level. */
  always(event: string, fields?: object): void;
  /** Since the start: neither written nor going to be. */
  readonly lostLines: number;
  /** Resolves when everything has been written, or will not be. */
  end(): Promise<void>;
  /** Writes out what is still gathered, before the process ends at once. */
  flushSync(): void;
}

/** The file descriptor. */
const STANDARD_OUTPUT = 1;

/** @param level one of pino's levels or "silent" */
export function openLog(level: string): Log {
  // Lines go out in the background and together: neither a slow reader of standard output nor a write for each of
  // thousands of lines a second must hold the loop.
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
      // The line is not even put together for nobody.
      if (logger.isLevelEnabled('info')) logger.info({ event, ...fields });
    },
    warn: (event, fields) => logger.warn({ event, ...fields }),
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
