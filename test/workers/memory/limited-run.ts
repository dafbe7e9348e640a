// One operation on a large file with little memory: the files, a budget that counts, and the Run. Independent of the test
// framework.

import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { inputFormats } from '../../../workers/input/index.ts';
import { FileSource } from '../../../workers/input/source/file-source.ts';
import { compileKernels } from '../../../workers/kernel/bindings/kernel.ts';
import { type BudgetShare, RUN_RESERVATION_BYTES } from '../../../workers/memory/budget.ts';
import { NO_COLLECTOR } from '../../../workers/memory/collector.ts';
import { KernelPool } from '../../../workers/memory/kernel-pool.ts';
import { checkTemplate, PreparedTemplate } from '../../../workers/plan/template-cache.ts';
import type { RunOutcome } from '../../../workers/protocol/messages.ts';
import { runTemplate } from '../../../workers/run/run.ts';
import { runCoroutine } from '../../../workers/scheduling/coroutine.ts';
import { noise } from '../../random.ts';

/** Maximum state of the operation. */
export const STATE_BYTES = 16 * 1024 * 1024;

const TABLE_ROWS = 250_000;

export interface Files {
  readonly folder: string;
  readonly input: string;
  readonly table: string;
}

/** Orders, and a table with the city of most customers. The contents depend only on the number of rows. */
export function makeFiles(folder: string, rows: number): Files {
  const files = { folder, input: join(folder, 'orders.csv'), table: join(folder, 'table.csv') };
  const descriptor = openSync(files.input, 'w');
  let lines = ['id,name,email,amount,note,site'];
  const next = noise(7);
  for (let row = 0; row < rows; row++) {
    const person = next(300_000);
    const id = String(row).padStart(8, '0');
    const site = row % 11 === 3 ? `site ${person % 71}` : '';
    const note = `order ${row} of ${person}, as it was`.padEnd(30, '.');
    lines.push(
      `${id},name ${(person * 7919) % 100_003},person${person}@mail.example,${row % 997}.${row % 10}5,"${note}",${site}`,
    );
    if (lines.length < 10_000 && row < rows - 1) continue;
    writeSync(descriptor, `${lines.join('\n')}\n`);
    lines = [];
  }
  closeSync(descriptor);
  const table = Array.from(
    { length: TABLE_ROWS },
    (_, n) => `person${n}@mail.example,city ${n % 1000} ${'x'.repeat(60)}`,
  );
  writeFileSync(files.table, `email,city\n${table.join('\n')}\n`);
  return files;
}

/** Grants at most `#limitBytes`; forced requests may exceed the limit. */
class LimitedShare implements BudgetShare {
  readonly #limitBytes: number;
  takenBytes = 0;
  mostBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  take(bytes: number): boolean {
    if (this.takenBytes + bytes > this.#limitBytes) return false;
    this.force(bytes);
    return true;
  }

  force(bytes: number): void {
    this.takenBytes += bytes;
    this.mostBytes = Math.max(this.mostBytes, this.takenBytes);
  }

  release(bytes: number): void {
    this.takenBytes -= bytes;
  }
}

export interface LimitedRun {
  readonly outcome: RunOutcome;
  readonly output: string;
  readonly spill: string;
  readonly mostBytes: number;
}

/**
 * Applies one operation to the orders. Its requests to the budget are counted and limited.
 * @param isCancelledAtSpill true: the Run is cancelled as soon as it has written to disk
 */
export async function runLimited(
  name: string,
  operation: object,
  files: Files,
  stateBytes: number,
  isCancelledAtSpill = false,
): Promise<LimitedRun> {
  const source = JSON.stringify({ tables: { t: { ref: 't' } }, operations: [operation] });
  const checked = checkTemplate(source, 'json');
  if ('problems' in checked) throw new Error(JSON.stringify(checked.problems));
  const budget = new LimitedShare(stateBytes);
  const output = join(files.folder, `${name}-${stateBytes}`);
  const spill = `${output}.spill`;
  const file = new FileSource(files.input);
  file.grown(statSync(files.input).size, true);
  rmSync(output, { force: true });
  try {
    const outcome = await runCoroutine(
      runTemplate({
        formats: inputFormats,
        task: {
          task: 1,
          template: { source, format: 'json', sha256: '' },
          source: { kind: 'file', path: files.input },
          ending: 'csv',
          overrides: { delimiter: ',', headerRow: 0 },
          limits: { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null },
          output: { path: output, memoryBytesMax: 0 },
          spillDirectory: spill,
          tables: { t: { path: files.table, sha256: digest(files.table) } },
          secretsDirectory: null,
          startedAt: '2026-01-31T12:00:00Z',
          reservationBytes: RUN_RESERVATION_BYTES,
        },
        prepared: new PreparedTemplate(checked.template),
        source: file,
        kernels: new KernelPool(compileKernels(), budget, NO_COLLECTOR),
        budget,
        largeRow: new Int32Array(new SharedArrayBuffer(4)),
        largeRowOwner: 1,
        cancelled: () => isCancelledAtSpill && existsSync(spill) && readdirSync(spill).length > 0,
        beat: () => {},
      }),
    );
    return { outcome, output, spill, mostBytes: budget.mostBytes };
  } finally {
    file.close();
  }
}

/** SHA-256 in hex. */
export function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
