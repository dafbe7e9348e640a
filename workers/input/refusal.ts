// Refuses files that no input format reads. The message names the type, which is detected from the content.
import { isUtf8 } from 'node:buffer';
import { Failed } from '../protocol/failure.ts';
import type { TemplateInput } from '../template/template.ts';
import { sampleText } from './detect/detect-form.ts';
import { AUTO } from './encoding/encoding.ts';
import type { FileStart } from './file-start.ts';

// Recognizes text in EBCDIC, the encoding of mainframes. No runtime decodes it, and each of its bytes is a letter or a
// sign in windows-1252, so that such a file would be one long header.

const LF = 0x0a;
/** With fewer bytes, the percentages below are not reliable. */
const BYTES_MIN = 16;

/** Percentages of the bytes: letters and digits at least, bytes that EBCDIC texts use at least, other ones at most. */
const LETTERS_MIN = 50;
const TEXT_MIN = 90;
const ASCII_MAX = 1;

/** First and last byte of digits and Latin letters. */
const LETTERS: readonly (readonly [first: number, last: number])[] = [
  [0x81, 0x89],
  [0x91, 0x99],
  [0xa2, 0xa9],
  [0xc1, 0xc9],
  [0xd1, 0xd9],
  [0xe2, 0xe9],
  [0xf0, 0xf9],
];

/** The space, punctuation, and the line ends. */
const SIGNS: readonly (readonly [first: number, last: number])[] = [
  [0x40, 0x40],
  [0x4b, 0x50],
  [0x5a, 0x61],
  [0x6b, 0x6f],
  [0x7a, 0x7f],
  [0x05, 0x05],
  [0x0d, 0x0d],
  [0x15, 0x15],
  [0x25, 0x25],
];

/** Spaces, digits and most signs of ASCII. EBCDIC uses only 0x25 of them in texts. */
const ASCII_FIRST = 0x20;
const ASCII_LAST = 0x3f;

/** @param head the first bytes of the file */
function isEbcdic(head: Uint8Array): boolean {
  if (head.length < BYTES_MIN || head.includes(LF)) return false;
  const counts = new Uint32Array(256);
  for (const byte of head) counts[byte]!++;
  const percent = (ranges: readonly (readonly [number, number])[]): number => {
    let bytes = 0;
    for (const [first, last] of ranges) for (let byte = first; byte <= last; byte++) bytes += counts[byte]!;
    return (bytes * 100) / head.length;
  };
  const letters = percent(LETTERS);
  const ascii = percent([[ASCII_FIRST, ASCII_LAST]]) - percent([[0x25, 0x25]]);
  const isLikely = letters >= LETTERS_MIN && letters + percent(SIGNS) >= TEXT_MIN && ascii <= ASCII_MAX;
  return isLikely && !beginsUtf8(head);
}

/** The most bytes of one character of UTF-8. The last character of the first bytes may be cut off. */
const CHARACTER_BYTES_MAX = 4;

/** A text in EBCDIC is never valid UTF-8, because the bytes of some letters can only continue a character in UTF-8. */
function beginsUtf8(head: Uint8Array): boolean {
  for (let cut = 0; cut < CHARACTER_BYTES_MAX; cut++) {
    if (isUtf8(head.subarray(0, head.length - cut))) return true;
  }
  return false;
}

// File types that no input format reads: their first bytes, the name for the refusal, and advice for the user. If a
// format begins to support a type, remove its line here.

interface KnownType {
  readonly name: string;
  /** Advice for people: what to send instead. */
  readonly advice: string;
}

interface Signature extends KnownType {
  readonly magic: readonly number[];
  /** Offset of the signature in the file, 0 by default. */
  readonly offset?: number;
  /** Additional condition, for a signature that a text could also begin with. */
  readonly isIt?: (head: Uint8Array) => boolean;
}

const SAVE = 'save it as CSV (UTF-8) and send that';
const UNPACK = 'unpack it and send the file inside, or compress that alone with gzip';
const EXPORT = 'export the table as CSV and send that';
const NO_TABLE = 'send the table itself as CSV';

const ascii = (text: string): readonly number[] => [...text].map((character) => character.charCodeAt(0));

/** Binary files contain NUL bytes, texts do not. */
const isBinary = (head: Uint8Array): boolean => head.includes(0);

