// The contract of input formats. A format decides which files it accepts and reads their rows. It knows nothing about
// uploads, compression or the use of the rows. The table of formats is in index.ts.

import type { Kernel } from '../kernel/bindings/kernel.ts';
import type { Arena } from '../memory/arena.ts';
import type { LargeRowAccess } from '../memory/large-row.ts';
import type { SpillFolder } from '../memory/spill-file.ts';
import type { Failed } from '../protocol/failure.ts';
import type { TaskOverrides } from '../protocol/messages.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import type { Pauses } from '../scheduling/time-slices.ts';
import type { TemplateInput } from '../template/template.ts';
import type { EncodingTries } from './encoding/encoding.ts';
import type { ExpectedHeaders } from './expected-headers.ts';
import type { FileExplanation, SheetSize } from './explanation.ts';
import type { FileStart } from './file-start.ts';
import type { ReadAheadThread } from './read-ahead/read-ahead-thread.ts';
import type { FileHead, RowReader } from './reader.ts';
import type { ByteSource, StoredSource, WholeSource } from './source/source.ts';

/**
 * Certainty of a format that it can read a file. `signature`: the file begins with bytes that only this format has.
 * `content`: the content has the form of this format. `possible`: nothing contradicts it.
 */
export type Sureness = 'signature' | 'content' | 'possible';

export interface Detection {
  readonly sureness: Sureness;
  /**
   * The reason why a file of this format cannot be read (encrypted, blank). Thrown if no other format is more certain.
   */
  readonly problem: Failed | null;
}

/** Settings that a format receives in addition to the bytes. */
export interface OpenSettings {
  readonly input: TemplateInput;
  readonly overrides: TaskOverrides;
  /** The headers that the Template looks for, or null if unknown. */
  readonly expected: ExpectedHeaders | null;
  readonly arena: Arena;
  readonly kernel: Kernel;
  /** See LargeRowGate. */
  readonly largeRow: LargeRowAccess;
  /** Read-ahead thread of this worker thread, for large files. */
  readonly readAhead?: ReadAheadThread;
  /** Yields the thread to other work. Called from time to time in long work, whenever `clock` says that it is due. */
  readonly giveWay?: () => Promise<void>;
  readonly clock?: Pauses;
  /**
   * Returns the whole file. For a streamed format that discovers at the beginning that it needs the whole file. The
   * previous source is then void.
   */
  readonly whole?: () => Coroutine<WholeSource>;
  /** Receives objections to the detected form, instead of a throw. */
  readonly onDoubt?: (failed: Failed) => void;
  /**
   * Receives the reasons for the detected form. Set only if the caller needs them: finding them doubles the work of
   * detection.
   */
  readonly onExplained?: (explanation: FileExplanation) => void;
  /** Receives all sheets of a workbook. Set only if the caller needs them: each sheet is read to its end. */
  readonly onSheets?: (sheets: readonly SheetSize[]) => void;
}

/**
 * Settings of a format that reads whole files. Such a file may be an archive, and its reader may hold growing state.
 */
export interface WholeFileSettings extends OpenSettings {
  /** Maximum decompressed size of an archive in bytes, or null for the format's own limit. */
  readonly inflatedBytesMax: number | null;
  readonly spill: SpillFolder;
}

/** The file in an archive that is read. */
export interface PackedFile {
  readonly source: ByteSource;
  /** Extension of its name, see FileStart. */
  readonly ending: string;
}

/** One of several files in an archive that are read one after the other. */
export interface StackedEntry {
  /** Name without folders. */
  readonly name: string;
  readonly ending: string;
  /** Throws Failed. */
  open(): ByteSource;
  /** Closes the archive after its last file. */
  close(): void;
}

interface AnyFormat {
  /** Recorded in FileHead.format. */
  readonly name: string;
  /** File name extensions. They decide between two formats that are equally certain. */
  readonly endings: readonly string[];
  /** Returns null if the file is not of this format. Throws Failed if no format could read the file. */
  detect(start: FileStart, input: TemplateInput): Detection | null;
  /** null if files must be read sequentially from the first row to the last. */
  readonly splittable: SplittableInput | null;
}

/** A format that reads sequentially, while the upload still arrives. */
export interface StreamedFormat extends AnyFormat {
  readonly needsWholeFile: false;
  /** Reads up to and including the header, waiting for bytes. Throws Failed. */
  open(source: ByteSource, start: FileStart, settings: OpenSettings): Coroutine<RowReader>;
}

/** A format with random access to the file. Its work begins when the upload is complete. */
export interface WholeFileFormat extends AnyFormat {
  readonly needsWholeFile: true;
  /** Reads up to and including the header. Throws Failed. */
  open(source: WholeSource, start: FileStart, settings: WholeFileSettings): Coroutine<RowReader>;
  /**
   * Returns the file of an archive, or the files that are read one after the other, or null for a file that is no
   * archive. The format of these files is chosen by their content. Throws Failed.
   */
  within?(source: WholeSource, settings: WholeFileSettings): Coroutine<PackedFile | readonly StackedEntry[] | null>;
}

export type InputFormat = StreamedFormat | WholeFileFormat;

/** Reads an uncompressed file in parts, by several threads. */
export interface SplittableInput {
  /** True if a file with this head can be read in parts. */
  canSplit(head: FileHead): boolean;
  /** True if `open` reads the first part, because it begins with the header. */
  readonly opensFirst?: true;
  /**
   * Offset in bytes of a probable record start, in bytes from the middle of a file; 0 if there is no such place. Without
   * this method, `resume` finds the records of a part itself (StoredSource.part).
   */
  recordStart?(bytes: Uint8Array, head: FileHead): number;
  /** Maximum size of the output of one part that is kept in memory until it is the turn of the part. */
  readonly outputBytesMax: number;
  /**
   * Opens a reader for one part. `head` is what `open` found at the beginning of the file. With `recordStart`, the source
   * begins at the first byte of a record and ends with the part.
   */
  resume(source: StoredSource, head: FileHead, settings: WholeFileSettings): Coroutine<RowReader>;
}

/**
 * Eight times the size of a part. If the output of one part is larger, or if the memory budget refuses it, the Run is
 * processed as a whole, which needs less memory.
 */
export const PART_OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

// Settings for opening a file, from which the settings of its format are made.

export interface FileSettings extends WholeFileSettings {
  readonly formats: readonly InputFormat[];
  /** File name extension, see FileStart. */
  readonly ending: string;
  /** Reserves memory that a decoder allocates outside the Run's memory. Throws MemoryWanted, Failed. */
  readonly takeMemory?: (bytes: number) => void;
  /** Facts that an earlier attempt learnt about the file, see run.ts. */
  readonly encodingTries?: EncodingTries;
  /** Name of the file without folders, if it is known. See PlacedFile. */
  readonly fileName?: string | null;
  /** Files whose rows follow those of the first file. */
  readonly more?: readonly MoreFile[];
  /** True if values above and below the tables (PlacedFile.meta) must be the same in all files. */
  readonly needsOneMeta?: boolean;
  /** Waits. Time spent waiting does not count as work of the Run. */
  readonly rest?: (wait: () => Promise<void>) => Promise<void>;
}

/** A further file with its bytes. */
export interface MoreFile {
  readonly name: string | null;
  readonly ending: string;
  source(): ByteSource;
}
