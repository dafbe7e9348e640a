// The thread's part of fastify-server.ts: W1 with csv-parse on a buffer.
import { SELECTED } from '../workloads.ts';
import { requiredPeer } from './peers.ts';

type Parse = (input: Buffer, options: { columns: boolean }) => Record<string, string>[];

const { parse } = requiredPeer<{ parse: Parse }>('csv-parse/sync');

/** Gives the size of the output in bytes: the output itself would have to be kept somewhere. */
export function transform(input: Uint8Array): number {
  const rows = parse(Buffer.from(input), { columns: true });
  const lines = rows.map((row) => SELECTED.map(([column]) => quoted(row[column]!)).join(','));
  return Buffer.byteLength(`${SELECTED.map(([, name]) => name).join(',')}\n${lines.join('\n')}\n`);
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