/** An OLE2 file contains the names of its parts in UTF-16. */
const holdsPart = (name: string) => {
  const wanted = Buffer.from(name, 'utf16le');
  return (head: Uint8Array): boolean => Buffer.from(head.buffer, head.byteOffset, head.length).includes(wanted);
};

const OLE2 = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/** The first entry that matches decides. */
const SIGNATURES: readonly Signature[] = [
  { name: 'compressed twice', advice: 'compress it once', magic: [0x1f, 0x8b] },
  { name: 'compressed twice', advice: 'compress it once', magic: [0x28, 0xb5, 0x2f, 0xfd] },
  { name: 'an XLSX workbook or another ZIP file', advice: SAVE, magic: [0x50, 0x4b, 0x03, 0x04] },
  { name: 'an XLSX workbook or another ZIP file', advice: SAVE, magic: [0x50, 0x4b, 0x05, 0x06] },
  { name: 'a Parquet file', advice: EXPORT, magic: ascii('PAR1') },
  { name: 'an encrypted Parquet file', advice: EXPORT, magic: ascii('PARE') },
  {
    name: 'an encrypted workbook',
    advice: 'save it without a password and send that',
    magic: OLE2,
    isIt: holdsPart('EncryptedPackage'),
  },
  {
    name: 'an old Excel workbook (.xls)',
    advice: 'save it as .xlsx or CSV and send that',
    magic: OLE2,
    isIt: holdsPart('Workbook'),
  },
  { name: 'an old Word document (.doc)', advice: NO_TABLE, magic: OLE2, isIt: holdsPart('WordDocument') },
  { name: 'an OLE2 file (such as .xls)', advice: 'save it as .xlsx or CSV and send that', magic: OLE2 },
  { name: 'a PDF', advice: 'send the table that it was made of as CSV', magic: ascii('%PDF-') },
  { name: 'a PNG image', advice: NO_TABLE, magic: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { name: 'a JPEG image', advice: NO_TABLE, magic: [0xff, 0xd8, 0xff] },
  { name: 'a GIF image', advice: NO_TABLE, magic: ascii('GIF8'), isIt: isBinary },
  { name: 'a TIFF image', advice: NO_TABLE, magic: [0x49, 0x49, 0x2a, 0x00] },
  { name: 'a TIFF image', advice: NO_TABLE, magic: [0x4d, 0x4d, 0x00, 0x2a] },
  { name: 'a WebP image', advice: NO_TABLE, magic: ascii('WEBP'), offset: 8, isIt: isBinary },
  {
    name: 'a BMP image',
    advice: NO_TABLE,
    magic: ascii('BM'),
    isIt: (head) => isBinary(head.subarray(0, 16)) && head[14] === 40,
  },
  { name: 'an RTF document', advice: NO_TABLE, magic: ascii('{\\rtf') },
  {
    name: 'a bzip2 archive',
    advice: UNPACK,
    magic: ascii('BZh'),
    isIt: (head) => head[4] === 0x31 && head[5] === 0x41 && head[6] === 0x59,
  },
  { name: 'an xz archive', advice: UNPACK, magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00] },
  { name: 'an LZ4 archive', advice: UNPACK, magic: [0x04, 0x22, 0x4d, 0x18] },
  { name: 'a compress archive (.Z)', advice: UNPACK, magic: [0x1f, 0x9d] },
  { name: 'a 7z archive', advice: UNPACK, magic: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c] },
  { name: 'a RAR archive', advice: UNPACK, magic: [0x52, 0x61, 0x72, 0x21, 0x1a, 0x07] },
  { name: 'a tar archive', advice: UNPACK, magic: ascii('ustar'), offset: 257, isIt: isBinary },
  { name: 'an Avro file', advice: EXPORT, magic: [0x4f, 0x62, 0x6a, 0x01] },
  { name: 'an ORC file', advice: EXPORT, magic: ascii('ORC'), isIt: isBinary },
  { name: 'an Arrow file (Feather)', advice: EXPORT, magic: ascii('ARROW1'), isIt: isBinary },
  { name: 'an Arrow file (Feather)', advice: EXPORT, magic: ascii('FEA1'), isIt: isBinary },
  {
    name: 'an Arrow stream',
    advice: EXPORT,
    magic: [0xff, 0xff, 0xff, 0xff],
    isIt: (head) => head[7] === 0 && head[6] === 0,
  },
  { name: 'an HDF5 file', advice: EXPORT, magic: [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a] },
  { name: 'an SQLite database', advice: EXPORT, magic: [...ascii('SQLite format 3'), 0] },
  { name: 'an executable', advice: NO_TABLE, magic: [0x7f, 0x45, 0x4c, 0x46] },
  { name: 'an MP4 file', advice: NO_TABLE, magic: ascii('ftyp'), offset: 4, isIt: isBinary },
];

