// Generates load over raw keep-alive sockets: the client must cost less than the servers that it measures.
import { connect, type Socket } from 'node:net';

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  /** Counts of unexpected statuses. */
  readonly others: Readonly<Record<string, number>>;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  readonly p999Milliseconds: number;
}

export interface LoadSettings {
  readonly port: number;
  readonly connections: number;
  /** No request starts later; each connection sends at least one. */
  readonly seconds: number;
  /** The whole request, headers and body. */
  readonly request: Buffer;
  readonly expectedStatus: number;
}

/** Each connection sends its next request as soon as the previous response is complete. */
export async function load(settings: LoadSettings): Promise<LoadResult> {
  const latencies: number[] = [];
  const others: Record<string, number> = {};
  const start = performance.now();
  const end = start + settings.seconds * 1000;
  const onAnswer = (status: number, milliseconds: number): void => {
    if (status === settings.expectedStatus) latencies.push(milliseconds);
    else others[status] = (others[status] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: settings.connections }, () => converse(settings, end, onAnswer)));
  latencies.sort((left, right) => left - right);
  const at = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] ?? Number.NaN;
  return {
    answers: latencies.length,
    seconds: (performance.now() - start) / 1000,
    others,
    p50Milliseconds: at(0.5),
    p99Milliseconds: at(0.99),
    p999Milliseconds: at(0.999),
  };
}

/** Same as `load`, but throws for any unexpected status. */
export async function soundLoad(name: string, settings: LoadSettings): Promise<LoadResult> {
  const result = await load(settings);
  if (Object.keys(result.others).length > 0) throw new Error(`${name} answered ${JSON.stringify(result.others)}`);
  return result;
}

type OnAnswer = (status: number, milliseconds: number) => void;

function converse({ port, request }: LoadSettings, end: number, onAnswer: OnAnswer): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let sentAt = 0;
    let received = '';
    const send = (): void => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('a server closed the connection before its answer')));
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      const answer = completeAnswer(received);
      if (answer === null) return;
      received = '';
      onAnswer(answer, performance.now() - sentAt);
      if (performance.now() < end) return send();
      socket.end();
      resolve();
    });
  });
}

/** Returns the status once the whole response has arrived, otherwise null. */
function completeAnswer(received: string): number | null {
  const head = received.indexOf('\r\n\r\n');
  if (head < 0) return null;
  const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, head));
  if (length === null) throw new Error('an answer without Content-Length');
  return received.length >= head + 4 + Number(length[1]) ? Number(received.slice(9, 12)) : null;
}

/** A multipart request with one file. */
export function uploadRequest(path: string, file: Buffer, authorization: string): Buffer {
  const boundary = 'template-run-bench';
  const opening = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="orders.csv"\r\nContent-Type: text/csv\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(opening), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: ${authorization}`,
    `Content-Type: multipart/form-data; boundary=${boundary}`,
    `Content-Length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

/** A GET request. */
export function getRequest(path: string, authorization: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n\r\n`);
}
