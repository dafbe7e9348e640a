// File types that no format here reads, told by their first bytes, with the name that a refusal uses and what to do about
// it. A format that takes one of them over takes its line out.

export interface KnownType {
  readonly name: string;
  /** What to send instead. */
  readonly advice: string;
}

interface Signature extends KnownType {
  readonly magic: readonly number[];
  /** Where it stands; the start of the file unless given. */
  readonly offset?: number;
  /** What else must hold, where a text could begin so. */
  readonly isIt?: (head: Uint8Array) => boolean;
}

const SAVE = 'save it as CSV (UTF-8) and send that';
const UNPACK = 'unpack it and send the file inside, or compress that alone with gzip';
const EXPORT = 'export the table as CSV and send that';
const NO_TABLE = 'send the table itself as CSV';

const ascii = (text: string): readonly number[] => [...text].map((character) => character.charCodeAt(0));

/** Binary files hold NULs, and texts hold none. */
const isBinary = (head: Uint8Array): boolean => head.includes(0);

/** An OLE2 file names its parts in UTF-16. */
const holdsPart = (name: string) => {
  const wanted = Buffer.from(name, 'utf16le');
  return (head: Uint8Array): boolean => Buffer.from(head.buffer, head.byteOffset, head.length).includes(wanted);
};

const OLE2 = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/** The first that fits. */
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

/** Of the beginning of a file; null: none of these. */
export function knownTypeOf(head: Uint8Array): KnownType | null {
  return SIGNATURES.find((signature) => fits(head, signature)) ?? null;
}

const SPREADSHEET_ML = /urn:schemas-microsoft-com:office:spreadsheet|<\?mso-application\s+progid="Excel\.Sheet"/i;
const FLAT_ODF = /urn:oasis:names:tc:opendocument/i;

/** Of a text that is markup; null: it is none. */
export function knownMarkupOf(text: string): KnownType | null {
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
