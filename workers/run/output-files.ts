// One output that is split into the files of a ZIP archive, one for each combination of cells in `output.split_by`, and
// the names of these files. The rows are sorted by these cells first, so that only one file is written at a time.
import type { Batch } from '../batch/batch.ts';
import { type Column, finderIn, type Schema, storedTypes } from '../batch/schema.ts';
import { textOfValue } from '../execution/cells/value-cells.ts';
import { RowSorter } from '../execution/sort/row-sorter.ts';
import { SortKeys } from '../execution/sort/sort-keys.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Heap } from '../memory/heap.ts';
import type { PlannedOutput } from '../output/planned-output.ts';
import type { OutputSink } from '../output/sink/output-sink.ts';
import { Deflater, ZipFile } from '../output/sink/zip-file.ts';
import type { RowWriter, WriterTools } from '../output/writer.ts';
import { Failed } from '../protocol/failure.ts';
import { DONE, type Slices, type Steps } from '../scheduling/time-slices.ts';
import type { OperatorContext } from '../template/operation.ts';
import { normalise } from '../values/normalise.ts';

// Names of files that are safe on all usual systems: a cell cannot choose a folder, a device or a hidden file.

/** Maximum length of a name without its extension, in bytes. Systems allow 255 with the extension. */
const NAME_BYTES_MAX = 120;

/** Not allowed in names on Windows, or separators of folders, or invisible. */
const UNSAFE = /[<>:"/\\|?*\p{C}\p{Zl}\p{Zp}]/gu;

/** Names of devices on Windows, also with spaces or an extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?= *(?:\.|$))/i;

/** Name for rows without a value. */
const EMPTY_NAME = 'empty';

/** Converts a text to a name without folders: `A/B` to `A_B`. The name may not be unique. */
export function safeFileName(text: string): string {
  const safe = normalise(text, 'NFC').replace(UNSAFE, '_').trim().replace(/^\./, '_');
  const named = cutToBytes(safe, NAME_BYTES_MAX - 1).replace(/[. ]+$/, '') || EMPTY_NAME;
  // Tested after the cut, which may leave the name of a device and leaves a byte for the character in front.
  return DEVICE.test(named) ? `_${named}` : named;
}

function cutToBytes(text: string, bytesMax: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) break;
    kept += character;
  }
  return kept;
}

/** Gives each name once. Names that differ only by case are equal on some systems, so the later one gets a number. */
export class FileNames {
  readonly #extension: string;
  readonly #taken = new Set<string>();

  constructor(extension: string) {
    this.#extension = extension;
  }

  add(text: string): string {
    const name = safeFileName(text);
    for (let number = 1; ; number++) {
      const full = `${number === 1 ? name : `${name} (${number})`}.${this.#extension}`;
      const key = full.toLowerCase().toUpperCase();
      if (this.#taken.has(key)) continue;
      this.#taken.add(key);
      return full;
    }
  }
}

/** Fills the placeholders of `output.file_name`; without it, the values are joined. */
export function nameOfFile(pattern: string | null, names: readonly string[], values: readonly string[]): string {
  if (pattern === null) return values.join('-');
  return pattern.replace(/\{([^{}]*)\}/g, (whole, name) => {
    const index = names.indexOf(name);
    return index < 0 ? whole : values[index]!;
  });
}

// Writes the files.

/** Maximum number of files. The names are in memory, and folders with more files are slow to list. */
export const SPLIT_FILES_MAX = 1000;

/** Buffer of each file's writer. */
const BUFFER_BYTES = 65_536;

export interface OutputFilesSettings extends Omit<WriterTools, 'sink' | 'continues' | 'bufferBytes'> {
  /** The columns before those of the output are chosen. */
  readonly input: Schema;
  /** Index in `input` of each output column. */
  readonly columns: readonly number[];
  /** The columns whose cells choose the file. */
  readonly splitBy: readonly Column[];
  readonly fileName: string | null;
  readonly planned: PlannedOutput;
  readonly context: Pick<OperatorContext, 'arena' | 'clock' | 'kernel' | 'spill'>;
  /** Receives the archive. */
  readonly sink: OutputSink;
}

const ASCENDING = { descending: false, nullsFirst: false, compare: 'typed' } as const;

export class OutputFiles {
  readonly #settings: OutputFilesSettings;
  readonly #sorter: RowSorter;
  readonly #readers: readonly CellReader[];
  readonly #zip: ZipFile;
  readonly #names: FileNames;
  /** Sort key of the rows of the open file. */
  #key: Buffer | null = null;
  /** Writer of the open file. */
  #writer: RowWriter | null = null;
  /** Memory of the writer, by address with its size in bytes. The next file uses it again. */
  readonly #regions = new Map<number, number>();
  #files = 0;
  formulasGuarded = 0;

