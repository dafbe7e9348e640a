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
import { PIECE_UNITS } from '../../../../workers/values/text-edits.ts';
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

test('long texts have the key of their words', async (t) => {
  const order = languageOrder('cs');
  for (const word of ['chléb ', 'Žluť', '𝒳']) {
    const text = word.repeat((PIECE_UNITS * 2.5) / word.length);
    const slices = order.keyInSlices(text);
    let step = slices.next();
    let pauses = 0;
    for (; step.done !== true; step = slices.next()) pauses++;
    t.ok(step.value === order.key(text), word);
    t.equal(pauses, 3, 'a pause after each piece');
  }
});

test('listed texts come first', async (t) => {
  const order = listOrder(['low', 'high', 'LOW']);
  const list = ['a', 'LOW', 'low', 'z', 'high'];
  t.strictSame(
    list.sort((a, b) => compareKeys(order, a, b)),
    ['low', 'high', 'LOW', 'a', 'z'],
  );
});
