// A service with scripted responses, which records its requests.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface ScriptedAnswer {
  readonly status: number;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** No more of the body comes: the test loses the connection with `cut`. */
  readonly bytesMax?: number;
}

export interface AskedFor {
  readonly line: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export class ScriptedService {
  readonly asked: AskedFor[] = [];
  readonly url: string;
  #last: http.ServerResponse | null = null;

  /** @param answers in their order; the last one is given to all further requests */
  static async open(t: Test, answers: readonly ScriptedAnswer[]): Promise<ScriptedService> {
    const left = [...answers];
    const server = http.createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => {
        body += piece;
      });
      request.on('end', () => {
        service.asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
        give(response, left.length > 1 ? left.shift()! : left[0]!);
        service.#last = response;
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const service = new ScriptedService((server.address() as AddressInfo).port);
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return service;
  }

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Loses the connection of the last request. */
  cut(): void {
    this.#last?.destroy();
  }
}

function give(response: http.ServerResponse, { status, headers = {}, body = '', bytesMax }: ScriptedAnswer): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-length': bytes.length, ...headers });
  if (bytesMax === undefined) response.end(bytes);
  else response.write(bytes.subarray(0, bytesMax));
}

/** An error of the API. */
export function refusal(status: number, error: string, more: object = {}, headers = {}): ScriptedAnswer {
  return { status, headers, body: JSON.stringify({ error, message: `It is ${error}.`, request_id: 'r-1', ...more }) };
}

export function runAnswer(status: number, run: object, headers = {}): ScriptedAnswer {
  return {
    status,
    headers,
    body: JSON.stringify({ id: 'run_1', status: 'succeeded', template_id: 'pick', rows_written: 1, ...run }),
  };
}
