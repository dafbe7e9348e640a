// Sends an upload by XMLHttpRequest where there is one: unlike fetch it tells how much was sent, so that people see it, and an
// upload that stalls is given up. It follows redirects unasked; that one came is told when its answer is there.
import { redirected } from '../answers.ts';
import { ConnectionLostError, type TransportAnswer, type TransportRequest } from '../transport.ts';

/** What is used of it; not every environment with fetch has one. */
interface Xhr {
  responseType: string;
  readonly response: ArrayBuffer | null;
  readonly status: number;
  readonly responseURL: string;
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onprogress: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: FormData): void;
  abort(): void;
}
declare const XMLHttpRequest: (new () => Xhr) | undefined;

export const hasXhr = typeof XMLHttpRequest === 'function';

/** Rejects with ConnectionLostError where no answer came, and with the signal's reason. */
export function sendByXhr(
  request: TransportRequest<Blob>,
  body: FormData,
  sizeBytes: number,
): Promise<TransportAnswer> {
  const { method, url, headers, signal, idleMilliseconds } = request;
  const xhr = new XMLHttpRequest!();
  xhr.open(method, url.href);
  xhr.responseType = 'arraybuffer';
  for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
  let idle: ReturnType<typeof setTimeout>;
  let aborted = (): void => {};
  const answered = new Promise<TransportAnswer>((resolve, reject) => {
    const lost = (why: string): void => reject(new ConnectionLostError(why));
    const moved = (): void => {
      clearTimeout(idle);
      idle = setTimeout(() => lost(`Nothing moved on the connection for ${idleMilliseconds} ms.`), idleMilliseconds);
    };
    aborted = () => reject(signal.reason);
    signal.addEventListener('abort', aborted);
    xhr.upload.onprogress = ({ loaded }) => {
      moved();
      // The form around the file counts too.
      request.upload?.onSent(Math.min(loaded, sizeBytes), sizeBytes);
    };
    xhr.onprogress = moved;
    xhr.onerror = () => lost('The connection was lost, or the browser refused the request.');
    xhr.onload = () => (xhr.responseURL === url.href ? resolve(answerOf(xhr)) : reject(redirected()));
    moved();
    if (signal.aborted) aborted();
    else xhr.send(body);
  });
  return answered.finally(() => {
    clearTimeout(idle);
    signal.removeEventListener('abort', aborted);
    // Does nothing where the answer is there.
    xhr.abort();
  });
}

function answerOf(xhr: Xhr): TransportAnswer {
  const { status } = xhr;
  const bytes = new Uint8Array(xhr.response ?? new ArrayBuffer(0));
  const headers = new Map(HEADERS.map((name) => [name, xhr.getResponseHeader(name)]));
  async function* body(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  return { status, header: (name) => headers.get(name) ?? null, body: body(), cancel: () => {} };
}

/** Those of a Run's answer. They are gone once the request is aborted. */
const HEADERS = ['retry-after', 'x-request-id', 'location'];
