// The contract of input formats. A format says which files are its own and reads their rows; it knows nothing of uploads,
// compression, and what becomes of the rows. The table is in index.ts.
import type { SpillFolder } from '../execution/spill/spill-folder.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import type { Arena } from '../memory/arena.ts';
import type { LargeRowAccess } from '../memory/large-row.ts';
import type { Failed } from '../protocol/failure.ts';
import type { TaskOverrides } from '../protocol/messages.ts';
import type { Pauses } from '../run/slice-clock.ts';
import type { TemplateInput } from '../template/template.ts';
import type { Coroutine } from '../thread/coroutine.ts';
import type { ExpectedHeaders } from './expected-headers.ts';
import type { FileExplanation, SheetSize } from './explanation.ts';
import type { FileStart } from './file-start.ts';
import type { ReadAheadThread } from './read-ahead/read-ahead-thread.ts';
import type { FileHead, RowReader } from './reader.ts';
import type { ByteSource, WholeSource } from './source/source.ts';

/**
 * How sure a format is of a file: `signature`, it begins with bytes that nothing else begins with; `content`, it reads like
 * one; `possible`, nothing speaks against it.
 */
export type Sureness = 'signature' | 'content' | 'possible';

export interface Detection {
  readonly sureness: Sureness;
  /** Why a file that is this format's can surely not be read (encrypted, blank); it is thrown where no other format is surer. */
  readonly problem: Failed | null;
}

/** What a format is given beside the bytes. */
export interface OpenSettings {
  readonly input: TemplateInput;
  readonly overrides: TaskOverrides;
  /** The headers that the Template looks for; null = none known. */
  readonly expected: ExpectedHeaders | null;
  readonly arena: Arena;
  readonly kernel: Kernel;
  /** See LargeRowGate. */
  readonly largeRow: LargeRowAccess;
  /** The thread's, for large files. */
  readonly readAhead?: ReadAheadThread;
  /** Lets the thread do other things: called now and then in long work, when `clock` says that it is due. */
  readonly giveWay?: () => Promise<void>;
  readonly clock?: Pauses;
  /** All of the file, for a streamed format that finds at its beginning that it needs it; what it was given before is void. */
  readonly whole?: () => Coroutine<WholeSource>;
  /** Gets what speaks against the file as it was detected, in place of a throw. */
  readonly onDoubt?: (failed: Failed) => void;
  /** Gets why the file was read as it was detected; only for those who ask, as it takes as long again. */
  readonly onExplained?: (explanation: FileExplanation) => void;
  /** Gets all sheets of a workbook; only for those who ask, as it reads each of them to its end. */
  readonly onSheets?: (sheets: readonly SheetSize[]) => void;
}

/** What a format is given that reads a whole file: such a file may be an archive, and hold state that grows. */
export interface WholeFileSettings extends OpenSettings {
  /** Ceiling of what an archive inflates to, in bytes; null = the format's own. */
  readonly inflatedBytesMax: number | null;
  readonly spill: SpillFolder;
}

/** The one file that an archive holds. */
export interface PackedFile {
  readonly source: ByteSource;
  /** Of its name, see FileStart. */
  readonly ending: string;
}

interface AnyFormat {
  /** In FileHead.format. */
  readonly name: string;
  /** Of file names: settles which of two formats that are equally sure has the file. */
  readonly endings: readonly string[];
  /** Null: it is none of the format's files. Throws Failed where no format could read it. */
  detect(start: FileStart, input: TemplateInput): Detection | null;
  /** Null: its files are read from the first row to the last. */
  readonly splittable: SplittableInput | null;
}

/** A format that reads forwards, behind the upload as it comes. */
export interface StreamedFormat extends AnyFormat {
  readonly needsWholeFile: false;
  /** Reads up to the header, waiting for bytes. Throws Failed. */
  open(source: ByteSource, start: FileStart, settings: OpenSettings): Coroutine<RowReader>;
}

/** A format that reads at any place of the file: its work begins when the upload is complete. */
export interface WholeFileFormat extends AnyFormat {
  readonly needsWholeFile: true;
  /** Reads up to the header. Throws Failed. */
  open(source: WholeSource, start: FileStart, settings: WholeFileSettings): Coroutine<RowReader>;
  /** Of an archive that is the envelope of one file, that file: it is read by the format that its content chooses. Throws Failed. */
  within?(source: WholeSource, settings: WholeFileSettings): Coroutine<PackedFile | null>;
}

export type InputFormat = StreamedFormat | WholeFileFormat;

/** How a file that is not compressed is read in parts by several threads. */
export interface SplittableInput {
  /** Whether a file of this head is read so. */
  canSplit(head: FileHead): boolean;
  /** Offset in bytes from the middle of the file at which a record very likely begins; 0: none is near. */
  recordStart(bytes: Uint8Array, head: FileHead): number;
  /** A reader whose source begins at the first byte of a record: `head` is what `open` found at the beginning of the file. */
  resume(source: ByteSource, head: FileHead, settings: OpenSettings): Coroutine<RowReader>;
}
