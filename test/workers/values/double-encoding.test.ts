// Texts whose UTF-8 was read as windows-1252 become the texts that they were.
import { test } from 'tap';
import { repairEncoding, repairEncodingInSlices } from '../../../workers/values/double-encoding.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

/** Characters of windows-1252 at 0x80 to 0x9F. TextDecoder gives control characters in some versions of Node. */
const HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

function misread(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return bytes.replaceAll(/[\x80-\x9f]/g, (character) => HIGH[character.charCodeAt(0) - 0x80]!);
}

/** Characters that misread texts may contain. */
const PLAUSIBLE = [
  ...between(0x20, 0x7e),
  ...between(0xa0, 0x17f),
  ...between(0x370, 0x52f),
  ...between(0x5d0, 0x5ea),
  ...between(0x621, 0x64a),
  ...'…’“”–™中文ー한กिক😀𝒳',
];

/** Letters and signs that are leads of UTF-8, except Ã and Â, which end few words. */
const LEADS = between(0xc4, 0xf4);

const FOLLOWERS = [...'€…’‘“”™›‹•–—†\u00a0®©«»°²³'];

function between(first: number, last: number): string[] {
  return Array.from({ length: last + 1 - first }, (_, index) => String.fromCodePoint(first + index));
}

test('a text that was misread up to three times is repaired', async (t) => {
  const text = fc.array(fc.constantFrom(...PLAUSIBLE), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 3 }), (characters, times) => {
      // é is evidence, and not a sequence itself.
      const given = `${characters.join('')} é`;
      let broken = given;
      for (let round = 0; round < times; round++) broken = misread(broken);
      return repairEncoding(broken) === given;
    }),
    { numRuns: sweep({ short: 300, long: 10_000 }) },
  );
  t.pass();
});

test('a misread letter is repaired after a small letter, and next to another one', async (t) => {
  for (const letter of [...between(0xa0, 0x17f), ...between(0x370, 0x52f)]) {
    t.equal(repairEncoding(misread(`a${letter}`)), `a${letter}`);
    t.equal(repairEncoding(misread(letter + letter)), letter + letter);
  }
  const texts = [
    'It’s',
    '5 €',
    'Café',
    'äöü',
    'привет',
    'на',
    'من',
    'mają',
    'příteli',
    'À la carte',
    '5 °C',
    '…',
    '😀',
  ];
  for (const text of texts) t.equal(repairEncoding(misread(text)), text);
});

test('correct words stay as they are before punctuation', async (t) => {
  for (const lead of LEADS) {
    // Nobody writes this, and it is how all quotation marks and dashes begin.
    const followers = lead === 'â' ? FOLLOWERS.filter((follower) => follower !== '€') : FOLLOWERS;
    for (const first of followers) {
      for (const rest of ['', ' ', 'S', '.', ...FOLLOWERS, '”…', '…”»']) {
        const text = `WORD${lead}${first}${rest}`;
        if (repairEncoding(text) !== text) t.fail(`${text} becomes ${repairEncoding(text)}`);
      }
    }
  }
  const texts = [
    'BEYONCÉ’S',
    'CLICHÉ…',
    'CAFÉ®',
    'SPAß“',
    'COTÉ»',
    'Ä€',
    'PREIß€',
    'OÙ\u00a0?',
    'voilà\u00a0»',
    'café…”',
  ];
  for (const text of [...texts, 'PERÚ… PIÙ…', '2×\u00a05 cm', 'Ø½', 'Ø±0,1']) {
    t.equal(repairEncoding(text), text);
    t.equal(repairEncoding(misread(text)), text, 'and is not repaired too often');
  }
});

test('a word that may end in Ã or Â is no evidence before punctuation', async (t) => {
  for (const lead of 'ÃÂ') {
    for (const sign of '…‘’“”‹›«»–—\u00a0') {
      for (const rest of ['', ' ', ' DE', '.', '!', '1']) {
        const text = `IRM${lead}${sign}${rest}`;
        t.equal(repairEncoding(text), text);
      }
    }
  }
  t.equal(repairEncoding('IRMÃ\u00a0MARIA'), 'IRMÃ\u00a0MARIA');
  t.equal(repairEncoding('LÃ\u00a0100%'), 'LÃ\u00a0100%');
  const misreadTexts = [
    'KÖLN',
    'CITTÀ',
    'CAFÉ',
    'FAÇADE',
    'São',
    'AÇÃO',
    'Ångström',
    '« PARIS »',
    'à la carte',
    '£5',

    'Vàlid',
    '5 Å',
  ];
  for (const text of misreadTexts) t.equal(repairEncoding(misread(text)), text);
});

test('letters that texts do not contain are no evidence', async (t) => {
  for (const text of ['SPAßŸ', 'ÉŒUVRE', 'ÌŠ', 'Ößœ']) t.equal(repairEncoding(text), text);
});

test('any text stays as it is if a character cannot be of a misread text', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (given) => repairEncoding(`${given}中`) === `${given}中`),
    { numRuns: sweep({ short: 300, long: 10_000 }) },
  );
  t.pass();
});

test('the work on long texts can pause', async (t) => {
  const text = 'Käse, '.repeat(20_000);
  const work = repairEncodingInSlices(misread(text));
  let step = work.next();
  let pauses = 0;
  for (; step.done !== true; step = work.next()) pauses++;
  t.ok(step.value === text);
  t.ok(pauses > 5, `${pauses} pauses`);
});
