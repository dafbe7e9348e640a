// The names under which a Template calls encodings: WHATWG's labels, and two code pages of DOS.
import { TextDecoder } from 'node:util';
import { DOS_NAMES, SINGLE_BYTE_NAMES } from './single-byte-table.ts';

/** Stands in the place of a name for the most likely encoding. */
export const AUTO = 'auto';

/** As Python, iconv and others call them; by our names. */
const DOS_LABELS: Readonly<Record<string, string>> = { cp437: 'ibm437', cp850: 'ibm850', cp866: 'ibm866' };

/** Those of several bytes a character that the runtime has, and common labels that are not names. */
const OTHER_NAMES = [
  ...['utf-8', 'utf-16le', 'utf-16be', 'shift_jis', 'euc-jp', 'iso-2022-jp', 'gb18030', 'gbk', 'big5', 'euc-kr'],
  ...['utf8', 'utf-16', 'latin1', 'iso-8859-1', 'iso-8859-9', 'cp1252', 'us-ascii'],
];

/** For "Did you mean ...?". */
export const SUGGESTED_NAMES: readonly string[] = [...OTHER_NAMES, ...SINGLE_BYTE_NAMES, AUTO];

/** The name of the encoding of a label, in lower case; null for a label that is none. */
export function encodingName(label: string): string | null {
  const written = label.trim().toLowerCase();
  const name = DOS_LABELS[written] ?? written;
  if (DOS_NAMES.includes(name)) return name;
  try {
    return new TextDecoder(name, { fatal: true }).encoding;
  } catch {
    return null;
  }
}
