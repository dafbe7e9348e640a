// Decides what a ZIP archive contains: an office document, or a single wrapped file, which is then decompressed while
// it is read.
import { extname } from 'node:path';
import { Failed } from '../../protocol/failure.ts';
import { PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import { foldCase } from '../../values/text-edits.ts';
import type { PackedFile, StackedEntry } from '../format.ts';
import type { ByteSource, WholeSource } from '../source/source.ts';
import type { EntryReader } from './entry-reader.ts';
import { isTurn } from './limits.ts';
import type { ZipArchive } from './zip-archive.ts';

/** Every Office Open XML package contains one of these. */
const PACKAGE_PARTS = ['[Content_Types].xml', '_rels/.rels', 'xl/workbook.xml'];

/** Archives that one of their entries identifies, with their names. */
const KNOWN_ARCHIVES: readonly (readonly [entry: string, name: string])[] = [
  ['META-INF/manifest.xml', 'an OpenDocument file (such as .ods)'],
  ['Index/Document.iwa', 'an Apple iWork document (such as .numbers)'],
  ['META-INF/MANIFEST.MF', 'a Java archive'],
];

/** Files that operating systems add to archives. */
const NOISE = /^__macosx\/|(?:^|\/)(?:\.ds_store|thumbs\.db|desktop\.ini)$|\/$/;

/** Which files of an archive are read: one file, by its name or null for the only file, or all files that match. */
export interface WantedFiles {
  readonly file: string | null;
  readonly files: string | null;
}

/** Returns null for an office document. Throws Failed for unsupported archives. */
export function* packedFile(
  archive: ZipArchive,
  source: WholeSource,
  wanted: WantedFiles,
): Sliced<PackedFile | readonly StackedEntry[] | null> {
  if (PACKAGE_PARTS.some((part) => archive.has(part))) return null;
  const known = KNOWN_ARCHIVES.find(([entry]) => archive.has(entry));
  if (known !== undefined) throw unsupported(`The file is ${known[1]}; save it as XLSX or CSV.`);
  const files = [...archive.names].filter((name) => !NOISE.test(name));
  if (files.length === 0) throw new Failed('MALFORMED_FILE', 'The ZIP archive contains no file.');
  if (wanted.files !== null) {
    return yield* stackedFiles(archive, source, yield* matchingFiles(files, wanted.files));
  }
  const name = wanted.file === null ? onlyFile(files) : yield* matchingFile(files, wanted.file);
  return { source: new EntrySource(archive.open(name)!, source), ending: endingOf(name) };
}

/** Files in the order of their names, which often contain dates. */
function* stackedFiles(
  archive: ZipArchive,
  source: WholeSource,
  names: readonly string[],
): Sliced<readonly StackedEntry[]> {
  const ordered = names.toSorted();
  const stacked: StackedEntry[] = [];
  for (const [index, name] of ordered.entries()) {
    stacked.push({
      name: baseName(archive.nameOf(name)),
      ending: endingOf(name),
      open: () => new EntrySource(archive.open(name)!, null),
      close: () => {
        if (index === ordered.length - 1) source.close();
      },
    });
    if (isTurn(index)) yield PAUSE;
  }
  return stacked;
}

function endingOf(name: string): string {
  return extname(name).slice(1);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function onlyFile([name, ...others]: readonly string[]): string {
  if (others.length === 0) return name!;
  const advice =
    'send each file by itself, or name the file in the Template (input.archive_file: "orders.csv"), or all files to read one after the other (input.archive_files: "*.csv")';
  throw unsupported(`The file is a ZIP archive with several files; ${advice}.`);
}

function* matchingFile(files: readonly string[], wanted: string): Sliced<string> {
  const matching = yield* namesLike(files, wanted);
  if (matching.length === 1) return matching[0]!;
  const advice =
    matching.length === 0 ? '' : ` To read all of them, write input.archive_files: ${JSON.stringify(wanted)}.`;
  throw noMatch(matching, files, `${JSON.stringify(wanted)} (input.archive_file). Exactly one must match.${advice}`);
}

function* matchingFiles(files: readonly string[], wanted: string): Sliced<readonly string[]> {
  const matching = yield* namesLike(files, wanted);
  if (matching.length > 0) return matching;
  throw noMatch(matching, files, `${JSON.stringify(wanted)} (input.archive_files).`);
}

function noMatch(matching: readonly string[], files: readonly string[], wanted: string): Failed {
  const number = matching.length === 0 ? 'no file' : `${matching.length} files`;
  return unsupported(`The file is a ZIP archive in which ${number} of ${files.length} match ${wanted}`);
}

/** @param wanted a name of the Template, in which `*` is any text */
function* namesLike(files: readonly string[], wanted: string): Sliced<readonly string[]> {
  const parts = foldCase(wanted).split('*');
  const matching: string[] = [];
  for (const [index, name] of files.entries()) {
    if (matches(foldCase(baseName(name)), parts)) matching.push(name);
    if (isTurn(index)) yield PAUSE;
  }
  return matching;
}

/** True if the parts occur in this order: the first at the beginning, the last at the end. */
function matches(name: string, parts: readonly string[]): boolean {
  const [first, ...others] = parts as [string, ...string[]];
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

function unsupported(message: string): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', message);
}

class EntrySource implements ByteSource {
  readonly #entry: EntryReader;
  /** Closed together with the entry. Null: other entries follow. */
  readonly #archive: WholeSource | null;
  #piece: Uint8Array = new Uint8Array(0);
  ended = false;

  constructor(entry: EntryReader, archive: WholeSource | null) {
    this.#entry = entry;
    this.#archive = archive;
  }

  read(target: Uint8Array): number {
    while (this.#piece.length === 0 && !this.ended) {
      const piece = this.#entry.next();
      if (piece === 'wait') return 0;
      if (piece === 'end') this.ended = true;
      else this.#piece = piece;
    }
    const bytes = Math.min(this.#piece.length, target.length);
    target.set(this.#piece.subarray(0, bytes));
    this.#piece = this.#piece.subarray(bytes);
    return bytes;
  }

  wait(): Promise<void> {
    return this.#piece.length > 0 || this.ended ? Promise.resolve() : this.#entry.wait();
  }

  close(): void {
    this.#entry.close();
    this.#archive?.close();
  }
}
