// A studio as a process, with a Template and a sample in a separate folder, and a client for its requests.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';

/** The build is started as users start it. */
export const PROGRAM = join(import.meta.dirname, '..', '..', '..', 'src', 'cli.js');

export interface RunningStudio {
  /** With the token after its #. */
  readonly address: string;
  readonly origin: string;
  readonly templatePath: string;
  /** Contains the Template and the sample. */
  readonly folder: string;
  /** Of the process. */
  readonly id: number;
  /** Ends the process at once, without a signal that it could handle. */
  crash(): Promise<void>;
  /** Asks the process to end, and waits until it has. */
  end(): Promise<void>;
  ask(route: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<StudioAnswer>;
}

export interface StudioAnswer {
  readonly status: number;
  readonly headers: Headers;
  // Each test names the fields of the response that it checks.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
}

export interface StudioFiles {
  /** Text of the Template; null: the file does not exist, or stays as it is. */
  readonly template: string | null;
  readonly sample: string | Uint8Array;
  readonly sampleName?: string;
  readonly templateName?: string;
  /** Default: a new folder. */
  readonly folder?: string;
}

export async function startStudio(
  t: Test,
  { template, sample, sampleName = 'sample.csv', templateName = 'template.yaml', folder = t.testdir({}) }: StudioFiles,
): Promise<RunningStudio> {
  const templatePath = join(folder, templateName);
  if (template !== null) writeFileSync(templatePath, template);
  writeFileSync(join(folder, sampleName), sample);
  const args = [PROGRAM, 'studio', templatePath, join(folder, sampleName), '--no-open'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => end(child));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const [origin, token] = line.split('/#') as [string, string];
  return {
    address: line,
    origin,
    templatePath,
    folder,
    id: child.pid!,
    async crash() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    end: () => end(child),
    async ask(route, body, headers = {}) {
      const [method, path] = route.split(' ') as [string, string];
      const response = await fetch(origin + path, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text.startsWith('<') ? text : parsed(text) };
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
