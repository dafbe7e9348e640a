#!/usr/bin/env node
// The package's executable.
import { runCli } from './commands/run-cli.ts';

/** 128 and the number of SIGPIPE, as shells have it. */
const PIPE_CLOSED_STATUS = 141;

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
ends.status = await runCli(process.argv.slice(2), process);
settle();
