// The rate of one large upload, from the first byte sent to the 201: spool, engine and answer on the way.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { load, uploadRequest } from './load.ts';
import { median } from './median.ts';
import { makeOrders } from './orders.ts';
import { startOurs } from './service.ts';

export async function benchUploads(folder: string, inputBytes: number, rounds: number): Promise<void> {
  const path = join(folder, 'orders.csv');
  makeOrders(path, inputBytes);
  const server = await startOurs(folder);
  const rates: number[] = [];
  try {
    const request = uploadRequest(server.path, readFileSync(path), server.authorization);
    for (let round = -1; round < rounds; round++) {
      // A load of one answer: the first is sent at once, and then the time is over.
      const { port, expectedStatus } = server;
      const { p50Milliseconds, others } = await load({ port, connections: 1, seconds: 0.001, request, expectedStatus });
      if (Object.keys(others).length > 0) throw new Error(`an upload was answered ${JSON.stringify(others)}`);
      if (round >= 0) rates.push(statSync(path).size / 1e3 / p50Milliseconds);
    }
  } finally {
    await server.stop();
  }
  const range = `${Math.min(...rates).toFixed(0)}..${Math.max(...rates).toFixed(0)}`;
  console.log(`\nupload with W1, ${Math.round(inputBytes / 1e6)} MB: ${median(rates).toFixed(0)} MB/s (${range})`);
}
