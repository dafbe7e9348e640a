// Drives the JSON reader as the pipeline does. Returns all cells with their kinds, or the reason why the file is refused.
import { writeFileSync } from 'node:fs';
import { ExpectedHeaders } from '../../../../workers/input/expected-headers.ts';
import { FileStart, START_BYTES } from '../../../../workers/input/file-start.ts';
import type { OpenSettings } from '../../../../workers/input/format.ts';
import { openJson } from '../../../../workers/input/json/open-json.ts';
import type { ReadAheadThread } from '../../../../workers/input/read-ahead/read-ahead-thread.ts';
import { BytesSource } from '../../../../workers/input/source/bytes-source.ts';
import { FileSource } from '../../../../workers/input/source/file-source.ts';
import { compileKernels, instantiateKernel } from '../../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../../workers/memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../../workers/memory/budget.ts';
import { Heap } from '../../../../workers/memory/heap.ts';
import { Failed } from '../../../../workers/protocol/failure.ts';
import type { CodeCounts, RunReport } from '../../../../workers/protocol/report.ts';
import { runCoroutine } from '../../../../workers/scheduling/coroutine.ts';
import { ColumnPatterns } from '../../../../workers/template/column-pattern.ts';
import { inputOf } from '../../../../workers/template/sections.ts';
import { partly } from '../../../partly.ts';
import { ChunkedSource } from '../read-rows.ts';

export type Cell = readonly [kind: number, text: string] | null;

export interface JsonFile {
  readonly type: string;
  readonly headers: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly counts: CodeCounts;
  /** Number of values beside the list of records. */
  readonly valuesBeside: number;
}

export interface JsonReading {
  readonly windowBytes?: number | undefined;
  readonly guesses?: boolean;
  /** Sizes of the source's pieces, repeated; 0 makes the reader wait. */
  readonly chunks?: readonly number[];
  /** The `input` section of a Template. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly expected?: OpenSettings['expected'];
  /** Maximum number of rows of a batch; a list is repeated. */
  readonly rowsMax?: number | readonly number[];
  /** Reads ahead in the file, which then is not delivered in chunks. */
  readonly ahead?: undefined | { readonly readAhead: ReadAheadThread; readonly path: string };
  readonly clock?: OpenSettings['clock'];
  /** Columns to read: cells of the other columns may be null. */
  readonly columns?: readonly number[];
}

const kernel = instantiateKernel(compileKernels());

/** @throws Failed */
export async function readJsonFile(file: string | Uint8Array, reading: JsonReading = {}): Promise<JsonFile> {
  const bytes = Buffer.from(file as Uint8Array);
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
  const settings: OpenSettings = {
    input: inputOf(reading.input ?? {}),
    overrides: { delimiter: null, headerRow: null },
    expected: reading.expected ?? null,
    arena: new Arena(heap, 65_536),
    kernel,
    largeRow: { acquire: async () => {} },
    // biome-ignore lint/correctness/useYield: all bytes are there
    *whole() {
      return reading.ahead === undefined ? new BytesSource(bytes) : storedAt(reading.ahead.path, bytes);
    },
  };
  const { windowBytes = 524_288, guesses = true, rowsMax = 4096, ahead } = reading;
  const source =
    ahead === undefined ? new ChunkedSource(bytes, reading.chunks ?? [bytes.length || 1]) : storedAt(ahead.path, bytes);
  const start = new FileStart(bytes.subarray(0, START_BYTES), '');
  const tuning = { windowBytes, guesses };
  const opening = openJson(source, start, { ...settings, readAhead: ahead?.readAhead, clock: reading.clock }, tuning);
  const reader = await runCoroutine(opening);
  if (reading.columns !== undefined) reader.useColumns?.(reading.columns);
  const wanted = typeof rowsMax === 'number' ? [rowsMax] : rowsMax;
  let turn = 0;
  const next = () => reader.next(wanted[turn++ % wanted.length]!);
  const rows: Cell[][] = [];
  for (let batch = next(); batch !== 'end'; batch = next()) {
    if (batch === 'wait') {
      await reader.wait();
      continue;
    }
    for (let row = 0; row < batch.rows; row++) {
      const cells = batch.columns.map((column): Cell => {
        if (column.kind !== 'views') throw new Error('JSON has views alone');
        const text = batch.text(column, row);
        return text === null ? null : [heap.u8[column.kinds! + row]!, text];
      });
      rows.push(cells);
    }
  }
  const counts: CodeCounts = {};
  const input = partly<RunReport['input']>({ errors: counts });
  reader.describe(partly<RunReport>({ input }));
  reader.close();
  return {
    type: reader.head.type,
    headers: reader.head.headers,
    rows,
    counts,
    valuesBeside: input.values_beside_list ?? 0,
  };
}

function storedAt(path: string, bytes: Uint8Array): FileSource {
  writeFileSync(path, bytes);
  const source = new FileSource(path);
  source.grown(bytes.length, true);
  return source;
}

/** What a Template that names these columns and drops the others looks for. */
export function expecting(names: readonly string[]): ExpectedHeaders | null {
  return ExpectedHeaders.of({
    fileColumns: names.map((name) => ({ name, match: [], ifMissing: 'fail', declared: true })),
    input: inputOf({ other_columns: 'drop' }),
    patterns: new ColumnPatterns(),
    takesOthers: false,
  });
}

/** Message of the failure. */
export async function refusalOf(file: string | Uint8Array, reading: JsonReading = {}): Promise<string> {
  try {
    await readJsonFile(file, reading);
  } catch (error) {
    if (error instanceof Failed) return `${error.failure.code}: ${error.failure.message}`;
    throw error;
  }
  return 'none';
}
