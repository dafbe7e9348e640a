// Opens a reader for the rows of an upload: decompresses the bytes, chooses the format, and lets the format decide the
// rest.

import { Failed } from '../protocol/failure.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { headerKey } from '../template/file-columns.ts';
import type { TemplateInput } from '../template/template.ts';
import { HEADERS_BYTES_MAX } from './ceilings.ts';
import { FileStart, START_BYTES } from './file-start.ts';
import type {
  Detection,
  FileSettings,
  InputFormat,
  OpenSettings,
  PackedFile,
  StackedEntry,
  Sureness,
} from './format.ts';
import type { FileHead, RowReader } from './reader.ts';
import { refusalOf } from './refusal.ts';
import { compressionOf, DECODER_BYTES } from './source/compression.ts';
import { InflatingSource } from './source/inflating-source.ts';
import { lookAhead } from './source/prefix-source.ts';
import type { ByteSource, StoredSource, WholeSource } from './source/source.ts';
import { wholeOf } from './source/whole-copy.ts';
import { openStack, type StackedFile } from './stacked-reader.ts';

// Chooses the input format of a file: the format that is most certain, then the one that matches the file name
// extension, then the first in the table.

const RANKS: Readonly<Record<Sureness, number>> = { signature: 4, content: 2, possible: 0 };

/** Rank that a matching file name extension adds: it decides only between formats that are equally certain. */
const ENDING_RANK = 1;

/**
 * Throws Failed: UNSUPPORTED_FILE_TYPE if no format accepts the file, otherwise the problem that the chosen format
 * found.
 */
export function chooseFormat(formats: readonly InputFormat[], start: FileStart, input: TemplateInput): InputFormat {
  let chosen: InputFormat | null = null;
  let detected: Detection | null = null;
  let rank = -1;
  for (const format of formats) {
    const detection = format.detect(start, input);
    if (detection === null) continue;
    const itsRank = RANKS[detection.sureness] + (format.endings.includes(start.ending) ? ENDING_RANK : 0);
    if (itsRank <= rank) continue;
    rank = itsRank;
    chosen = format;
    detected = detection;
  }
  if (chosen === null || detected === null) {
    throw refusalOf(start, input) ?? new Error('no format accepts the file, and no reason is known');
  }
  if (detected.problem !== null) throw detected.problem;
  return chosen;
}

/** Returns the format that read the beginning of a file. */
export function formatNamed(formats: readonly InputFormat[], name: string): InputFormat {
  const format = formats.find((one) => one.name === name);
  if (format === undefined) throw new Error('a file whose format is not in the table');
  return format;
}

// Opens a reader for the rows of an upload: decompresses the bytes, chooses the format, and lets the format do the
// rest.

/** Waits for the first bytes, or for the whole file if the format needs it. Throws Failed, Cancelled. */
export function* openRows(stored: ByteSource, settings: FileSettings): Coroutine<RowReader> {
  const { fileName = null, ending, more = [] } = settings;
  if (more.length === 0) {
    const opened = yield* openFile(stored, settings);
    return 'next' in opened ? opened : yield* openStack(opened, settings);
  }
  const first: StackedFile = { name: fileName, ending, open: (own) => openFile(stored, own) };
  const others = more.map((file): StackedFile => {
    const { name, ending } = file;
    return { name, ending, open: (own) => openFile(file.source(), own) };
  });
  return yield* openStack([first, ...others], settings);
}

/** Returns the rows of a file, or the files of an archive that are read one after the other. */
function* openFile(stored: ByteSource, settings: FileSettings): Coroutine<RowReader | readonly StackedFile[]> {
  const { formats, ending, readAhead } = settings;
  const { head, source, isCompressed } =
    plainContent(stored) ?? (yield* openContent(stored, settings.inflatedBytesMax, settings.takeMemory));
  if (head.length === 0) throw new Failed('MALFORMED_FILE', 'The file is empty.');
  const start = new FileStart(head, ending, settings.encodingTries);
  const format = chooseFormat(formats, start, settings.input);
  const whole = () => wholeOf(isCompressed ? source : stored, { ...settings, rest: settings.rest ?? waitOnly });
  if (!format.needsWholeFile) {
    if (!isCompressed) readAhead?.prepare(stored.rest?.() ?? null);
    return checked(yield* format.open(source, start, openSettings(settings, whole)), settings.input);
  }
  const file = yield* whole();
  const packed = format.within === undefined ? null : yield* format.within(file, settings);
  if (packed === null) return checked(yield* format.open(file, start, settings), settings.input);
  if (!Array.isArray(packed)) return yield* openPacked(packed as PackedFile, settings);
  return packed.map(({ name, ending, open, close }: StackedEntry): StackedFile => {
    return { name, ending, open: (own) => openPacked({ source: open(), ending }, own), close };
  });
}

