// Carries requests by node:http. Uploads are read as the connection takes them: fetch would hold a body in memory whole.
import http from 'node:http';
import https from 'node:https';
import { ConnectionLostError, type Transport, type TransportAnswer, type TransportRequest } from '../transport.ts';
import { type OpenForm, openForm, type Source } from './source.ts';

/** The other side shows no certificate that is trusted: it would not at the next try either. */
const CERTIFICATE_ERROR = /^(?:CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;

export class HttpTransport implements Transport<Source> {
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true }),
    'https:': new https.Agent({ keepAlive: true }),
  };

  async send(request: TransportRequest<Source>): Promise<TransportAnswer> {
    const form = request.upload === null ? null : await openForm(request.upload, request.signal);
    let outgoing: http.ClientRequest;
    try {
      outgoing = this.#open(request, form);
    } catch (error) {
      // A header that cannot be sent, such as a key with a line end in it.
      form?.close();
      throw error;
    }
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      outgoing.on('timeout', () => {
        outgoing.destroy(
          new ConnectionLostError(`Nothing moved on the connection for ${request.idleMilliseconds} ms.`),
        );
      });
      outgoing.on('error', (error) => reject(lost(error)));
      outgoing.on('close', () => form?.close());
      outgoing.on('response', (response) => {
        isAnswered = true;
        resolve(answerOf(outgoing, response));
      });
      if (form === null) outgoing.end();
      else
        sendPieces(outgoing, form, () => isAnswered).catch((error: Error) => {
          // What the source says is the caller's, whatever becomes of the connection now.
          reject(error);
          outgoing.destroy();
        });
    });
  }

  /** Idle connections are closed; what is under way goes on. */
  close(): void {
    for (const agent of Object.values(this.#agents)) {
      // What is under way now finds no place to wait in when it is done.
      agent.maxFreeSockets = 0;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    }
  }

  #open({ method, url, headers, signal, idleMilliseconds }: TransportRequest<Source>, form: OpenForm | null) {
    const isSecure = url.protocol === 'https:';
    const formHeaders: http.OutgoingHttpHeaders = form === null ? {} : { 'content-type': form.contentType };
    if (form !== null && form.lengthBytes !== null) formHeaders['content-length'] = form.lengthBytes;
    return (isSecure ? https : http).request(url, {
      method,
      headers: { ...headers, ...formHeaders },
      agent: this.#agents[isSecure ? 'https:' : 'http:'],
      signal,
      timeout: idleMilliseconds,
    });
  }
}

/** Rejects with what the source says. That the connection was lost is told by the request itself. */
async function sendPieces(outgoing: http.ClientRequest, form: OpenForm, isAnswered: () => boolean): Promise<void> {
  for await (const piece of form.pieces) {
    // A refusal comes while the body is still sent: nobody reads the rest.
    if (outgoing.destroyed || isAnswered()) return;
    if (!outgoing.write(piece)) await drained(outgoing);
  }
  outgoing.end();
}

function drained(outgoing: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const events = ['drain', 'close', 'response'];
    const go = (): void => {
      for (const event of events) outgoing.off(event, go);
      resolve();
    };
    for (const event of events) outgoing.on(event, go);
    if (outgoing.destroyed) go();
  });
}

function answerOf(outgoing: http.ClientRequest, response: http.IncomingMessage): TransportAnswer {
  return {
    status: response.statusCode ?? 0,
    header: (name) => {
      const value = response.headers[name];
      return value === undefined ? null : String(value);
    },
    body: bodyOf(outgoing, response),
    cancel: () => void outgoing.destroy(),
  };
}

async function* bodyOf(outgoing: http.ClientRequest, response: http.IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of response) yield piece as Uint8Array;
    if (!response.complete) throw new ConnectionLostError('The connection was lost before the end of the answer.');
  } catch (error) {
    throw lost(error as Error);
  } finally {
    // A connection in the middle of a request or an answer is of no further use.
    if (!outgoing.writableFinished || !response.complete) outgoing.destroy();
  }
}

function lost(error: NodeJS.ErrnoException): Error {
  if (error instanceof ConnectionLostError || CERTIFICATE_ERROR.test(error.code ?? '')) return error;
  return new ConnectionLostError(`The connection was lost: ${error.message}`, error);
}
