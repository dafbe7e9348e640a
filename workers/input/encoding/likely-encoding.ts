// The encoding in which a text is most likely written. Each encoding that could be meant decodes the text; what comes out is
// weighed as a text of each language that is written in it (language-letters.ts): a letter costs the fewer bits the more
// often the language uses it, what cannot stand where it stands costs many. The cheapest reading is the likeliest; of
// equally cheap ones the first in the table. Whole numbers alone: the same text gives the same answer everywhere.
import { isUtf8 } from 'node:buffer';
import { DOUBLE_BYTE_READINGS } from './double-byte-readings.ts';
import { LANGUAGES, type Language } from './language-letters.ts';
import { charactersOf } from './single-byte-table.ts';
import { textCost } from './text-cost.ts';

interface Reading {
  readonly encoding: string;
  /** Bits; null: the text is not valid in it. */
  readonly cost: number | null;
}

const WEST = ['german', 'french', 'spanish', 'portuguese', 'italian', 'nordic', 'icelandic', 'dutch', 'catalan'];
const EAST = ['polish', 'czech', 'slovak', 'hungarian', 'romanian', 'croatian', 'german'];
const CYRILLIC = ['russian', 'ukrainian', 'bulgarian', 'serbian'];
const BALTIC = ['lithuanian', 'latvian', 'estonian'];

interface SingleByteReading {
  readonly encoding: string;
  /** Bits that stand for how seldom files are met in it: they settle what one or two letters leave open. */
  readonly rarity: number;
  readonly languages: readonly string[];
}

/** The first of equally likely ones is taken. */
const SINGLE_BYTE_READINGS: readonly SingleByteReading[] = [
  { encoding: 'windows-1252', rarity: 0, languages: WEST },
  { encoding: 'windows-1250', rarity: 2, languages: EAST },
  { encoding: 'windows-1251', rarity: 2, languages: CYRILLIC },
  { encoding: 'windows-1253', rarity: 2, languages: ['greek'] },
  { encoding: 'windows-1254', rarity: 2, languages: ['turkish'] },
  { encoding: 'windows-1257', rarity: 4, languages: BALTIC },
  { encoding: 'windows-1255', rarity: 3, languages: ['hebrew'] },
  { encoding: 'windows-1256', rarity: 3, languages: ['arabic'] },
  { encoding: 'windows-874', rarity: 3, languages: ['thai'] },
  { encoding: 'iso-8859-15', rarity: 3, languages: WEST },
  { encoding: 'iso-8859-2', rarity: 3, languages: EAST },
  { encoding: 'iso-8859-7', rarity: 3, languages: ['greek'] },
  { encoding: 'koi8-r', rarity: 3, languages: CYRILLIC },
  { encoding: 'koi8-u', rarity: 3, languages: CYRILLIC },
  { encoding: 'ibm866', rarity: 3, languages: CYRILLIC },
  { encoding: 'macintosh', rarity: 4, languages: WEST },
  { encoding: 'ibm850', rarity: 4, languages: WEST },
  { encoding: 'ibm437', rarity: 5, languages: WEST },
];

/**
 * Names of encodings, the likeliest first; none for a text that is ASCII.
 * @param lines see HighLines
 */
export function likelyEncodings(lines: Uint8Array): readonly string[] {
  if (lines.length === 0) return [];
  if (isUtf8(lines)) return ['utf-8'];
  const readings: Reading[] = [
    ...SINGLE_BYTE_READINGS.map((reading) => ({ encoding: reading.encoding, cost: singleByteCost(lines, reading) })),
    ...DOUBLE_BYTE_READINGS.map(({ encoding, cost }) => ({ encoding, cost: cost(lines) })),
  ];
  return readings
    .filter(({ cost }) => cost !== null)
    .sort((a, b) => a.cost! - b.cost!)
    .map(({ encoding }) => encoding);
}

function singleByteCost(lines: Uint8Array, { encoding, rarity, languages }: SingleByteReading): number | null {
  const characters = charactersOf(encoding);
  if (characters === null) return null;
  const text = new Uint16Array(lines.length);
  for (let at = 0; at < lines.length; at++) {
    const byte = lines[at]!;
    const character = byte < 0x80 ? byte : characters[byte - 0x80]!;
    if (character === 0) return null;
    text[at] = character;
  }
  return rarity + Math.min(...languages.map((name) => textCost(text, LANGUAGES[name] as Language)));
}