/** Opens the file inside an archive. It may be a workbook, but a second wrapper is refused. */
function* openPacked(packed: PackedFile, settings: FileSettings): Coroutine<RowReader> {
  try {
    const { head, source } = yield* lookAhead(packed.source, START_BYTES);
    if (head.length === 0) throw new Failed('MALFORMED_FILE', 'The file in the archive is empty.');
    const start = new FileStart(head, packed.ending, settings.encodingTries);
    const format = chooseFormat(settings.formats, start, settings.input);
    const whole = () => wholeOf(source, { ...settings, rest: settings.rest ?? waitOnly });
    if (!format.needsWholeFile)
      return checked(yield* format.open(source, start, openSettings(settings, whole)), settings.input);
    const file = yield* whole();
    const nested = format.within === undefined ? null : yield* format.within(file, settings);
    if (nested === null) return checked(yield* format.open(file, start, settings), settings.input);
    if (!Array.isArray(nested)) (nested as PackedFile).source.close();
    throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is a ZIP archive in a ZIP archive; send the file by itself.');
  } catch (error) {
    packed.source.close();
    throw error;
  }
}

/**
 * Returns the reader of a file whose column names are not too long and do not clash with `input.sheet_into`. Otherwise
 * closes it and throws Failed.
 */
function checked(reader: RowReader, input: FileSettings['input']): RowReader {
  const problem = areNamesTooLong(reader.head.headers)
    ? new Failed('MALFORMED_FILE', NAMES_TOO_LONG)
    : sheetNameClash(reader, input);
  if (problem === null) return reader;
  reader.close();
  throw problem;
}

/** The column for the name of the sheet must not be confused with a column of the file. */
function sheetNameClash({ head }: RowReader, { sheetInto, headerMatch }: FileSettings['input']): Failed | null {
  if (sheetInto === null) return null;
  // In a workbook, one header is always equal to the name: the one that was added for the name of the sheet.
  const level = head.hasSheetName === true ? 'exact' : headerMatch;
  const key = headerKey(sheetInto, level);
  const equal = head.headers.filter((header) => headerKey(header, level) === key).length;
  return equal > (head.hasSheetName === true ? 1 : 0)
    ? new Failed('TEMPLATE_COLUMNS_MISSING', SHEET_NAME_CLASH, { columns: [] })
    : null;
}

const SHEET_NAME_CLASH =
  'The file has a column with the name in input.sheet_into, the column for the name of the sheet. Write another name there.';

const NAMES_TOO_LONG = `The column names of the file have more than ${HEADERS_BYTES_MAX / 1024 / 1024} MiB together.`;

/** The most bytes that UTF-8 has for one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;

function areNamesTooLong(headers: readonly string[]): boolean {
  let units = 0;
  for (const header of headers) units += header.length;
  if (units * UNIT_BYTES_MAX <= HEADERS_BYTES_MAX) return false;
  if (units > HEADERS_BYTES_MAX) return true;
  let bytes = 0;
  for (const header of headers) bytes += Buffer.byteLength(header);
  return bytes > HEADERS_BYTES_MAX;
}

/**
 * The fields are copied one by one. V8 is many times slower if it copies so many fields with `...`, which would slow
 * down each small file.
 */
function openSettings(settings: FileSettings, whole: () => Coroutine<WholeSource>): OpenSettings {
  const copy: Readonly<Record<keyof OpenSettings, unknown>> & OpenSettings = {
    input: settings.input,
    overrides: settings.overrides,
    expected: settings.expected,
    arena: settings.arena,
    kernel: settings.kernel,
    largeRow: settings.largeRow,
    readAhead: settings.readAhead,
    giveWay: settings.giveWay,
    clock: settings.clock,
    whole,
    onDoubt: settings.onDoubt,
    onExplained: settings.onExplained,
    onSheets: settings.onSheets,
  };
  return copy;
}

/** Content of an upload, decompressed if necessary. */
export interface Content {
  /** The first START_BYTES bytes. */
  readonly head: Uint8Array;
  /** Starts at the first byte. */
  readonly source: ByteSource;
  readonly isCompressed: boolean;
}

/** Content of a small uncompressed upload that has arrived completely, or null for any other upload. */
function plainContent(stored: ByteSource): Content | null {
  const head = stored.whole?.(START_BYTES) ?? null;
  return head === null || compressionOf(head) !== null ? null : { head, source: stored, isCompressed: false };
}

/** Waits for the first bytes. Throws Failed, Cancelled. */
export function* openContent(
  stored: ByteSource,
  inflatedBytesMax: number | null,
  takeMemory: (bytes: number) => void = () => {},
): Coroutine<Content> {
  const { head, source } = yield* lookAhead(stored, START_BYTES);
  const compression = compressionOf(head);
  if (compression === null) return { head, source, isCompressed: false };
  takeMemory(DECODER_BYTES[compression]);
  const inflated = new InflatingSource(source, compression, inflatedBytesMax ?? Number.POSITIVE_INFINITY);
  return { ...(yield* lookAhead(inflated, START_BYTES)), isCompressed: true };
}

/** Opens a reader for one part of a file whose beginning has already been read, see SplittableInput. Throws Failed. */
export function resumeRows(source: StoredSource, head: FileHead, settings: FileSettings): Coroutine<RowReader> {
  const { splittable } = formatNamed(settings.formats, head.format);
  if (splittable === null) throw new Error('a part of a file that is not read in parts');
  settings.readAhead?.prepare(source.rest?.() ?? null);
  return splittable.resume(source, head, settings);
}

function waitOnly(wait: () => Promise<void>): Promise<void> {
  return wait();
}
