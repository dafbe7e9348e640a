// What a reader of rows gives: the head of its file, and batches in the order of the file.
import type { Batch } from '../batch/batch.ts';
import type { RunReport } from '../run/report.ts';

/** What was found out about a file before its rows are read. */
export interface FileHead {
  /** Name of the InputFormat that reads it. */
  readonly format: string;
  /** For the report: csv, tsv, xlsx, json, ndjson. */
  readonly type: string;
  readonly encoding: string;
  readonly delimiter: string | null;
  readonly quote: string | null;
  /** Spaces between a delimiter and an opening quote were left out. */
  readonly quotesAfterSpace?: true;
  /** Lines were left out that begin with a comment's mark. */
  readonly hasComments?: true;
  /** Nothing separates fields, whatever the delimiter: the header holds none. */
  readonly oneColumn?: true;
  /** 0-based record of the header, null when there is none. */
  readonly headerRow: number | null;
  /** Lines of the header where there are several, of which `headerRow` is the last: their texts are joined. */
  readonly headerLines?: number;
  /** Header texts as they stand, by position. They never leave the engine. */
  readonly headers: readonly string[];
  /**
   * By position, whether cells of the column may have a native kind (ViewsColumn.kinds). Without it the file knows none:
   * all its columns are text and nothing else.
   */
  readonly hasKinds?: readonly boolean[];
  /** Those that stand above and below the table; none unless given. */
  readonly meta?: MetaValues;
}

/** Values around a table by the Template's names for them; null: the file has none. They never leave the engine. */
export type MetaValues = Readonly<Record<string, string | null>>;

/** As a spreadsheet program counts: both from 1. */
export interface SheetRow {
  readonly sheet: number;
  readonly row: number;
}

/** Rows of one file, in order. */
export interface RowReader {
  readonly head: FileHead;
  /**
   * The next batch of at most `rowsMax` rows: a Batch, 'wait' when bytes are missing (then await `wait`), 'end' at the
   * end of the file. Throws Failed. The batch before is void. `rowsMax` 0: reads on for syntax and row count alone,
   * making batches whose rows nobody looks at.
   *
   * Its columns are those of the head, in their order, each raw or views: the static type of a file's column is text.
   */
  next(rowsMax: number): Batch | 'wait' | 'end';
  wait(): Promise<void>;
  /**
   * Called once before the first batch with the places of the columns that are read: cells of others may be null. Without it,
   * or where it is not called, all are there.
   */
  useColumns?(fields: Iterable<number>): void;
  /** Data rows read so far. */
  readonly rowsRead: number;
  /** Where a data row, from 1, stands in a workbook; null where it is not known. Of other files the number tells it. */
  placeOf?(row: number): SheetRow | null;
  /** Adds what was met on the way (RAGGED_ROW, STRAY_QUOTE). */
  describe(report: RunReport): void;
  close(): void;
}
