// Drives a row reader as the pipeline does, and keeps all its results for comparison with a reference.
import type { Batch } from '../../../workers/batch/batch.ts';
import type { CsvDialect, CsvReaderParts } from '../../../workers/input/csv/csv-input.ts';
import type { ReadAheadThread } from '../../../workers/input/read-ahead/read-ahead-thread.ts';
import type { RowReader } from '../../../workers/input/reader.ts';
import type { ByteSource } from '../../../workers/input/source/source.ts';
import type { Kernel } from '../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { Failed } from '../../../workers/protocol/failure.ts';
import type { CodeCounts, RunReport } from '../../../workers/protocol/report.ts';
import { type Coroutine, runCoroutine } from '../../../workers/scheduling/coroutine.ts';

export type Row = readonly (string | null)[];

export interface ReadRows {
  readonly headers: readonly string[];
  readonly rows: readonly Row[];
  readonly sourceRows: readonly number[];
  readonly counts: CodeCounts;
  readonly rowsRead: number;
  /** Message of the failure that ended the reading; otherwise null. */
  readonly failure: string | null;
}

export interface ReadSettings {
  readonly dialect?: Partial<CsvDialect>;
  readonly nullValues?: readonly string[];
  readonly ragged?: 'pad' | 'fail';
  readonly strayQuotes?: 'keep' | 'fail';
  /** Sizes of the source's pieces, repeated; 0 makes the reader wait. */
  readonly chunks?: readonly number[];
  readonly windowBytes?: number;
  readonly readAhead?: ReadAheadThread;
  /** Numbers of rows per request, repeated. */
  readonly batches?: readonly number[];
}

export const DIALECT: CsvDialect = { delimiter: ',', quote: '"', headerRow: 0 };

/** Delivers its bytes in pieces, with a turn of the event loop in place of an empty piece. */
export class ChunkedSource implements ByteSource {
  closed = false;
  readonly #bytes: Uint8Array;
  readonly #chunks: readonly number[];
  #at = 0;
  #chunk = 0;

  constructor(bytes: Uint8Array, chunks: readonly number[]) {
    this.#bytes = bytes;
    this.#chunks = chunks;
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }

  read(target: Uint8Array): number {
    const chunk = this.#chunks[this.#chunk++ % this.#chunks.length] ?? target.length;
    const bytes = Math.min(chunk, target.length, this.#bytes.length - this.#at);
    target.set(this.#bytes.subarray(this.#at, this.#at + bytes));
    this.#at += bytes;
    return bytes;
  }

  wait(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    this.closed = true;
  }
}

export function readerParts(kernel: Kernel, source: ByteSource, settings: ReadSettings): CsvReaderParts {
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
  const arena = new Arena(heap, 65_536);
  const parts: CsvReaderParts = {
    heap,
    arena,
    kernel,
    source,
    dialect: { ...DIALECT, ...settings.dialect },
    nullValues: settings.nullValues ?? [''],
    ragged: settings.ragged ?? 'pad',
    strayQuotes: settings.strayQuotes ?? 'keep',
    type: 'csv',
    encoding: 'utf-8',
    largeRow: { acquire: () => Promise.resolve() },
    readAhead: settings.readAhead,
  };
  return settings.windowBytes === undefined ? parts : { ...parts, windowBytes: settings.windowBytes };
}

/** @param input bytes, or their source */
export async function readRows(
  open: (parts: CsvReaderParts) => Coroutine<RowReader>,
  kernel: Kernel,
  input: Uint8Array | ByteSource,
  settings: ReadSettings = {},
): Promise<ReadRows> {
  const chunks = settings.chunks ?? [Number.POSITIVE_INFINITY];
  const source = input instanceof Uint8Array ? new ChunkedSource(input, chunks) : input;
  const parts = readerParts(kernel, source, settings);
  const rows: Row[] = [];
  const sourceRows: number[] = [];
  let reader: RowReader | null = null;
  let failure: string | null = null;
  try {
    reader = await runCoroutine(open(parts));
    await readAll(reader, parts, settings.batches ?? [4096], (batch) => {
      collect(batch, rows, sourceRows);
    });
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    failure = error.failure.message;
  } finally {
    reader?.close();
  }
  const report = { input: { errors: {} } } as RunReport;
  reader?.describe(report);
  const headers = reader?.head.headers ?? [];
  return { headers, rows, sourceRows, counts: report.input.errors, rowsRead: reader?.rowsRead ?? 0, failure };
}

async function readAll(
  reader: RowReader,
  parts: CsvReaderParts,
  batches: readonly number[],
  take: (batch: Batch) => void,
): Promise<void> {
  for (let turn = 0; ; turn++) {
    parts.arena.clear();
    const batch = reader.next(batches[turn % batches.length]!);
    if (batch === 'end') return;
    if (batch === 'wait') await reader.wait();
    else take(batch);
  }
}

function collect(batch: Batch, rows: Row[], sourceRows: number[]): void {
  for (let column = 0; column < batch.columns.length; column++) batch.views(column);
  for (let position = 0; position < batch.live; position++) {
    const physicalRow = batch.physicalRow(position);
    sourceRows.push(batch.sourceRow(physicalRow));
    rows.push(
      batch.columns.map((column) => {
        if (column.kind !== 'views') throw new Error('not materialised');
        return batch.text(column, physicalRow);
      }),
    );
  }
}
