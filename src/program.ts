// The executable's program: runs the command line in this process and sets its exit status.
import { runCli } from './commands/run-cli.ts';

/** 128 and the number of SIGPIPE, as shells have it. */
const PIPE_CLOSED_STATUS = 141;

/** @param args of the command line, without the program's own name */
export async function runProgram(args: readonly string[]): Promise<void> {
  const ends = { status: 0, pipeClosed: false };
  const settle = (): void => {
    process.exitCode = ends.pipeClosed ? PIPE_CLOSED_STATUS : ends.status;
  };
  // A reader such as `head` that has had enough is no fault of ours: what is left is not written.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    ends.pipeClosed = true;
    settle();
  });
  ends.status = await runCli(args, process);
  settle();
}
