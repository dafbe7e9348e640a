// Orders of texts: the alphabets agree with ICU's on random words, long texts have the key of short ones, and lists
// come first.
import { test } from 'tap';
import {
  ALPHABET_NAMES,
  type AlphabetName,
  languageOrder,
  listOrder,
  type TextOrder,
} from '../../../../workers/execution/sort/text-orders.ts';
import { noise } from '../../../random.ts';

const LATIN = 'abcdefghijklmnopqrstuvwxyz';
const MORE = 'áàâäãåæçéèêëíîïñóòôöõøœßúùûüýÿăąćċďđėęěğģķĺļľłńņňőŕŗřśşšţťůűųźżžǽǿ';
const CYRILLIC = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя';

/** Letters of a language beyond those that all words have. */
const OWN: Readonly<Record<AlphabetName, string>> = {
  ...{ cs: 'čřšžůěch', da: 'æøåü', de: 'äöüß', 'de-phonebook': 'äöü', en: '', es: 'ñ', et: 'šžzõäöü', fi: 'åäöü' },
  ...{ fr: 'œç', hr: 'čćđšžj', hu: 'öőüűcsgyn', it: '', lt: 'čšž', lv: 'āčēģīķļņōŗšūž', nb: 'æøåü', nl: '' },
  ...{ pl: 'ąćęłńóśźż', pt: 'ãõç', ro: 'ăâîșț', ru: CYRILLIC, sk: 'äčôřšžch', sl: 'čšž', sv: 'åäöü', tr: 'çğıöşü' },
  uk: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
};

/** Letters of several characters, and what doubles them. */
const LONG: Partial<Record<AlphabetName, readonly string[]>> = {
  cs: ['ch'],
  da: ['aa'],
  hr: ['dž', 'lj', 'nj'],
  hu: 'cs ccs dz ddz dzs ddzs gy ggy ly lly ny nny sz ssz ty tty zs zzs'.split(' '),
  nb: ['aa'],
  sk: ['ch'],
};

/** ICU 78 has letters of these languages that older versions may sort with other letters. */
const HAS_NEW_LETTERS = Number.parseInt(process.versions.icu!, 10) >= 78;

/** Letters that are not compared. In Hungarian, ICU reads `cş` as cs with an accent. */
const WITHOUT: Partial<Record<AlphabetName, string>> = {
  hu: 'śşšźżžýÿ',
  ...(HAS_NEW_LETTERS ? {} : { lv: 'āēīōūyýÿ', sk: 'ř' }),
};

const WORDS = 2000;

function words(name: AlphabetName, below: (limit: number) => number): string[] {
  const isCyrillic = name === 'ru' || name === 'uk';
  const own = [...OWN[name], ...(LONG[name] ?? [])];
  const all = [...(isCyrillic ? '' : LATIN + MORE), ...own, ...own, ...own, ...own, ' ', '1', '2'];
  const letters = all.filter((letter) => !(WITHOUT[name] ?? '').includes(letter));
  return Array.from({ length: WORDS }, () => {
    return Array.from({ length: 1 + below(4) }, () => letters[below(letters.length)]).join('');
  });
}

function compareKeys(order: TextOrder, a: string, b: string): number {
  return Buffer.compare(Buffer.from(order.key(a)), Buffer.from(order.key(b)));
}

test('words with different letters sort as in ICU', async (t) => {
  for (const [stream, name] of ALPHABET_NAMES.entries()) {
    const order = languageOrder(name);
    const locale = name === 'de-phonebook' ? 'de-u-co-phonebk' : name;
    const { compare } = new Intl.Collator(locale, { sensitivity: 'base' });
    // In Danish and Norwegian, ICU reads an accent after `aa` as one of that letter.
    const list = words(name, noise(stream)).filter((word) => !/a[àáâãäåaăą]/.test(word.replaceAll('aa', '')));
    list.sort((a, b) => compareKeys(order, a, b));
    const wrong: string[] = [];
    for (let at = 1; at < list.length; at++) {
      if (compare(list[at - 1]!, list[at]!) > 0) wrong.push(`${list[at - 1]} ${list[at]}`);
    }
    t.strictSame(wrong.slice(0, 8), [], name);
  }
});

test('common words sort as in ICU', async (t) => {
  const lists: Partial<Record<AlphabetName, string>> = {
    da: 'Mortensen Muus Müller Møller Ødegaard Aagaard',
    et: 'sõna šokk zoo Źrebak žanr tere',
    fi: 'Mustonen Myllylä Müller Mäkinen Möttönen',
    hu: 'aszkéta asszony asztal eddz edző hegyek heggyel menj mennek mennyi',
    lv: 'roze ŗa sala',
    nb: 'Mortensen Muus Müller Møller Aagaard',
    sv: 'Mattsson Murray Müller Mårtensson Mört',
  };
  for (const [name, text] of Object.entries(lists) as [AlphabetName, string][]) {
    const order = languageOrder(name);
    const sorted = text.split(' ').sort((a, b) => compareKeys(order, a, b));
    t.strictSame(sorted, text.split(' ').sort(new Intl.Collator(name).compare), name);
  }
});

test('accents, then case, decide between equal letters', async (t) => {
  const order = languageOrder('fr');
  const list = ['cote', 'Cote', 'coté', 'côte', 'Côté', 'coter', 'cotes'];
  t.strictSame(
    list.toReversed().sort((a, b) => compareKeys(order, a, b)),
    ['cote', 'Cote', 'coté', 'côte', 'Côté', 'coter', 'cotes'],
  );
});

test('the first 1,000 units sort by the alphabet, and the rest by code points', async (t) => {
  const order = languageOrder('sv');
  const start = 'z'.repeat(999);
  const sorted = [`${start}o`, `${start}oa`, `${start}oå`, `${start}oä`, `${start}oö`, `${start}ö`, `${start}ö🙂`];
  t.strictSame(
    sorted.toReversed().sort((a, b) => compareKeys(order, a, b)),
    [sorted[0], sorted[1], sorted[3], sorted[2], ...sorted.slice(4)],
  );
  const key = order.key(`${start}🙂`);
  t.equal(Buffer.from(key).toString(), key, 'no character is cut');
});

test('the key of a long text can be made with a pause', async (t) => {
  const order = languageOrder('cs');
  const text = 'Žluť '.repeat(100_000);
  const slices = order.keyInSlices(text);
  t.equal(slices.next().done, false);
  t.ok(slices.next().value === order.key(text));
});

test('listed texts come first', async (t) => {
  const order = listOrder(['low', 'high', 'LOW']);
  const list = ['a', 'LOW', 'low', 'z', 'high'];
  t.strictSame(
    list.sort((a, b) => compareKeys(order, a, b)),
    ['low', 'high', 'LOW', 'a', 'z'],
  );
});
