// Carries requests by fetch, and uploads by XMLHttpRequest where there is one (xhr-upload.ts): fetch cannot tell how much of a
// body was sent, and gives up none that stalls. No redirect is followed: the file goes to the origin that was named.
import { redirected } from '../answers.ts';
import { ConnectionLostError, type Transport, type TransportAnswer, type TransportRequest } from '../transport.ts';
import { hasXhr, sendByXhr } from './xhr-upload.ts';

export class FetchTransport implements Transport<Blob> {
  async send(request: TransportRequest<Blob>): Promise<TransportAnswer> {
    const { method, url, headers, upload, idleMilliseconds } = request;
    const body = new FormData();
    for (const [name, value] of upload?.fields ?? []) body.set(name, value);
    if (upload !== null) body.set('file', upload.source, fileName(upload.source));
    upload?.onSent(0, upload.source.size);
    if (upload !== null && hasXhr) return sendByXhr(request, body, upload.source.size);
    const given = new AbortController();
    const signal = AbortSignal.any([request.signal, given.signal]);
    // How far an upload has come cannot be seen here: it may take as long as it needs.
    const idle = upload === null ? setTimeout(() => given.abort(), idleMilliseconds) : undefined;
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        headers,
        signal,
        redirect: 'manual',
        ...(upload === null ? {} : { body }),
      });
    } catch (error) {
      throw lost(error);
    } finally {
      clearTimeout(idle);
    }
    if (isRedirect(response)) {
      given.abort();
      throw redirected();
    }
    upload?.onSent(upload.source.size, upload.source.size);
    return {
      status: response.status,
      header: (name) => response.headers.get(name),
      body: bodyOf(response, given, idleMilliseconds),
      cancel: () => given.abort(),
    };
  }
}

/** Browsers hide its status. */
function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400);
}

async function* bodyOf(
  response: Response,
  given: AbortController,
  idleMilliseconds: number,
): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const idle = setTimeout(() => given.abort(), idleMilliseconds);
      const { done, value } = await reader.read().finally(() => clearTimeout(idle));
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw lost(error);
  }
}

function fileName(source: Blob): string {
  return source instanceof File ? source.name : 'upload';
}

/** fetch does not say why it failed. */
function lost(error: unknown): Error {
  return new ConnectionLostError('The connection was lost, or the browser refused the request.', error);
}
