// Reads the rows of a Parquet file: row groups in sequence, and within a row group the pages of all used columns in
// parallel. A batch ends where the first of the current pages ends.
import { BATCH_ROWS_MAX, Batch, type ViewsColumn } from '../../batch/batch.ts';
import { KIND_JSON, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { Failed } from '../../protocol/failure.ts';
import type { RunReport } from '../../protocol/report.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import type { WholeFileSettings } from '../format.ts';
import type { FileHead, RowReader } from '../reader.ts';
import type { StoredSource, WholeSource } from '../source/source.ts';
import { Footer, type RowGroup } from './footer.ts';
import { LeafPages, type PageTools } from './leaf-pages.ts';
import { BATCH_CELLS_MAX, BATCH_JSON_BYTES, malformedParquet } from './limits.ts';
import { InflatedBytes, PageRegion } from './page-memory.ts';
import { isFlat, type UsedColumns, useColumns } from './parquet-columns.ts';
import { hasKind } from './value-form.ts';
import { placeBooleanTexts } from './value-readers.ts';

export const PARQUET = 'parquet';

export class ParquetReader implements RowReader {
  readonly head: FileHead;
  rowsRead = 0;
  readonly #settings: WholeFileSettings;
  readonly #parted: Pick<StoredSource, 'part'> | null;
  /** The first row group after the part, and the offset at which the last row group began. */
  #nextOfFile: RowGroup | null = null;
  #groupStart = 0;
  readonly #source: WholeSource;
  readonly #footer: Footer;
  readonly #tools: PageTools;
  readonly #rowBytes = new Float64Array(BATCH_ROWS_MAX);
  /** A view and a kind per row, for unused columns. */
  readonly #nulls: ViewsColumn;
  /** The first column with one value per row, whose values give the number of rows; -1 without such a column. */
  readonly #lead: number;
  #used: UsedColumns | null = null;
  #wanted: ReadonlySet<number>;
  /** Number of rows left in the row group. */
  #rowsLeft = 0;
  #isAtEnd = false;
  /** The row group whose rows are being counted by page headers: its remaining pages and the rows so far. */
  #counted: { readonly group: RowGroup; readonly pages: LeafPages; rows: number } | null = null;

  /**
   * Throws Failed.
   * @param parted set if only parts of the file are read
   */
  constructor(source: WholeSource, settings: WholeFileSettings, parted: Pick<StoredSource, 'part'> | null = null) {
    this.#source = source;
    this.#parted = parted;
    this.#settings = settings;
    const { heap } = settings.arena;
    this.#footer = new Footer(source, heap);
    const { columns } = this.#footer;
    this.#tools = {
      source,
      heap,
      kernel: settings.kernel.exports,
      stored: new PageRegion(heap, 'page'),
      inflated: new InflatedBytes(settings.inflatedBytesMax, parted),
      booleans: placeBooleanTexts(heap),
    };
    const nulls = heap.allocate(BATCH_ROWS_MAX * (VIEW_BYTES + 1));
    heap.u8.fill(0, nulls, nulls + BATCH_ROWS_MAX * (VIEW_BYTES + 1));
    this.#nulls = { kind: 'views', at: nulls, kinds: nulls + BATCH_ROWS_MAX * VIEW_BYTES };
    this.#lead = columns.findIndex(isFlat);
    this.#wanted = new Set(columns.keys());
    this.head = {
      format: PARQUET,
      type: PARQUET,
      encoding: 'utf-8',
      delimiter: null,
      quote: null,
      headerRow: null,
      headers: columns.map(({ name }) => name),
      hasKinds: columns.map(hasKind),
      rowGroups: this.#footer.groups,
    };
  }

  /** At least one column is read, because it gives the number of rows. */
  useColumns(fields: Iterable<number>): void {
    this.#wanted = new Set(fields);
    if (this.#wanted.size === 0) this.#wanted = new Set([Math.max(0, this.#lead)]);
  }

  next(rowsMax: number): Batch | 'wait' | 'end' {
    if (this.#isAtEnd) return 'end';
    // A Run over parts that needs no more rows has failed, and the file is read again as a whole.
    if (rowsMax === 0) return this.#parted === null ? this.#countRows() : 'end';
    this.#used ??= this.#use();
    while (this.#rowsLeft === 0) {
      const found = this.#nextGroup();
      if (found === 'end') return 'end';
      // A file may have millions of row groups without rows, so the loop must yield.
      if (this.#settings.clock?.isDue()) return 'wait';
    }
    const { flat, nested } = this.#used;
    let rows = Math.min(rowsMax, BATCH_ROWS_MAX, this.#rowsLeft);
    rows = Math.min(rows, Math.max(1, Math.floor(BATCH_CELLS_MAX / (flat.size + nested.size))));
    for (const [place, column] of flat) {
      if (column.rowsLeft === 0) {
        if (!column.load()) throw otherRows(place, `${this.#rowsLeft} rows fewer than`, column.pages.position);
        // Loading a page is a unit of work.
        if (this.#settings.clock?.isDue()) return 'wait';
      }
      rows = Math.min(rows, column.rowsLeft);
    }
    const batch = this.#batch(rows);
    this.#rowsLeft -= batch.rows;
    this.rowsRead += batch.rows;
    if (this.#rowsLeft === 0) this.#endGroup();
    return batch;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  describe(_report: RunReport): void {}

  close(): void {
    this.#source.close();
  }

  #use(): UsedColumns {
    const { arena, input } = this.#settings;
    const { columns, start } = this.#footer;
    const tools = {
      pages: this.#tools,
      arena,
      nullValues: input.nullValues,
      bytesAs: input.parquetBytes,
      position: start,
    };
    return useColumns(columns, this.#wanted, tools);
  }

  /** Called after the end of a part. */
  resume(): void {
    this.#isAtEnd = false;
  }

  #nextGroup(): 'found' | 'skipped' | 'end' {
    const { leaves, nested } = this.#used!;
    const group = this.#nextOfFile ?? this.#footer.nextGroup((leaf) => leaves.has(leaf));
    const place = group === null || this.#parted === null ? 'inside' : this.#placeOf(group);
    this.#nextOfFile = place === 'after' ? group : null;
    this.#isAtEnd = group === null || place === 'after';
    if (group === null || place === 'after') return 'end';
    if (place === 'before') return 'skipped';
    for (const [number, pages] of leaves) {
      const chunk = group.chunks[number] ?? null;
      if (chunk === null) throw this.#lacksLeaf(group, number);
      pages.open(chunk);
    }
    for (const column of nested.values()) for (const leaf of column.leaves) leaf.reset();
    this.#rowsLeft = group.rows;
    if (group.rows === 0) this.#endGroup();
    return 'found';
  }

  /** Throws Failed if the row groups are not in the order of the file, so that it cannot be read in parts. */
  #placeOf({ chunks }: RowGroup): 'before' | 'inside' | 'after' {
    const { from = 0, to = Number.POSITIVE_INFINITY } = this.#parted?.part ?? {};
    const starts = chunks.flatMap((chunk) => (chunk === null || chunk.values === 0 ? [] : chunk.start));
    const start = starts.length === 0 ? this.#groupStart : Math.min(...starts);
    if (start < this.#groupStart) throw new Failed('RUN_RESOURCE_LIMIT', 'The row groups are not in order.');
    this.#groupStart = start;
    if (start >= to) return 'after';
    return start < from ? 'before' : 'inside';
  }

  /** Fails if a column has values after the last row, because the metadata is then wrong. */
  #endGroup(): void {
    const { flat, nested } = this.#used!;
    for (const [place, column] of flat) {
      if (column.rowsLeft > 0 || column.load()) throw otherRows(place, 'more rows than', column.pages.position);
    }
    for (const [place, column] of nested) {
      if (column.hasMore()) throw otherRows(place, 'more rows than', column.leaves[0]!.pages.position);
    }
  }

  #batch(most: number): Batch {
    const { arena } = this.#settings;
    const { flat } = this.#used!;
    const rowBytes = this.#rowBytes.fill(0, 0, most);
    const nested = this.#readNested(most);
    const rows = nested.rows;
    const columns = this.head.headers.map((_, place): ViewsColumn => {
      return flat.get(place)?.read(rows, rowBytes) ?? nested.columns.get(place) ?? this.#nulls;
    });
    for (let row = 0; row < rows; row++) {
      if (rowBytes[row]! > ROW_BYTES_MAX)
        throw new Failed('MALFORMED_FILE', `Row ${this.rowsRead + row + 1} has more than ${ROW_BYTES_MAX} bytes.`);
    }
    const selection = arena.take(rows * 4);
    for (let row = 0; row < rows; row++) arena.heap.u32[(selection >>> 2) + row] = row;
    return this.#made(rows, selection, columns);
  }

  /** Reads the rows of all nested columns. Returns fewer rows if their texts are long. */
  #readNested(most: number): { readonly rows: number; readonly columns: ReadonlyMap<number, ViewsColumn> } {
    const { arena } = this.#settings;
    const { nested } = this.#used!;
    if (nested.size === 0) return { rows: most, columns: new Map() };
    const columns = new Map(
      [...nested.keys()].map((place) => {
        const at = arena.take(most * VIEW_BYTES);
        const kinds = arena.take(most);
        arena.heap.u8.fill(KIND_JSON, kinds, kinds + most);
        return [place, { kind: 'views', at, kinds } as const] as const;
      }),
    );
    let rows = 0;
    for (let bytes = 0; rows < most && bytes < BATCH_JSON_BYTES; rows++) {
      // A row may span many pages.
      if (rows > 0 && this.#settings.clock?.isDue()) break;
      for (const [place, column] of nested) {
        const text = column.readRow();
        const length = text === null ? 0 : arena.write(text);
        const view = (columns.get(place)!.at + rows * VIEW_BYTES) >>> 2;
        arena.heap.u32[view] = text === null ? 0 : arena.next - length;
        arena.heap.u32[view + 1] = length;
        this.#rowBytes[rows] = this.#rowBytes[rows]! + length;
        bytes += length;
      }
    }
    return { rows, columns };
  }

  /** Counts the rows of the next row group by the page headers of one column, without reading cells. */
  #countRows(): Batch | 'wait' | 'end' {
    let rows = this.#rowsLeft;
    if (rows === 0) {
      const lead = this.#lead < 0 ? -1 : this.#footer.columns[this.#lead]!.leaves[0];
      const group = this.#counted?.group ?? this.#footer.nextGroup((leaf) => leaf === lead);
      this.#isAtEnd = group === null;
      if (group === null) return 'end';
      if (lead >= 0 && !this.#hasCounted(group, lead)) return 'wait';
      rows = group.rows;
    }
    this.#rowsLeft = 0;
    this.rowsRead += rows;
    return this.#made(0, 0, this.#nullColumns());
  }

  /** Returns false if it is time to yield; the caller must then call it again. */
  #hasCounted(group: RowGroup, lead: number): boolean {
    const chunk = group.chunks[lead] ?? null;
    if (chunk === null) throw this.#lacksLeaf(group, lead);
    if (this.#counted === null) {
      const pages = new LeafPages(this.#tools, this.#footer.columns[this.#lead]!);
      pages.open(chunk);
      this.#counted = { group, pages, rows: 0 };
    }
    const counted = this.#counted;
    while (!counted.pages.isPassed) {
      counted.rows += counted.pages.pass();
      if (!counted.pages.isPassed && this.#settings.clock?.isDue()) return false;
    }
    const { rows } = counted;
    this.#counted = null;
    if (rows !== group.rows) throw otherRows(this.#lead, `${rows} rows instead of the ${group.rows} of`, chunk.start);
    return true;
  }

  #lacksLeaf({ number }: RowGroup, leaf: number): Failed {
    return malformedParquet(`row group ${number} lacks its stored column ${leaf + 1}`, this.#footer.start);
  }

  #nullColumns(): ViewsColumn[] {
    return this.head.headers.map(() => this.#nulls);
  }

  #made(rows: number, selection: number, columns: readonly ViewsColumn[]): Batch {
    return new Batch({
      arena: this.#settings.arena,
      rows,
      selection,
      live: rows,
      columns,
      raw: null,
      sourceRows: { first: this.rowsRead + 1 },
      materialise: () => {
        throw new Error('a Parquet file has no raw columns');
      },
    });
  }
}

/** @param place position of the column, from 0 */
function otherRows(place: number, found: string, position: number): Failed {
  return malformedParquet(`column ${place + 1} has ${found} its row group`, position);
}
