// Reads a reference table of the catalog with the reader of uploads: a CSV file whose first record is the header, all
// cells text, empty ones null. Trouble with it is not the upload's fault: it ends the Run as TEMPLATE_CHECK_FAILED.
import { createHash, type Hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import { csvFormat } from '../../input/csv/csv-format.ts';
import { DIALECT_ADVICE } from '../../input/csv/malformed.ts';
import { ENCODING_ADVICE } from '../../input/encoding/undecodable.ts';
import { openRows } from '../../input/open-rows.ts';
import type { RowReader } from '../../input/reader.ts';
import { FileSource } from '../../input/source/file-source.ts';
import type { ByteSource } from '../../input/source/source.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { Arena } from '../../memory/arena.ts';
import type { BudgetShare } from '../../memory/budget.ts';
import { Heap } from '../../memory/heap.ts';
import type { KernelPool } from '../../memory/kernel-pool.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import { headerNames } from '../../plan/file-columns.ts';
import { Failed } from '../../protocol/failure.ts';
import type { TaskTable } from '../../protocol/messages.ts';
import type { TemplateInput } from '../../template/template.ts';
import { runCoroutine } from '../../thread/coroutine.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { SpillFile } from '../spill/spill-file.ts';
import type { SpillFolder } from '../spill/spill-folder.ts';
import { SpillWriter } from '../spill/spill-writer.ts';
import { TableRows } from './table-rows.ts';

export interface TableTools {
  readonly kernels: KernelPool;
  readonly budget: BudgetShare;
  readonly spill: SpillFolder;
  /** See LargeRowGate. */
  readonly largeRow: LargeRowAccess;
  /** Called at each batch: lets others go on, throws Cancelled. */
  giveWay(): Promise<void>;
}

/** Whatever uploads may be. */
const TABLE_FORMATS = [csvFormat];

const TABLE_INPUT: TemplateInput = {
  headerMatch: 'exact',
  duplicateHeaders: 'suffix',
  otherColumns: 'keep',
  nullValues: [''],
  format: 'auto',
  csv: {
    delimiter: null,
    headerRow: 0,
    headerRows: null,
    comment: null,
    encoding: null,
    quote: null,
    ragged: 'pad',
    strayQuotes: 'keep',
  },
  json: { records: null, flatten: null },
  fixed: null,
  sheet: null,
  sheetInto: null,
  table: null,
  merged: 'first',
  hidden: 'keep',
  preamble: [],
  footer: [],
  columns: [],
};

/**
 * @param name how the Template calls the table
 * @throws Failed TEMPLATE_CHECK_FAILED, RUN_RESOURCE_LIMIT; Cancelled
 */
export async function loadTable(name: string, table: TaskTable, tools: TableTools): Promise<TableRows> {
  const kernel = tools.kernels.borrow();
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), tools.budget, 0);
  const source = new HashedSource(table.path);
  let rows: TableRows | null = null;
  let reader: RowReader | null = null;
  try {
    const arena = new Arena(heap);
    const settings = { input: TABLE_INPUT, overrides: { delimiter: null, headerRow: null }, expected: null };
    const file = { formats: TABLE_FORMATS, ending: '', inflatedBytesMax: null };
    const { largeRow, spill } = tools;
    reader = await runCoroutine(openRows(source, { ...settings, ...file, arena, kernel, largeRow, spill }));
    rows = new TableRows(headerNames(reader.head.headers), tools.budget, () => new SpillFile(tools.spill));
    await copyRows(reader, rows, kernel, arena, tools);
    if (source.digest() !== table.sha256) throw new Failed('TEMPLATE_CHECK_FAILED', changed(name));
    const loaded = rows;
    loaded.complete();
    rows = null;
    return loaded;
  } catch (error) {
    if (!(error instanceof Failed) || error.failure.code === 'RUN_RESOURCE_LIMIT') throw error;
    if (error.failure.code === 'TEMPLATE_CHECK_FAILED') throw error;
    const reason = error.failure.message
      .replace(ENCODING_ADVICE, 'Save the table as UTF-8.')
      .replace(DIALECT_ADVICE, 'Write it with commas, its header in the first row.');
    throw new Failed('TEMPLATE_CHECK_FAILED', `The reference table ${JSON.stringify(name)} cannot be read: ${reason}`);
  } finally {
    rows?.drop();
    reader?.close();
    source.close();
    tools.kernels.giveBack(kernel, heap.borrowedBytes);
  }
}

function changed(name: string): string {
  return `The reference table ${JSON.stringify(name)} has changed since the catalog was read. Start the Run again.`;
}

async function copyRows(reader: RowReader, rows: TableRows, kernel: Kernel, arena: Arena, tools: TableTools) {
  const types = rows.columns.map(() => 'text' as const);
  const codec = new RowCodec(arena.heap, kernel, types);
  const writer = new SpillWriter(arena.heap, codec, rows);
  for (;;) {
    arena.clear();
    const batch = reader.next(BATCH_ROWS_MAX);
    if (batch === 'end') break;
    if (batch === 'wait') {
      await reader.wait();
      continue;
    }
    codec.prepare(batch);
    const orders = arena.take(batch.live * 8);
    for (let i = 0; i < batch.live; i++) arena.heap.f64[(orders >>> 3) + i] = rows.rows + i;
    writer.write(batch, { rows: batch.selection, count: batch.live, orders });
    rows.rows += batch.live;
    await tools.giveWay();
  }
  writer.flush();
}

/** A file that is complete, and the digest of what was read of it. */
class HashedSource implements ByteSource {
  readonly #source: FileSource;
  readonly #hash: Hash = createHash('sha256');

  constructor(path: string) {
    this.#source = new FileSource(path);
    this.#source.grown(statSync(path).size, true);
  }

  get ended(): boolean {
    return this.#source.ended;
  }

  read(target: Uint8Array): number {
    const bytes = this.#source.read(target);
    this.#hash.update(target.subarray(0, bytes));
    return bytes;
  }

  wait(): Promise<void> {
    return this.#source.wait();
  }

  digest(): string {
    return this.#hash.digest('hex');
  }

  close(): void {
    this.#source.close();
  }
}
