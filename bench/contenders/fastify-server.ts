// What a Node service does today, as a server: Fastify, @fastify/multipart, Piscina with csv-parse. It answers with the
// transformed file's size. `fastify-server` prints its port.
import { requiredPeer } from './peers.ts';

interface Part {
  toBuffer(): Promise<Buffer>;
}
interface Server {
  register(plugin: unknown, options: unknown): Promise<void>;
  post(path: string, handler: (request: { file(): Promise<Part> }) => Promise<unknown>): void;
  listen(options: { port: number; host: string }): Promise<string>;
}
interface Pool {
  run(input: Buffer): Promise<number>;
}

const UPLOAD_BYTES_MAX = 1_000_000_000;

const fastify = requiredPeer<(options: unknown) => Server>('fastify');
const { Piscina } = requiredPeer<{ Piscina: new (options: unknown) => Pool }>('piscina');
const worker = new URL('./fastify-worker.js', import.meta.url).href;
const pool = new Piscina({
  filename: worker,
  name: 'transform',
  minThreads: 2,
  maxThreads: 2,
  concurrentTasksPerWorker: 16,
});
const server = fastify({ bodyLimit: UPLOAD_BYTES_MAX });
await server.register(requiredPeer('@fastify/multipart'), { limits: { fileSize: UPLOAD_BYTES_MAX } });
server.post('/upload', async (request) => ({ bytes: await pool.run(await (await request.file()).toBuffer()) }));
const address = await server.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${JSON.stringify({ event: 'listening', port: Number(new URL(address).port) })}\n`);
