// Runs a command line within the test's own process, and keeps its output.
import { PassThrough } from 'node:stream';
import { runCli } from '../../../src/commands/run-cli.ts';

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `template-run` with these arguments and without environment variables. */
export async function cli(...args: readonly string[]): Promise<Outcome> {
  return outcomeOf(args, {}, false);
}

/** The same on a terminal, with variables of the environment. */
export function cliOnTerminal(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome> {
  return outcomeOf(args, env, true);
}

async function outcomeOf(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  isTTY: boolean,
): Promise<Outcome> {
  const [stdout, stderr] = [stream(isTTY), stream(isTTY)];
  const status = await runCli(args, { stdin: process.stdin, stdout, stderr, env });
  return { status, stdout: written(stdout), stderr: written(stderr) };
}

/** Everything that was written to a stream and is not read yet. Node 26 returns it piece by piece. */
export function written(stream: PassThrough): string {
  let text = '';
  for (let piece: unknown = stream.read(); piece !== null; piece = stream.read()) text += String(piece);
  return text;
}

/** Holds all that a command writes: it is read after the command has ended. */
function stream(isTTY: boolean): PassThrough {
  return Object.assign(new PassThrough({ highWaterMark: 64 * 1024 * 1024 }), { isTTY });
}
