// Runs a command line within the test's own process, and keeps what it says.
import { PassThrough } from 'node:stream';
import { runCli } from '../../../src/commands/run-cli.ts';

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What stands behind `template-run`, without any variable of the environment. */
export async function cli(...args: readonly string[]): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const status = await runCli(args, { stdin: process.stdin, stdout, stderr, env: {} });
  return { status, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}
