// Reads a Parquet file with its format alone, and keeps every cell with its kind.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileStart, START_BYTES } from '../../../../workers/input/file-start.ts';
import type { WholeFileSettings } from '../../../../workers/input/format.ts';
import { parquetFormat } from '../../../../workers/input/parquet/parquet-format.ts';
import type { FileHead, RowReader } from '../../../../workers/input/reader.ts';
import { BytesSource } from '../../../../workers/input/source/bytes-source.ts';
import { compileKernels, instantiateKernel } from '../../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../../workers/memory/arena.ts';
import { type BudgetShare, RUN_RESERVATION_BYTES, unlimitedShare } from '../../../../workers/memory/budget.ts';
import { Heap } from '../../../../workers/memory/heap.ts';
import { SpillFolder } from '../../../../workers/memory/spill-file.ts';
import { Failed, type Failure } from '../../../../workers/protocol/failure.ts';
import { runCoroutine } from '../../../../workers/scheduling/coroutine.ts';
import { inputOf } from '../../../../workers/template/sections.ts';

/** One kernel for all files: each file has its memory while it is read. */
const sharedKernel = instantiateKernel(compileKernels());

/** Native kinds by their numbers. */
export const KINDS = ['text', 'number', 'boolean', 'date', 'datetime', 'time', 'json'];

export interface ReadCells {
  readonly head: FileHead;
  /** For each cell null, or its kind and text. A column without kinds has texts. */
  readonly rows: readonly (readonly ([kind: string, text: string] | null)[])[];
  /** Number of data rows. */
  readonly rowsRead: number;
}

export interface ReadSettings {
  readonly input?: object;
  /** Indexes of the columns to read; all by default. */
  readonly used?: readonly number[];
  /** Numbers of rows per request, repeated. */
  readonly batches?: readonly number[];
  /** Number of rows after which reading stops; by default, all rows are read. */
  readonly rowsMax?: number;
  readonly budget?: BudgetShare;
  /** Reads the file with a new kernel, whose memory no earlier file has grown. */
  readonly hasNewMemory?: true;
  readonly inflatedBytesMax?: number;
}

/** @throws Failed */
export async function readParquet(bytes: Uint8Array, settings: ReadSettings = {}): Promise<ReadCells> {
  const budget = settings.budget ?? unlimitedShare();
  const kernel = settings.hasNewMemory ? instantiateKernel(compileKernels()) : sharedKernel;
  const lender = { tryLend: () => false, hasLent: true };
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), budget, RUN_RESERVATION_BYTES, 0, lender);
  const arena = new Arena(heap);
  const source = new BytesSource(bytes);
  const open: WholeFileSettings = {
    input: inputOf(settings.input ?? {}),
    overrides: { delimiter: null, headerRow: null },
    expected: null,
    arena,
    kernel,
    largeRow: { acquire: () => Promise.resolve() },
    inflatedBytesMax: settings.inflatedBytesMax ?? null,
    spill: new SpillFolder(join(tmpdir(), 'parquet-cells-none')),
  };
  const reader = await runCoroutine(
    parquetFormat.open(source, new FileStart(bytes.subarray(0, START_BYTES), ''), open),
  );
  if (settings.used !== undefined) reader.useColumns!(settings.used);
  return {
    head: reader.head,
    ...(await cellsOf(reader, arena, settings.batches ?? [4096], settings.rowsMax ?? Number.POSITIVE_INFINITY)),
    rowsRead: reader.rowsRead,
  };
}

/** The failure of a file; null if the file can be read. */
export async function failureOf(bytes: Uint8Array, settings: ReadSettings = {}): Promise<Failure | null> {
  try {
    await readParquet(bytes, settings);
    return null;
  } catch (error) {
    if (error instanceof Failed) return error.failure;
    throw error;
  }
}

async function cellsOf(
  reader: RowReader,
  arena: Arena,
  batches: readonly number[],
  rowsMax: number,
): Promise<Pick<ReadCells, 'rows'>> {
  const rows: ([string, string] | null)[][] = [];
  for (let turn = 0; ; turn++) {
    arena.clear();
    if (rows.length >= rowsMax) return { rows };
    const batch = reader.next(batches[turn % batches.length]!);
    if (batch === 'end') return { rows };
    if (batch === 'wait') {
      await reader.wait();
      continue;
    }
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      rows.push(
        batch.columns.map((column) => {
          if (column.kind !== 'views') throw new Error('not a text');
          const text = batch.text(column, row);
          const kind = column.kinds === undefined ? 0 : batch.heap.u8[column.kinds + row]!;
          return text === null ? null : [KINDS[kind]!, text];
        }),
      );
    }
  }
}
