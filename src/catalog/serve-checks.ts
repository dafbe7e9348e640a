// What the thread does that checks the Templates of the catalog: answers one message after the other.
import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { FromCheckThread, ToCheckThread } from './check-messages.ts';
import { checkForService } from './engine-checker.ts';
import { TemplateTests } from './template-tests.ts';

export function serveChecks(port: MessagePort): void {
  const send = (message: FromCheckThread): void => port.postMessage(message);
  let tables = new Set<string>();
  let secrets = new Set<string>();
  const tests = new TemplateTests();
  port.on('message', (message: ToCheckThread) => {
    if (message.kind === 'check') return send(answer(message.source, message.format, { tables, secrets }));
    if (message.kind === 'test') {
      tests.run(message).then(
        (results) => send({ kind: 'tested', tests: results }),
        (error: unknown) => send(faultOf(error)),
      );
      return;
    }
    tables = new Set(message.tables);
    secrets = new Set(message.secrets);
  });
  send({ kind: 'ready', kernelThread: kernelThread() });
}

function answer(
  source: string,
  format: 'json' | 'yaml',
  references: { readonly tables: Set<string>; readonly secrets: Set<string> },
): FromCheckThread {
  try {
    return { kind: 'checked', check: checkForService(source, format, references) };
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message)) return { kind: 'too-deep' };
    return faultOf(error);
  }
}

function faultOf(error: unknown): FromCheckThread {
  const fault = error instanceof Error ? error : new Error(String(error));
  return { kind: 'fault', message: fault.message, stack: fault.stack ?? '' };
}

function kernelThread(): string | null {
  try {
    return basename(readlinkSync('/proc/thread-self'));
  } catch {
    return null;
  }
}
