// Checks that a server really does the work: sends one upload and examines the response.
import type { RunningServer } from './servers.ts';

/** Throws an Error that describes the problem. */
export async function checkAnswer(server: RunningServer, file: Buffer): Promise<void> {
  const { name, port, path, authorization, expectedStatus, isRight } = server;
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(file)], { type: 'text/csv' }), 'orders.csv');
  const origin = `http://127.0.0.1:${port}`;
  const response = await fetch(origin + path, { method: 'POST', body: form, headers: { authorization } });
  const body: unknown = await response.json();
  if (response.status !== expectedStatus) throw new Error(`${name} answered ${response.status}`);
  if (!(await isRight(body, file, origin)))
    throw new Error(`${name} gave a wrong answer to an upload of ${file.length} bytes`);
}
