// The minimum cost of this service's design: uWebSockets.js, busboy, Piscina, and a task that only responds. It parses
// the form, passes the file to a thread, waits, and responds with the file size, without admission, transformation or
// storage. Prints its port.

import { App, type HttpResponse, us_socket_local_port } from 'uWebSockets.js';
import busboy from 'busboy';
import { Piscina } from 'piscina';

/** Same number of threads, and of concurrent Runs per thread, as the service on this machine. */
const THREADS = 2;
const TASKS_PER_THREAD = 16;

const worker = new URL('./floor-worker.js', import.meta.url).href;
const pool = new Piscina({
  filename: worker,
  minThreads: THREADS,
  maxThreads: THREADS,
  concurrentTasksPerWorker: TASKS_PER_THREAD,
});

const app = App();
app.post('/upload', (response, request) => {
  let isGone = false;
  response.onAborted(() => {
    isGone = true;
  });
  const answer = (status: string, body: object): void => {
    if (isGone) return;
    response.cork(() => void response.writeStatus(status).end(JSON.stringify(body)));
  };
  receive(response, request.getHeader('content-type'))
    .then((file) => pool.run(file, { name: 'answer' }) as Promise<number>)
    .then(
      (bytes) => answer('201 Created', { bytes }),
      (fault: Error) => answer('500 Internal Server Error', { error: fault.message }),
    );
});
app.listen('127.0.0.1', 0, 0, (socket) => {
  if (socket === false) throw new Error('the floor cannot listen');
  process.stdout.write(`${JSON.stringify({ event: 'listening', port: us_socket_local_port(socket) })}\n`);
});

/** Returns the file of a form. */
function receive(response: HttpResponse, contentType: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const form = busboy({ headers: { 'content-type': contentType } });
    const pieces: Buffer[] = [];
    form.on('file', (_, file) => file.on('data', (piece: Buffer) => pieces.push(piece)));
    form.on('close', () => resolve(Buffer.concat(pieces)));
    form.on('error', reject);
    response.onData((bytes, isLast) => {
      // The library reuses its memory when this returns.
      form.write(Buffer.from(new Uint8Array(bytes.slice(0))));
      if (isLast) form.end();
    });
  });
}
