// The reference tables of a Run: reading them into memory or a file, sharing them between the Runs of a thread, and
// releasing them.

import { createHash, type Hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { BATCH_ROWS_MAX, type Batch } from '../../batch/batch.ts';
import type { ColumnType } from '../../batch/schema.ts';
import { csvFormat } from '../../input/csv/csv-format.ts';
import {
  DIALECT_ADVICE,
  DRAWN_TABLE_ADVICE,
  ESCAPE_ADVICE,
  NUL_ADVICE,
  OPEN_QUOTE_ADVICE,
  RAGGED,
  STRAY,
} from '../../input/csv/csv-input.ts';
import { LateQuote } from '../../input/csv/late-quote.ts';
import { type EncodingTries, NOTHING_TRIED } from '../../input/encoding/encoding.ts';
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
import { type SpillBytes, SpillFile, type SpillFolder } from '../../memory/spill-file.ts';
import { Failed } from '../../protocol/failure.ts';
import type { TaskTable } from '../../protocol/messages.ts';
import { runCoroutine } from '../../scheduling/coroutine.ts';
import { headerNames } from '../../template/file-columns.ts';
import type { Template, TemplateInput } from '../../template/template.ts';
import { constantValue, TYPE_FORMS } from '../cells/constant-value.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { SpillWriter } from '../spill/row-files.ts';

// Advice for a reference table that cannot be read. The messages of the readers recommend settings of the Template,
// which do not apply to reference tables.

const SAVE_AS_UTF8 = 'Save the table as UTF-8.';
const DOUBLE_QUOTES = 'Write each quote inside a quoted field twice.';

/** Parts of messages, and their replacements for tables. */
const ADVICE: readonly (readonly [part: string | RegExp, advice: string])[] = [
  [ENCODING_ADVICE, SAVE_AS_UTF8],
  [/write input\.csv\.encoding: \S+ into the Template\./, 'save the table as UTF-8.'],
  [ESCAPE_ADVICE, 'Save the table with quotes doubled inside quoted cells.'],
  [DIALECT_ADVICE, 'Write it with commas, its header in the first row.'],
  [/Declare it in the Template: input\.csv\.delimiter: .*/, 'Write the table with commas.'],
  [DRAWN_TABLE_ADVICE, 'Write the table with commas.'],
  [NUL_ADVICE, 'Remove the NUL bytes.'],
  [
    OPEN_QUOTE_ADVICE,
    'Close the quoted field. Quote each field that contains a quote, and write the quote inside it twice.',
  ],
  [RAGGED, `${RAGGED} Write one field for each column, and quote fields that contain the delimiter.`],
  [STRAY, `${STRAY} ${DOUBLE_QUOTES}`],
];

/** Replaces advice about the Template by advice about the table. */
function withTableAdvice(message: string): string {
  return ADVICE.reduce((text, [part, advice]) => text.replace(part, () => advice), message);
}

// The rows of one reference table as records (kernel/assembly/rows.ts) with text columns only: in memory while the
// budget allows, otherwise in a file of the Run that reads them.

export class TableRows implements SpillBytes {
  /** Unique names of the columns, in order. */
  readonly columns: readonly string[];
  readonly #budget: BudgetShare;
  /** null once the table is complete. */
  #spillTo: (() => SpillBytes) | null;
  readonly #chunks: Uint8Array[] = [];
  /** Position of each chunk's first byte. */
  readonly #starts: number[] = [];
  #file: SpillBytes | null = null;
  #sizeBytes = 0;
  rows = 0;

  /** @param spillTo creates the file to which all rows are moved if the budget refuses more memory */
  constructor(columns: readonly string[], budget: BudgetShare, spillTo: () => SpillBytes) {
    this.columns = columns;
    this.#budget = budget;
    this.#spillTo = spillTo;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** False if the rows are in a file of the Run that loaded them, so that they end with that Run. */
  get inMemory(): boolean {
    return this.#file === null;
  }

  /** Called after the last row. Drops the reference to the Run, because the table may outlive it. */
  complete(): void {
    this.#spillTo = null;
  }

  append(bytes: Uint8Array): void {
    if (this.#file === null && !this.#budget.take(bytes.length)) this.#moveToFile();
    if (this.#file === null) {
      this.#starts.push(this.#sizeBytes);
      this.#chunks.push(bytes.slice());
    } else this.#file.append(bytes);
    this.#sizeBytes += bytes.length;
  }

  /** Fills `target` from `position` on. Returns the number of bytes, which is smaller only at the end. */
  read(target: Uint8Array, position: number): number {
    if (this.#file !== null) return this.#file.read(target, position);
    let at = 0;
    for (let index = this.#chunkAt(position); index < this.#chunks.length && at < target.length; index++) {
      const from = position + at - this.#starts[index]!;
      const part = this.#chunks[index]!.subarray(from, from + target.length - at);
      target.set(part, at);
      at += part.length;
    }
    return at;
  }

  /** Releases the memory or the file. */
  drop(): void {
    this.#file?.drop();
    if (this.#file === null) this.#budget.release(this.#sizeBytes);
    this.#chunks.length = 0;
    this.#starts.length = 0;
    this.#sizeBytes = 0;
  }

  #moveToFile(): void {
    if (this.#spillTo === null) throw new Error('the table is complete');
    const file = this.#spillTo();
    for (const chunk of this.#chunks) file.append(chunk);
    this.#chunks.length = 0;
    this.#starts.length = 0;
    this.#budget.release(this.#sizeBytes);
    this.#file = file;
  }

  /** Returns the last chunk that starts at or before the position. */
  #chunkAt(position: number): number {
    let [low, high] = [0, this.#starts.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle]! <= position) low = middle;
      else high = middle;
    }
    return low;
  }
}

// Reads a reference table of the catalog with the reader for uploads: a CSV file with a header, all cells as text,
// empty cells as null. A table that cannot be read completely is refused, because reports do not count losses in
// tables. An error in the table is not an error of the upload: it ends the Run with TEMPLATE_CHECK_FAILED.

interface TableTools {
  readonly kernels: KernelPool;
  readonly budget: BudgetShare;
  readonly spill: SpillFolder;
  /** See LargeRowGate. */
  readonly largeRow: LargeRowAccess;
  /** Called at each batch. Yields to other Runs; throws Cancelled. */
  giveWay(): Promise<void>;
}

/** Only CSV, whatever formats uploads may have. */
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
    columns: null,
    comment: null,
    encoding: null,
    quote: null,
    escape: null,
    ragged: 'fail',
    strayQuotes: 'fail',
    nulBytes: 'fail',
    recordSeparator: null,
  },
  json: { records: null, flatten: null, nan: 'fail' },
  parquetBytes: 'text',
  archiveFile: null,
  archiveFiles: null,
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

/** A table of the catalog, its name in the Template, and the types that the Template declares. */
export interface NamedTable {
  readonly name: string;
  readonly table: TaskTable;
  readonly types: Readonly<Record<string, ColumnType>>;
}

/**
 * @throws Failed TEMPLATE_CHECK_FAILED, RUN_RESOURCE_LIMIT; Cancelled
 */
async function loadTable(named: NamedTable, tools: TableTools): Promise<TableRows> {
  try {
    return await loadOnce(named, tools, NOTHING_TRIED);
  } catch (error) {
    if (!(error instanceof LateQuote)) throw error;
    return await loadOnce(named, tools, { ...NOTHING_TRIED, quotesAfterSpace: true });
  }
}

async function loadOnce(
  { name, table, types }: NamedTable,
  tools: TableTools,
  encodingTries: EncodingTries,
): Promise<TableRows> {
  const kernel = tools.kernels.borrow();
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), tools.budget, 0);
  const source = new HashedSource(table.path);
  let rows: TableRows | null = null;
  let reader: RowReader | null = null;
  try {
    const arena = new Arena(heap);
    const settings = { input: TABLE_INPUT, overrides: { delimiter: null, headerRow: null }, expected: null };
    const file = { formats: TABLE_FORMATS, ending: '', inflatedBytesMax: null, encodingTries };
    const { largeRow, spill } = tools;
    reader = await runCoroutine(openRows(source, { ...settings, ...file, arena, kernel, largeRow, spill }));
    rows = new TableRows(headerNames(reader.head.headers), tools.budget, () => new SpillFile(tools.spill));
    await copyRows(reader, rows, { kernel, arena, checkCells: cellChecks(name, rows.columns, types) }, tools);
    if (source.digest() !== table.sha256) throw new Failed('TEMPLATE_CHECK_FAILED', changed(name));
    const loaded = rows;
    loaded.complete();
    rows = null;
    return loaded;
  } catch (error) {
    if (!(error instanceof Failed) || error instanceof LateQuote) throw error;
    if (error.failure.code === 'RUN_RESOURCE_LIMIT') throw error;
    if (error.failure.code === 'TEMPLATE_CHECK_FAILED') throw error;
    const reason = withTableAdvice(error.failure.message);
    throw new Failed('TEMPLATE_CHECK_FAILED', `The reference table ${JSON.stringify(name)} cannot be read: ${reason}`);
  } finally {
    rows?.drop();
    reader?.close();
    source.close();
    tools.kernels.release(kernel, heap.borrowedBytes);
  }
}

function changed(name: string): string {
  return `The reference table ${JSON.stringify(name)} has changed since the catalog was read. Start the Run again.`;
}

/** Returns a function that checks the cells of columns with a type. `first` is the number of rows before the batch. */
function cellChecks(
  name: string,
  columns: readonly string[],
  types: NamedTable['types'],
): (batch: Batch, first: number) => void {
  const table = `The reference table ${JSON.stringify(name)}`;
  const typed = Object.entries(types).map(([column, type]) => {
    const index = columns.indexOf(column);
    const message = `${table} has no column ${JSON.stringify(column)}, whose type the Template declares.`;
    if (index < 0) throw new Failed('TEMPLATE_CHECK_FAILED', message);
    return { column, type, index };
  });
  return (batch, first) => {
    for (const { column, type, index } of typed) {
      if (type === 'text') continue;
      const cells = { kind: 'views', at: batch.views(index) } as const;
      for (let position = 0; position < batch.live; position++) {
        const text = batch.text(cells, batch.physicalRow(position));
        if (!('problem' in constantValue(text, type))) continue;
        const message = `${table} has a cell that is not of type ${type}: column ${JSON.stringify(column)}, row ${first + position + 1} of the data. Write ${TYPE_FORMS[type]}.`;
        throw new Failed('TEMPLATE_CHECK_FAILED', message);
      }
    }
  };
}

interface CopyTools {
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly checkCells: ReturnType<typeof cellChecks>;
}

async function copyRows(
  reader: RowReader,
  rows: TableRows,
  { kernel, arena, checkCells }: CopyTools,
  tools: TableTools,
) {
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
    checkCells(batch, rows.rows);
    const orders = arena.take(batch.live * 8);
    for (let i = 0; i < batch.live; i++) arena.heap.f64[(orders >>> 3) + i] = rows.rows + i;
    writer.write(batch, { rows: batch.selection, count: batch.live, orders });
    rows.rows += batch.live;
    await tools.giveWay();
  }
  writer.flush();
}

/** A complete file, and the digest of the bytes read. */
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

// Cache of reference tables of one thread, by the SHA-256 of their files and the types of their columns, shared by its Runs and charged to the budget.
// Unused tables stay cached up to a limit. Tables that exceed the budget belong to the Run that loaded them.

/** Maximum size of unused tables in the cache. They take memory from other uses, but need not be read again. */
const IDLE_BYTES_MAX = 8 * 1024 * 1024;

/** The cells of a table are checked for the types once, so each combination of types has its own entry. */
function cacheKey({ table, types }: NamedTable): string {
  return Object.keys(types).length === 0 ? table.sha256 : `${table.sha256} ${JSON.stringify(types)}`;
}

/** Tables by their name in the Template. */
export type Tables = ReadonlyMap<string, TableRows>;

interface Entry {
  readonly rows: TableRows;
  users: number;
}

export class TableCache {
  /** Ordered by last use, least recent first. */
  readonly #entries = new Map<string, Entry>();

  /** Returns the table, reading it if necessary. The caller must call `release` with the same arguments. */
  async take(named: NamedTable, tools: TableTools): Promise<TableRows> {
    const key = cacheKey(named);
    const known = this.#entries.get(key);
    if (known !== undefined) return this.#use(key, known);
    const rows = await loadTable(named, tools);
    if (!rows.inMemory) return rows;
    // Another Run may have read the table in the meantime.
    const other = this.#entries.get(key);
    if (other === undefined) return this.#use(key, { rows, users: 0 });
    rows.drop();
    return this.#use(key, other);
  }

  release(named: NamedTable, rows: TableRows): void {
    const entry = this.#entries.get(cacheKey(named));
    if (entry?.rows === rows) {
      entry.users--;
      this.#dropIdle();
    } else rows.drop();
  }

  #use(key: string, entry: Entry): TableRows {
    entry.users++;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.rows;
  }

  #dropIdle(): void {
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    let bytes = idle.reduce((sum, [, { rows }]) => sum + rows.sizeBytes, 0);
    for (const [key, { rows }] of idle) {
      if (bytes <= IDLE_BYTES_MAX) return;
      bytes -= rows.sizeBytes;
      this.#entries.delete(key);
      rows.drop();
    }
  }
}

