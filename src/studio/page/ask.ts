// Sends requests to the studio's server. The token is in the fragment (#) of the page's address, which browsers do
// not send with requests.
import type { StudioRefusal } from '../studio-answers.ts';

export class AskError extends Error {
  readonly status: number;
  readonly body: StudioRefusal;

  constructor(status: number, body: StudioRefusal) {
    super(body.message);
    this.status = status;
    this.body = body;
  }
}

const token = location.hash.slice(1);

/** Maximum delay of an answer while a mouse button is pressed, in milliseconds. A click is shorter. */
const PRESS_MILLISECONDS_MAX = 2_000;

/**
 * Sends a request, and waits with its answer until no button of the mouse is pressed.
 * @param keepalive the request survives the page; its body has at most 64 KiB
 */
export async function ask<Answer>(route: string, body?: object, keepalive = false): Promise<Answer> {
  const [method, path] = route.split(' ') as [string, string];
  const response = await fetch(path, {
    method,
    keepalive,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answer;
  await pressEnded();
  if (!response.ok) throw new AskError(response.status, answer as AskError['body']);
  return answer;
}

/**
 * Resolves when no element is pressed. An answer may move the element under the pointer, and a press and a release on
 * different elements are not a click.
 */
async function pressEnded(): Promise<void> {
  const end = performance.now() + PRESS_MILLISECONDS_MAX;
  while (document.querySelector(':active') !== null && performance.now() < end)
    await new Promise((resolve) => requestAnimationFrame(resolve));
}

/** Sends a file that the user has opened. */
export async function sendFile<Answer>(path: string, file: File): Promise<Answer> {
  const response = await fetch(path, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${token}`, 'X-File-Name': encodeURIComponent(file.name) },
    body: file,
  });
  const answer = (await response.json()) as Answer;
  if (!response.ok) throw new AskError(response.status, answer as AskError['body']);
  return answer;
}

/** A file that the server makes from a text. @returns its bytes, and the ending of its name */
export async function askFile(path: string, body: object): Promise<{ readonly blob: Blob; readonly ending: string }> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new AskError(response.status, (await response.json()) as StudioRefusal);
  return { blob: await response.blob(), ending: response.headers.get('X-Output-Ending') ?? 'txt' };
}

/** Saves a file as a download of the browser. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Why a request has failed, for the user. */
export function messageOf(error: unknown): string {
  if (error instanceof AskError) return `${error.body.code}: ${error.message}`;
  return 'The studio does not answer. Is it still running?';
}
