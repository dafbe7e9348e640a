// A typical Node service as a server: Fastify, @fastify/multipart, Piscina. `/upload` transforms a small file in memory
// with csv-parse; `/upload-file/csv-parse` and `/upload-file/duckdb` use files. Each responds with the size of the
// output. `fastify-server FOLDER` prints its port.
import { randomUUID } from 'node:crypto';
import { createWriteStream, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FileTask } from './fastify-worker.ts';
import { requiredPeer } from './peers.ts';

interface Part {
  readonly file: Readable;
  toBuffer(): Promise<Buffer>;
}
interface Request {
  readonly params: { readonly engine: FileTask['engine'] };
  file(): Promise<Part>;
}
interface Server {
  register(plugin: unknown, options: unknown): Promise<void>;
  post(path: string, handler: (request: Request) => Promise<unknown>): void;
  listen(options: { port: number; host: string }): Promise<string>;
}
interface Pool {
  run(input: unknown, options: { name: string }): Promise<unknown>;
}

const UPLOAD_BYTES_MAX = 4_000_000_000;

const folder = process.argv[2]!;
const fastify = requiredPeer<(options: unknown) => Server>('fastify');
const { Piscina } = requiredPeer<{ Piscina: new (options: unknown) => Pool }>('piscina');
const worker = new URL('./fastify-worker.js', import.meta.url).href;
const pool = new Piscina({ filename: worker, minThreads: 2, maxThreads: 2, concurrentTasksPerWorker: 16 });
const server = fastify({ bodyLimit: UPLOAD_BYTES_MAX });
await server.register(requiredPeer('@fastify/multipart'), { limits: { fileSize: UPLOAD_BYTES_MAX } });
server.post('/upload', async (request) => {
  const bytes = await pool.run(await (await request.file()).toBuffer(), { name: 'transform' });
  return { bytes };
});
server.post('/upload-file/:engine', async (request) => {
  const input = join(folder, `${randomUUID()}.csv`);
  const output = `${input}.out`;
  try {
    await pipeline((await request.file()).file, createWriteStream(input));
    const task: FileTask = { engine: request.params.engine, input, output };
    await pool.run(task, { name: 'transformFile' });
    return { bytes: statSync(output).size };
  } finally {
    rmSync(input, { force: true });
    rmSync(output, { force: true });
  }
});
const address = await server.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${JSON.stringify({ event: 'listening', port: Number(new URL(address).port) })}\n`);
