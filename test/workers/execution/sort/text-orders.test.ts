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
const MORE = 'áàâäãåæçéèêëíîïñóòôöõøœßúùûüýÿ';
const CYRILLIC = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя';

/** Letters of a language beyond those that all words have. */
const OWN: Readonly<Record<AlphabetName, string>> = {
  ...{ cs: 'čřšžůěch', da: 'æøå', de: 'äöüß', 'de-phonebook': 'äöü', en: '', es: 'ñ', et: 'šžõäöü', fi: 'åäö' },
  ...{ fr: 'œç', hr: 'čćđšžj', hu: 'öőüűcsgyn', it: '', lt: 'čšž', lv: 'čģķļņšž', nb: 'æøå', nl: '' },
  ...{ pl: 'ąćęłńóśźż', pt: 'ãõç', ro: 'ăâîșț', ru: CYRILLIC, sk: 'äčôšžch', sl: 'čšž', sv: 'åäö', tr: 'çğıöşü' },
  uk: 'абвгґдеєжзиіїйклмнопрстуфхцчшщьюя',
};

/** Letters that ICU sorts in ways that alphabets of these languages leave open. */
const WITHOUT: Partial<Record<AlphabetName, string>> = {
  ...{
    da: 'äöüåæøœ',
    nb: 'äöüåæøœ',
    sv: 'äöüåæøœ',
    fi: 'äöüåæøœõ',
    et: 'õ',
    lt: 'ýÿ',
    lv: 'ýÿ',
    'de-phonebook': 'äöüæœ',
  },
};

const WORDS = 400;

function words(name: AlphabetName, below: (limit: number) => number): string[] {
  const isCyrillic = name === 'ru' || name === 'uk';
  const others = [...(isCyrillic ? '' : LATIN + MORE)].filter((letter) => !(WITHOUT[name] ?? '').includes(letter));
  const letters = [...others, ...OWN[name].repeat(4), ' ', '1', '2'];
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
    const list = words(name, noise(stream));
    const wrong: string[] = [];
    for (let at = 1; at < list.length; at++) {
      const [a, b] = [list[at - 1]!, list[at]!];
      // In Danish and Norwegian, ICU reads an accent after `aa` as one of that letter.
      if (/a[àáâãäåa]/.test(a + b)) continue;
      const icu = compare(a, b);
      if (icu !== 0 && Math.sign(icu) !== compareKeys(order, a, b)) wrong.push(`${a} ${b}`);
    }
    t.strictSame(wrong.slice(0, 8), [], name);
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
