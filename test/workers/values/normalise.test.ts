// Texts in normal forms: equal to the runtime's own if no run of combining marks is long; otherwise cut by the counts of UAX 15,
// in linear time.

import { test } from 'tap';
import { MARK_RUN_MAX, type NormalForm, normalise } from '../../../workers/values/normalise.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

const FORMS: readonly NormalForm[] = ['NFC', 'NFD', 'NFKC', 'NFKD'];

/** All characters except surrogates. */
const CHARACTERS = Array.from({ length: 0x110000 }, (_, point) => point)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point));

/** Characters that combine with the previous character, by the runtime's own data. */
const JOINING = new Set(CHARACTERS.flatMap((character) => [...character.normalize('NFD')].slice(1)));

/** True if the combining class is not 0: 240 is the highest class, so that every other mark is sorted before it. */
const moves = (character: string): boolean =>
  character === '\u0345' || `\u0345${character}`.normalize('NFD') !== `\u0345${character.normalize('NFD')}`;

const isMark = (character: string): boolean => {
  const first = [...character.normalize('NFKD')][0]!;
  return /\p{M}/u.test(character) || JOINING.has(first) || moves(first);
};

const MARKS = new Set(CHARACTERS.filter(isMark));

/** The rule, applied character by character. */
function cutAndNormalise(text: string, form: NormalForm): string {
  const pieces = [''];
  let count = 0;
  for (const character of text) {
    const written = [...character.normalize('NFKD')];
    if (!MARKS.has(character)) count = written.length - 1 - written.findLastIndex((one) => !MARKS.has(one));
    else if (count + written.length > MARK_RUN_MAX) {
      pieces.push('');
      count = written.length;
    } else count += written.length;
    pieces.push(pieces.pop()! + character);
  }
  return pieces.map((piece) => piece.normalize(form)).join('');
}

test('each mark of Unicode is seen in a long run', async (t) => {
  t.ok(MARKS.size > 2_000 && MARKS.has('\u0301') && MARKS.has('\uff9e') && !MARKS.has('a'), `${MARKS.size} marks`);
  for (const mark of MARKS) {
    for (const form of FORMS) {
      const text = `a${`${mark}\u0316\u0301\u0334`.repeat(MARK_RUN_MAX / 2)}b`;
      if (normalise(text, form) !== cutAndNormalise(text, form)) t.fail(`${mark.codePointAt(0)!.toString(16)} ${form}`);
    }
  }
});

test('texts of marks, letters of all kinds and halves of pairs', async (t) => {
  const letters = ['a', 'ǖ', 'ᾂ', '\ufdfa', '각', '가', '\u1100', 'ㅋ', '\u{1d160}', '\u00a8', 'か', ' ', '\u{1f600}'];
  const marks = [
    '\u0301',
    '\u0316',
    '\u0344',
    '\u0f73',
    '\uff9e',
    '\u1161',
    '\u11a8',
    '\u{16d67}',
    '\u{16126}',
    '\u0327',
  ];
  const runs = fc.array(fc.constantFrom(...marks), { maxLength: 80 }).map((run) => run.join(''));
  const texts = fc.array(fc.tuple(fc.constantFrom(...letters, ''), runs)).map((parts) => parts.flat().join(''));
  fc.assert(
    fc.property(
      texts,
      fc.constantFrom(...FORMS),
      (text, form) => normalise(text, form) === cutAndNormalise(text, form),
    ),
    { numRuns: sweep({ short: 25, long: 500 }) },
  );
  const anything = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(anything, fc.constantFrom(...FORMS), (text, form) => normalise(text, form) === text.normalize(form)),
    { numRuns: sweep({ short: 25, long: 500 }) },
  );
  t.equal(normalise('\ud800\u0301\udc00', 'NFC'), '\ud800\u0301\udc00');
});

test('no text is changed that has no run of more than 30 marks, and nothing is lost from one that has', async (t) => {
  const marks = '\u0301\u0316'.repeat(15);
  t.equal(normalise(`a${marks}`, 'NFC'), `a${marks}`.normalize('NFC'));
  t.equal(normalise(`á${marks.slice(1)}`, 'NFC'), `á${marks.slice(1)}`.normalize('NFC'));
  t.equal(normalise(`a${marks}\u0327b`, 'NFD'), `a${'\u0316'.repeat(15)}${'\u0301'.repeat(15)}\u0327b`);
  t.equal(normalise(`á${marks}`, 'NFC'), normalise(`a\u0301${marks}`, 'NFC'), 'a letter counts with its accent');
  const long = `x${'\u0301\u0316'.repeat(1000)}`;
  for (const form of FORMS) t.same([...normalise(long, form)].toSorted(), [...long].toSorted());
});

test('long texts, in whatever pieces they are normalised', async (t) => {
  const alphabets = [
    ['a', '\u0301', 'か', '각', '\u1100', '\u1161'],
    ['\u{1f600}', '\u{1d165}', '\ufdfa'],
    ['\u0301', '\u0316'],
  ];
  let state = 7;
  for (const alphabet of alphabets) {
    let text = '';
    while (text.length < 60_000) {
      state = (state * 48_271) % 2_147_483_647;
      text += alphabet[state % alphabet.length]!;
    }
    for (const form of FORMS)
      t.ok(normalise(text, form) === cutAndNormalise(text, form), `${form} of ${alphabet.length}`);
  }
});
