// From the stored bytes of an upload to a reader of its rows: compression, type, then the format does the rest.
import { Failed } from '../protocol/failure.ts';
import type { Coroutine } from '../thread/coroutine.ts';
import { chooseFormat, formatNamed } from './choose-format.ts';
import type { EncodingTries } from './encoding/encoding.ts';
import { FileStart, START_BYTES } from './file-start.ts';
import type { InputFormat, OpenSettings, PackedFile, WholeFileSettings } from './format.ts';
import type { FileHead, RowReader } from './reader.ts';
import { compressionOf, DECODER_BYTES } from './source/compression.ts';
import { InflatingSource } from './source/inflating-source.ts';
import { lookAhead } from './source/prefix-source.ts';
import type { ByteSource, WholeSource } from './source/source.ts';
import { wholeOf } from './source/whole-copy.ts';

export interface FileSettings extends WholeFileSettings {
  readonly formats: readonly InputFormat[];
  /** Of the file's name, see FileStart. */
  readonly ending: string;
  /** Asks for memory that a decoder holds outside of the Run's. Throws MemoryWanted, Failed. */
  readonly takeMemory?: (bytes: number) => void;
  /** What was learnt of the file when it was read before; see run.ts. */
  readonly encodingTries?: EncodingTries;
  /** Waits; what passes meanwhile is nobody's work. */
  readonly rest?: (wait: () => Promise<void>) => Promise<void>;
}

/** Waits for the first bytes, and for all of them where the format needs the whole file. Throws Failed, Cancelled. */
export function* openRows(stored: ByteSource, settings: FileSettings): Coroutine<RowReader> {
  const { formats, ending, readAhead } = settings;
  const { head, source, isCompressed } =
    plainContent(stored) ?? (yield* openContent(stored, settings.inflatedBytesMax, settings.takeMemory));
  if (head.length === 0) throw new Failed('MALFORMED_FILE', 'The file is empty.');
  const start = new FileStart(head, ending, settings.encodingTries);
  const format = chooseFormat(formats, start, settings.input);
  const whole = () => wholeOf(isCompressed ? source : stored, { ...settings, rest: settings.rest ?? waitOnly });
  if (!format.needsWholeFile) {
    if (!isCompressed) readAhead?.prepare(stored.rest?.() ?? null);
    return yield* format.open(source, start, openSettings(settings, whole));
  }
  const file = yield* whole();
  const packed = format.within === undefined ? null : yield* format.within(file, settings);
  return yield* packed === null ? format.open(file, start, settings) : openPacked(packed, settings);
}

/** A file in an archive. Another archive in it is none of its kind: a workbook is one, an envelope is not. */
function* openPacked(packed: PackedFile, settings: FileSettings): Coroutine<RowReader> {
  try {
    const { head, source } = yield* lookAhead(packed.source, START_BYTES);
    if (head.length === 0) throw new Failed('MALFORMED_FILE', 'The file in the archive is empty.');
    const start = new FileStart(head, packed.ending, settings.encodingTries);
    const format = chooseFormat(settings.formats, start, settings.input);
    const whole = () => wholeOf(source, { ...settings, rest: settings.rest ?? waitOnly });
    if (!format.needsWholeFile) return yield* format.open(source, start, openSettings(settings, whole));
    const file = yield* whole();
    const nested = format.within === undefined ? null : yield* format.within(file, settings);
    if (nested === null) return yield* format.open(file, start, settings);
    nested.source.close();
    throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is a ZIP archive in a ZIP archive; send the file by itself.');
  } catch (error) {
    packed.source.close();
    throw error;
  }
}

/** Field by field: the engine copies as many with `...` many times as slowly, and each small file would pay for it. */
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

/** What an upload holds, inflated where it was compressed. */
export interface Content {
  /** Its first START_BYTES. */
  readonly head: Uint8Array;
  /** From the first byte on. */
  readonly source: ByteSource;
  readonly isCompressed: boolean;
}

/** Of a small upload that is all there and was not compressed; null: of any other. */
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

/** A reader of one part of a file whose beginning was read, see SplittableInput. Throws Failed. */
export function resumeRows(source: ByteSource, head: FileHead, settings: FileSettings): Coroutine<RowReader> {
  const { splittable } = formatNamed(settings.formats, head.format);
  if (splittable === null) throw new Error('a part of a file that is not read in parts');
  settings.readAhead?.prepare(source.rest?.() ?? null);
  return splittable.resume(source, head, settings);
}

function waitOnly(wait: () => Promise<void>): Promise<void> {
  return wait();
}