/** Returns the type of a file by its first bytes, or null if no signature matches. */
function knownTypeOf(head: Uint8Array): KnownType | null {
  return SIGNATURES.find((signature) => fits(head, signature)) ?? null;
}

const SPREADSHEET_ML = /urn:schemas-microsoft-com:office:spreadsheet|<\?mso-application\s+progid="Excel\.Sheet"/i;
const FLAT_ODF = /urn:oasis:names:tc:opendocument/i;

/** Returns the type of a markup text, or null for any other text. */
function knownMarkupOf(text: string): KnownType | null {
  if (/^\s*(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body|table)\b/i.test(text)) {
    return { name: 'an HTML page', advice: 'open it in a spreadsheet program, save it as .xlsx or CSV, and send that' };
  }
  if (!/^\s*<(?:!doctype|\?xml|\?mso-application|workbook)\b/i.test(text)) return null;
  if (SPREADSHEET_ML.test(text)) {
    return { name: 'an XML spreadsheet of 2003 (SpreadsheetML)', advice: 'save it as .xlsx or CSV and send that' };
  }
  return { name: FLAT_ODF.test(text) ? 'an OpenDocument file' : 'XML', advice: EXPORT };
}

function fits(head: Uint8Array, { magic, offset = 0, isIt }: Signature): boolean {
  for (let index = 0; index < magic.length; index++) if (head[offset + index] !== magic[index]) return false;
  return isIt === undefined || isIt(head);
}

// Refuses files that no input format reads. The message names the type, which is detected from the content only, not
// from the file name.

const SPACE = 0x20;
const DELETE = 0x7f;

const EBCDIC: KnownType = {
  name: 'text in EBCDIC, the encoding of mainframes',
  advice: 'convert it to UTF-8, for example with iconv -f IBM037 -t UTF-8, and send that',
};

/** A reference table can only be a CSV. */
const JSON_TYPE: KnownType = { name: 'JSON', advice: 'only CSV is read here' };

/** `[`, `{` and `<`. */
const OTHER_BEGINNINGS = [0x5b, 0x7b, 0x3c];

/** Returns Failed UNSUPPORTED_FILE_TYPE for a known type that no format reads, or null for a text that may be a table. */
export function refusalOf(start: FileStart, input: TemplateInput): Failed | null {
  const type = unreadableTypeOf(start, input);
  return type && new Failed('UNSUPPORTED_FILE_TYPE', `The file is ${type.name}; ${type.advice}.`);
}

/** Returns the known type of a file that is not a table of text, or null for a text that may be a table. */
export function unreadableTypeOf(start: FileStart, { csv, format }: TemplateInput): KnownType | null {
  const type = knownTypeOf(start.bytes);
  if (type !== null) return type;
  const isDeclared = typeof csv.encoding === 'string' && csv.encoding !== AUTO;
  if (!isDeclared && isEbcdic(start.bytes)) return EBCDIC;
  // Any text can be read as lines.
  if (format === 'lines') return null;
  const sample = start.text(csv.encoding);
  if (beginsAsTable(sample)) return null;
  const text = sampleText(sample);
  return looksLikeJson(text) ? JSON_TYPE : knownMarkupOf(text);
}

/**
 * True if the first character alone shows that a text is neither blank nor JSON nor markup, which is so for most files.
 */
export function beginsAsTable(text: Uint8Array): boolean {
  const first = text[0];
  return first !== undefined && first > SPACE && first < DELETE && !OTHER_BEGINNINGS.includes(first);
}

/**
 * True if a text begins as an array of objects, an object, or lines of objects. A CSV whose first header is in brackets
 * does not match: after the bracket, it has a name instead of `{`, `[`, `]`, `"` or `}`.
 */
function looksLikeJson(text: string): boolean {
  return /^\s*(?:\[\s*(?:[{[\]]|$)|\{\s*(?:"[^"]*"\s*:|\}|$))/.test(text);
}
