// The interface of row readers: the head of a file, then batches of rows in file order.
import type { Batch } from '../batch/batch.ts';
import type { RunReport } from '../protocol/report.ts';
import type { RaggedRow } from './csv/selected-rows.ts';

/** Properties of a file that were found before its rows are read. */
export interface FileHead {
  /** Name of the InputFormat that reads it. */
  readonly format: string;
  /** Type for the report: csv, tsv, xlsx, json, ndjson. */
  readonly type: string;
  readonly encoding: string;
  /** Set if the encoding was guessed: what the non-ASCII bytes are in it. */
  readonly encodingGuess?: string;
  readonly delimiter: string | null;
  readonly quote: string | null;
  /** Spaces between a delimiter and an opening quote were removed. */
  readonly quotesAfterSpace?: true;
  /** The file has backslash escapes. */
  readonly escape?: '\\';
  /** Text that ends a record, if that is not a line break. */
  readonly recordSeparator?: string;
  /**
   * The readers receive different bytes than the file has: without comments, escapes, spaces before quotes, or NUL
   * bytes.
   */
  readonly isRewritten?: true;
  /** No separator splits the fields, whatever `delimiter` says: the header does not contain one. */
  readonly oneColumn?: true;
  /** 0-based record number of the header, or null without a header. */
  readonly headerRow: number | null;
  /** Number of header lines if there are several, of which `headerRow` is the last. Their texts are joined. */
  readonly headerLines?: number;
  /** Header texts as written in the file, by position. They never leave the engine. */
  readonly headers: readonly string[];
  /** The last header is that of the column for the name of the sheet (input.sheet_into). */
  readonly hasSheetName?: true;
  /**
   * For each column, whether its cells may have a native kind (ViewsColumn.kinds). Without it, the format has no kinds
   * and every column is text.
   */
  readonly hasKinds?: readonly boolean[];
  /**
   * For each column of a JSON file that can be read in parts, its keys from the record on. They never leave the engine.
   */
  readonly keys?: readonly (readonly string[])[];
  /** Number of row groups of a Parquet file. */
  readonly rowGroups?: number;
  /** Values found above and below the table, if any. */
  readonly meta?: MetaValues;
}

/** Values around a table by their names in the Template; null if not found. They never leave the engine. */
export type MetaValues = Readonly<Record<string, string | null>>;

/** A row as a spreadsheet program counts: sheet and row from 1. */
export interface SheetRow {
  readonly sheet: number;
  readonly row: number;
}

/** One of several files that are read one after the other, and the number of a row in it, from 1. */
export interface PlacedFile {
  /** Position in the order of reading, from 1. */
  readonly number: number;
  /** Name without folders. It never leaves the engine, except in the output and in messages for the owner. */
  readonly name: string | null;
  readonly meta: MetaValues;
  readonly row: number;
}

/** Rows of one file, in file order. */
export interface RowReader {
  readonly head: FileHead;
  /**
   * Returns the next batch of at most `rowsMax` rows; 'wait' if bytes are missing (then await `wait`); 'end' at the end
   * of the file. Throws Failed. Invalidates the previous batch. With `rowsMax` 0, it only checks the syntax and counts
   * the rows; nobody uses the content of such batches.
   *
   * The columns are those of the head, in order, each raw or views: the static type of a file's column is text.
   */
  next(rowsMax: number): Batch | 'wait' | 'end';
  wait(): Promise<void>;
  /**
   * Called once before the first batch with the positions of the columns that are used. Cells of other columns may be
   * null. Without this call, all columns are read.
   */
  useColumns?(fields: Iterable<number>): void;
  /**
   * Rows of the last batch that the Template rejects because of their number of fields. Omitted if there are no such
   * rows.
   */
  readonly raggedRows?: readonly RaggedRow[];
  /** True if no row follows the last batch in the source. If absent, this is not known before `next` returns 'end'. */
  readonly isAtEnd?: boolean;
  /** Data rows read so far. */
  readonly rowsRead: number;
  /**
   * Position of a data row (numbered from 1) in a workbook, or null if unknown. In other formats, the number of the row
   * is enough.
   */
  placeOf?(row: number): SheetRow | null;
  /** The file of a data row, if several files are read one after the other. */
  fileOf?(row: number): PlacedFile | null;
  /**
   * Called after 'end': the source continues with the first record of another part. Only for formats that can be split
   * (InputFormat.splittable).
   */
  resume?(): void;
  /** Adds the warnings that were counted while reading (RAGGED_ROW, STRAY_QUOTE). */
  describe(report: RunReport): void;
  close(): void;
}
