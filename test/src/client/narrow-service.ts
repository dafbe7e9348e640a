// A service whose plan has few slots, for tests of clients that are refused because no slot is free. Runs take some
// time and have the same output; usage can be read if the key permits it.
import { createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { refusal, runAnswer, type ScriptedAnswer } from './scripted-service.ts';

/** Longer than it takes to start sending several files. */
const RUN_MILLISECONDS = 150;
export const OUTPUT = 'id,total\n1,2\n';
const DIGEST = createHash('sha256').update(OUTPUT).digest('base64');
/** Response to requests for outputs and rejected rows. */
export const OUTPUT_ANSWER: ScriptedAnswer = {
  status: 200,
  headers: { etag: '"run_1"', 'repr-digest': `sha-256=:${DIGEST}:` },
  body: OUTPUT,
};

export class NarrowService {
  readonly url: string;
  refusals = 0;
  runs = 0;

  /** @param slots 0: others have taken all of them */
  static async open(t: Test, slots: number, isUsageRead: boolean): Promise<NarrowService> {
    let inFlight = 0;
    const usage = { used: 0, limit: null, resets_at: '2026-12-01T00:00:00.000Z', runs_in_flight: 0 };
    const answerOf = async ({ method, url }: http.IncomingMessage): Promise<ScriptedAnswer> => {
      if (method === 'GET' && !url!.endsWith('/usage')) return OUTPUT_ANSWER;
      if (method === 'GET') {
        const ceilings = { runs_in_flight_max: slots };
        return isUsageRead
          ? { status: 200, body: JSON.stringify({ ...usage, ceilings }) }
          : refusal(403, 'INSUFFICIENT_SCOPE');
      }
      if (inFlight >= slots) {
        service.refusals += 1;
        return refusal(429, 'CONCURRENCY_LIMIT_REACHED');
      }
      inFlight += 1;
      await new Promise((resolve) => setTimeout(resolve, RUN_MILLISECONDS));
      inFlight -= 1;
      service.runs += 1;
      return runAnswer(201, { output: { name: 'output.csv' } });
    };
    const server = http.createServer((request, response) => {
      request.resume();
      void answerOf(request).then(({ status, headers, body = '' }) => {
        response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const service = new NarrowService((server.address() as AddressInfo).port);
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return service;
  }

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }
}
