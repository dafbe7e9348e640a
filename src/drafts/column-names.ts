// Derives column names from the headers of a file: snake case, unique, and never equal to a name by which another
// header of the file would be matched.

import { headerKey } from '../../workers/template/file-columns.ts';
import { normalise } from '../../workers/values/normalise.ts';

const LETTERS: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  ø: 'o',
  å: 'a',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
const SIGNS: Readonly<Record<string, string>> = {
  '€': ' eur ',
  $: ' usd ',
  '£': ' gbp ',
  '%': ' percent ',
  '#': ' number ',
  '&': ' and ',
};
const NAME_LENGTH_MAX = 60;

/**
 * @param headers unique headers by position (see headerNames)
 * @param wanted names required for some columns, by position
 */
export function columnNames(
  headers: readonly string[],
  wanted: ReadonlyMap<number, string> = new Map(),
): readonly string[] {
  const taken = new Set(wanted.values());
  const folded = headers.map((header) => headerKey(header, 'normal'));
  return headers.map((header, at) => {
    const given = wanted.get(at);
    if (given !== undefined) return given;
    const base = snakeCase(header) || `column_${at + 1}`;
    for (let number = 1; ; number++) {
      const name = number === 1 ? base : `${base}_${number}`;
      const isOfAnother = folded.some((other, index) => index !== at && other === name);
      if (taken.has(name) || isOfAnother) continue;
      taken.add(name);
      return name;
    }
  });
}

export function snakeCase(header: string): string {
  const spelt = [...normalise(header, 'NFC')].map((character) => {
    const lower = character.toLowerCase();
    const letters = LETTERS[lower];
    if (letters !== undefined)
      return character === lower ? letters : letters.charAt(0).toUpperCase() + letters.slice(1);
    return SIGNS[character] ?? character;
  });
  const plain = normalise(spelt.join(''), 'NFKD').replace(/\p{M}/gu, '');
  const words = plain
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const name = words.join('_').slice(0, NAME_LENGTH_MAX).replace(/_+$/, '');
  return /^\p{N}/u.test(name) ? `column_${name}` : name;
}

/** Words in a column name which show that its numbers are not amounts: identifiers, codes, list positions. */
const IDENTIFIER_WORDS = new Set(
  'id ids uid uuid guid zip plz postal postcode postleitzahl phone telephone telefon tel mobile mobil handy fax iban bic swift blz isbn issn ean gtin upc sku ssn dni nif cif cpf cnpj nr no num nummer number code key serial version ip ref reference cas lot batch hash account konto kontonummer'.split(
    ' ',
  ),
);

export function isIdentifierName(name: string): boolean {
  return name
    .split('_')
    .some(
      (word) =>
        IDENTIFIER_WORDS.has(word) ||
        (/(?:nummer|nr|plz|number|code|id)$/.test(word) &&
          word.length > 4 &&
          !/(?:paid|bid|grid|valid|solid|avoid|said)$/.test(word)),
    );
}

/** True if the name contains a word which indicates that a number counts seconds, or fractions of them, since 1970. */
export function isTimeName(name: string): boolean {
  return (
    isDateName(name) ||
    /(?:^|_)(?:time|timestamp|ts|epoch|unix|created|updated|modified|zeit|zeitstempel)(?:_|$)|(?:time|_at)$/i.test(name)
  );
}

/** True if the name contains a word which indicates that a plain number is a date. */
export function isDateName(name: string): boolean {
  return /(?:^|_)(?:date|datum|dato|fecha|data|day|tag|buchungstag|valuta|wertstellung)(?:_|$)|datum$|date$/.test(name);
}
