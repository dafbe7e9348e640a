// The program of the executable: runs the command line in this process and sets its exit status.
import { safeFault } from '../../workers/protocol/fault-text.ts';
import { EXIT_FAILED, EXIT_OK } from '../commands/command.ts';
import { systemErrorText, withPath } from '../commands/local-input.ts';
import { runCli } from '../commands/run-cli.ts';

/** 128 plus the number of SIGPIPE, the convention of shells. */
const PIPE_CLOSED_STATUS = 141;

/** Numbers of the signals that end a command. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Exits on a signal that the command does not handle. The default action would leave temporary folders, which are
 * removed when the process exits. The status is 128 plus the number of the signal, the convention of shells.
 */
function exitOnSignals(): void {
  for (const [signal, number] of Object.entries(SIGNALS))
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number);
    });
}

/** @param args arguments without the program's name */
export async function runProgram(args: readonly string[]): Promise<void> {
  let status: number | null = null;
  let fault: NodeJS.ErrnoException | null = null;
  const settle = (): void => {
    if (status === EXIT_OK && fault !== null && fault.code !== 'EPIPE') {
      process.stderr.write(`template-run: ${systemErrorText(withPath(fault, 'standard output'))}\n`);
      status = EXIT_FAILED;
    }
    // If a reader such as `head` closes the pipe early, the rest of the output is dropped. This is not an error of
    // the program.
    process.exitCode = fault?.code === 'EPIPE' ? PIPE_CLOSED_STATUS : (status ?? EXIT_FAILED);
  };
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    fault = error;
    settle();
  });
  exitOnSignals();
  try {
    status = await runCli(args, process);
  } catch (error) {
    throw safeFault(error);
  }
  settle();
}
