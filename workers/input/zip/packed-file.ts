// Decides what a ZIP archive contains: an office document, or a single wrapped file, which is then decompressed while
// it is read.
import { extname } from 'node:path';
import { Failed } from '../../protocol/failure.ts';
import type { PackedFile } from '../format.ts';
import type { ByteSource, WholeSource } from '../source/source.ts';
import type { EntryReader } from './entry-reader.ts';
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

/** Returns null for an office document. Throws Failed for unsupported archives. */
export function packedFile(archive: ZipArchive, source: WholeSource): PackedFile | null {
  if (PACKAGE_PARTS.some((part) => archive.has(part))) return null;
  const known = KNOWN_ARCHIVES.find(([entry]) => archive.has(entry));
  if (known !== undefined) throw unsupported(`The file is ${known[1]}; save it as XLSX or CSV.`);
  const files = [...archive.names].filter((name) => !NOISE.test(name));
  if (files.length === 0) throw new Failed('MALFORMED_FILE', 'The ZIP archive contains no file.');
  if (files.length > 1) throw unsupported('The file is a ZIP archive with several files; send each file by itself.');
  const entry = archive.open(files[0]!)!;
  return { source: new EntrySource(entry, source), ending: extname(files[0]!).slice(1) };
}

function unsupported(message: string): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', message);
}

class EntrySource implements ByteSource {
  readonly #entry: EntryReader;
  readonly #archive: WholeSource;
  #piece: Uint8Array = new Uint8Array(0);
  ended = false;

  constructor(entry: EntryReader, archive: WholeSource) {
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
    this.#archive.close();
  }
}
