// Seeded scenarios of faulty connections for tests of the clients: files, their outputs, and faults during the upload,
// its response, a query of the Run and the download.
import type { Fault } from '../../fixtures/fault-proxy.ts';
import { type Noise, noise } from '../../random.ts';

/** Large enough to be cut in its middle, small enough to be sent often. */
const ROWS_MAX = 12_000;
const FAULTS_MAX = 4;

export interface Scenario {
  readonly name: string;
  readonly file: Buffer;
  /** Output of the Template PICK for this file. */
  readonly output: Buffer;
  readonly faults: readonly Fault[];
}

export function scenario(number: number, withKills: boolean): Scenario {
  const next = noise(1000 + number);
  const rows = Array.from({ length: 100 + next(ROWS_MAX) }, (_, row) => `${row},${next(1_000_000)}`).join('\n');
  const file = Buffer.from(`id,amount\n${rows}\n`);
  const output = Buffer.from(`id,total\n${rows}\n`);
  const faults = Array.from({ length: 1 + next(FAULTS_MAX) }, () => fault(next, file.length));
  if (withKills) faults.splice(next(faults.length), 0, { kind: 'kill', ...place(next, file.length) });
  return { name: `${number}: ${faults.map(nameOf).join(', ')}`, file, output, faults };
}

function fault(next: Noise, fileBytes: number): Fault {
  const kinds: readonly (() => Fault)[] = [
    () => ({ kind: 'cut', ...place(next, fileBytes), reset: next(2) === 0 }),
    () => ({ kind: 'cut', ...place(next, fileBytes), reset: next(2) === 0 }),
    () => ({ kind: 'stall', ...place(next, fileBytes) }),
    () => ({ kind: 'refuse', status: 429, code: next(2) === 0 ? 'RATE_LIMITED' : 'CONCURRENCY_LIMIT_REACHED' }),
    () => ({ kind: 'refuse', status: 503, code: 'SERVER_BUSY' }),
    () => ({ kind: 'lose-answer' }),
    // After the heads of the Run's response and of the download, which share a connection.
    () => ({ kind: 'damage', bytes: 4000 + next(fileBytes) }),
  ];
  return kinds[next(kinds.length)]!();
}

/** Half of the places on the way down are in the answer to the upload, the others in the output. */
function place(next: Noise, fileBytes: number): { readonly way: 'up' | 'down'; readonly bytes: number } {
  if (next(2) === 0) return { way: 'up', bytes: next(fileBytes + 1000) };
  return { way: 'down', bytes: next(2) === 0 ? next(800) : 1600 + next(fileBytes) };
}

function nameOf(fault: Fault): string {
  return 'way' in fault ? `${fault.kind} ${fault.way} ${fault.bytes}` : fault.kind;
}