// The reference tables of one Run: acquired before its first row, released at its end.

/** Columns of each table, for planning. */
export type TableColumns = ReadonlyMap<string, readonly string[]>;

const NO_TABLES: Tables = new Map();
const NO_COLUMNS: TableColumns = new Map();

interface Taken {
  readonly named: NamedTable;
  readonly rows: TableRows;
}

export class RunTables {
  readonly #cache: TableCache;
  /** null until a table is acquired. Most Runs have no tables. */
  #taken: Map<string, Taken> | null = null;

  constructor(cache: TableCache) {
    this.#cache = cache;
  }

  /** Acquires the tables that the Template declares. Throws the same errors as `loadTable`. */
  async open(
    { tables }: Pick<Template, 'tables'>,
    catalog: Readonly<Record<string, TaskTable>>,
    tools: TableTools,
  ): Promise<void> {
    for (const [name, { ref, columns: types = {} }] of Object.entries(tables)) {
      const table = Object.hasOwn(catalog, ref) ? catalog[ref] : undefined;
      if (table === undefined) {
        const message = `There is no reference table ${JSON.stringify(ref)}, which the Template calls ${JSON.stringify(name)}.`;
        throw new Failed('TEMPLATE_CHECK_FAILED', message);
      }
      const named = { name, table, types };
      const rows = await this.#cache.take(named, tools);
      this.#taken ??= new Map();
      this.#taken.set(name, { named, rows });
    }
  }

  get tables(): Tables {
    if (this.#taken === null) return NO_TABLES;
    return new Map([...this.#taken].map(([name, { rows }]) => [name, rows]));
  }

  get columns(): TableColumns {
    if (this.#taken === null) return NO_COLUMNS;
    return new Map([...this.#taken].map(([name, { rows }]) => [name, rows.columns]));
  }

  /** SHA-256 of each table's file, for the report. */
  get digests(): Record<string, string> {
    return Object.fromEntries([...(this.#taken ?? [])].map(([name, { named }]) => [name, named.table.sha256]));
  }

  close(): void {
    if (this.#taken === null) return;
    for (const { named, rows } of this.#taken.values()) this.#cache.release(named, rows);
    this.#taken = null;
  }
}