  constructor(settings: OutputFilesSettings) {
    const { input, splitBy, context, heap, kernel, sink, planned } = settings;
    this.#settings = settings;
    const indexOf = finderIn(input);
    const terms = splitBy.map((column) => ({ ...ASCENDING, index: indexOf(column), type: column.type }));
    this.#sorter = new RowSorter(context, storedTypes(input), new SortKeys(context, terms));
    this.#readers = splitBy.map((column) => new CellReader(column.type, indexOf(column)));
    this.#zip = new ZipFile(sink, new Deflater(heap, kernel));
    this.#names = new FileNames(planned.entryExtension);
  }

  *push(batch: Batch): Slices {
    yield* this.#sorter.editLong(batch);
    this.#sorter.add(batch);
  }

  /** Writes all files. Throws Failed. */
  *finish(): Steps {
    yield* this.#sorter.finish((batch) => this.#write(batch));
    yield* this.#endFile();
    this.#zip.finish();
  }

  /** @param batch sorted rows, whose first column is their sort key */
  *#write(batch: Batch): Slices {
    const rows = batch.withColumns(batch.columns.slice(1));
    for (const reader of this.#readers) reader.bind(rows);
    for (let from = 0; from < batch.live; ) {
      if (!this.#hasKey(batch, from)) {
        yield* this.#endFile();
        this.#beginFile(batch, from);
      }
      let to = from + 1;
      while (to < batch.live && this.#hasKey(batch, to)) to++;
      const columns = this.#settings.columns.map((index) => rows.columns[index]!);
      const file = rows.withColumns(columns).slice(from, to);
      yield* this.#noting((writer) => writer.push(file));
      from = to;
    }
  }

  #hasKey(batch: Batch, position: number): boolean {
    return this.#key?.equals(keyOf(batch, position)) === true;
  }

  #beginFile(batch: Batch, position: number): void {
    if (this.#files++ === SPLIT_FILES_MAX) throw new Failed('RUN_RESOURCE_LIMIT', TOO_MANY_FILES);
    const { splitBy, fileName, planned, heap, kernel, clock, meta } = this.#settings;
    this.#key = Buffer.from(keyOf(batch, position));
    const row = batch.physicalRow(position);
    const values = this.#readers.map((reader) => textOfValue(reader.read(row)) || EMPTY_NAME);
    const names = splitBy.map(({ name }) => name);
    this.#zip.begin(this.#names.add(nameOfFile(fileName, names, values)));
    const sink = entrySink(this.#zip);
    const tools = { heap, kernel, clock, sink, bufferBytes: BUFFER_BYTES, ...(meta === undefined ? {} : { meta }) };
    this.#heap.noteRegions(this.#regions);
    try {
      this.#writer = planned.createWriter(tools);
    } finally {
      this.#heap.noteRegions(null);
    }
  }

  *#endFile(): Slices {
    const writer = this.#writer;
    if (writer === null) return;
    yield* this.#noting(() => writer.endRows?.() ?? DONE);
    yield* this.#noting(() => {
      writer.finish();
      return DONE;
    });
    this.#writer = null;
    this.#zip.end();
    this.formulasGuarded += writer.formulasGuarded;
    for (const [at, bytes] of this.#regions) this.#heap.release(at, bytes);
    this.#regions.clear();
  }

  /** Notes the regions that the writer allocates. Nothing else in the Run works in its pauses. */
  *#noting(work: (writer: RowWriter) => Slices): Slices {
    this.#heap.noteRegions(this.#regions);
    try {
      yield* work(this.#writer!);
    } finally {
      this.#heap.noteRegions(null);
    }
  }

  get #heap(): Heap {
    return this.#settings.heap;
  }
}

const TOO_MANY_FILES = `The output has more than ${SPLIT_FILES_MAX} files. Split it by a column with fewer values (output.split_by).`;

function keyOf(batch: Batch, position: number): Uint8Array {
  const key = batch.columns[0]!;
  if (key.kind !== 'views') throw new Error('the first column of sorted rows is their key');
  const { u8, u32 } = batch.heap;
  const view = (key.at + batch.physicalRow(position) * VIEW_BYTES) >>> 2;
  return u8.subarray(u32[view]!, u32[view]! + u32[view + 1]!);
}

function entrySink(zip: ZipFile): OutputSink {
  let sizeBytes = 0;
  return {
    write(bytes) {
      zip.write(bytes);
      sizeBytes += bytes.length;
    },
    get sizeBytes() {
      return sizeBytes;
    },
  };
}
