// Looks at one local file as the reader would: type, encoding, dialect, header row, columns, and the number of its rows.
import { statSync } from 'node:fs';
import { Arena } from './arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from './budget.ts';
import { Heap } from './heap.ts';
import { FileSource } from './input/file-source.ts';
import { openRows } from './input/open-rows.ts';
import type { FileHead, RowReader } from './input/reader.ts';
import { compileKernels, instantiateKernel } from './kernel/kernel.ts';
import { templateSectionsOf } from './template/sections.ts';
import { settle } from './waits.ts';

export interface Inspection {
  readonly head: FileHead;
  /** Data rows. */
  readonly rows: number;
}

/** Reads the whole file. Throws Failed (see failure.ts), or a system error when it cannot be read. */
export async function inspectFile(path: string): Promise<Inspection> {
  const { size } = statSync(path);
  const source = new FileSource(path);
  source.grown(size, true);
  const kernel = instantiateKernel(compileKernels());
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
  let reader: RowReader | null = null;
  try {
    const opening = openRows(source, {
      input: templateSectionsOf({}).input,
      overrides: { delimiter: null, headerRow: null },
      expected: null,
      inflatedBytesMax: null,
      arena: new Arena(heap),
      kernel,
      largeRow: { acquire: async () => {} },
    });
    reader = await settle(opening);
    for (let state = reader.next(0); state !== 'end'; state = reader.next(0)) {
      if (state === 'wait') await reader.wait();
    }
    return { head: reader.head, rows: reader.rowsRead };
  } finally {
    reader?.close();
    source.close();
  }
}
