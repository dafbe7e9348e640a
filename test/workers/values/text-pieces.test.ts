// Edits of long texts piece by piece give the same result as the same edits of the whole text.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'tap';
import { redacted, redactedInSlices } from '../../../workers/operations/redact.ts';
import { unescapeHtml, unescapeHtmlInSlices } from '../../../workers/values/html.ts';
import { normalise, normaliseInSlices } from '../../../workers/values/normalise.ts';
import type { PersonalKind } from '../../../workers/values/personal-data.ts';
import * as edits from '../../../workers/values/text-edits.ts';
import {
  done,
  PIECE_UNITS,
  removeInvisibles,
  removeInvisiblesInSlices,
  type TextWork,
  withoutInvisibles,
  withoutInvisiblesInSlices,
} from '../../../workers/values/text-edits.ts';
import { noise, seed } from '../../random.ts';

const isKept = (character: string): boolean => character !== 'a' && character !== '😀';
/** Pauses between two looks at the memory. */
const PAUSES_PASSED = 10;
const PERSONAL: readonly PersonalKind[] = ['email', 'iban', 'card', 'phone'];

const EDITS: Readonly<Record<string, readonly [(text: string) => string, (text: string) => TextWork]>> = {
  title: [edits.titleCase, edits.titleCaseInSlices],
  sentence: [edits.sentenceCase, edits.sentenceCaseInSlices],
  strip_accents: [edits.stripAccents, edits.stripAccentsInSlices],
  nfc: [(text) => normalise(text, 'NFC'), (text) => normaliseInSlices(text, 'NFC')],
  nfkc: [(text) => normalise(text, 'NFKC'), (text) => normaliseInSlices(text, 'NFKC')],
  unescape_html: [unescapeHtml, unescapeHtmlInSlices],
  upper: [edits.upperCase, edits.upperCaseInSlices],
  lower: [edits.lowerCase, edits.lowerCaseInSlices],
  fold: [edits.foldCase, edits.foldCaseInSlices],
  collapse_spaces: [edits.collapseWhiteSpace, edits.collapseWhiteSpaceInSlices],
  remove_control: [edits.removeControls, edits.removeControlsInSlices],
  remove_invisible: [removeInvisibles, removeInvisiblesInSlices],
  invisible: [withoutInvisibles, withoutInvisiblesInSlices],
  straighten_quotes: [edits.straightenQuotes, edits.straightenQuotesInSlices],
  letters_only: [edits.lettersOnly, edits.lettersOnlyInSlices],
  filter: [(text) => edits.filterCharacters(text, isKept), (text) => edits.filterCharactersInSlices(text, isKept)],
  ...Object.fromEntries(
    PERSONAL.map((kind) => [
      kind,
      [(text: string) => redacted(text, kind, '#'), (text: string) => redactedInSlices(text, kind, '#')] as const,
    ]),
  ),
};

/** Parts that edits examine: case, marks, ends of words and sentences, references, and parts of personal data. */
const PARTS = [
  ...[
    'a',
    'Ab',
    'ΑΣ',
    'ς',
    "o'Neil",
    'é',
    'e\u0301',
    '\u0301',
    '\u0327',
    'ﷺ',
    'ｶﾞ',
    '\u1100\u1161\u11a8',
    '字',
    '😀',
    'İ',
    'ı',
    'ß',
    '\u200d',
    '\ufe0f',
    '\u00ad',
    'ب',
    '\u0001',
    '\u0085',
    '“',
  ],
  ...[' ', '  ', '. ', '! ', ',', ';', '.', ':', '-', '(', ')', '/', '\n', '&amp;', '&#39;', '&am', 'p;', '<b>', '@'],
  ...['ada@example.org', '+49 30 1234567', '0171 ', '2345678', '4111 1111 1111 1111', 'DE89 3704 0044 0532 0130 00'],
];

test('a long text edited in pieces equals the text edited as a whole', async (t) => {
  for (const [name, [whole, inSlices]] of Object.entries(EDITS)) {
    const random = noise(7);
    let text = '';
    while (text.length < 4 * PIECE_UNITS) text += PARTS[random(PARTS.length)];
    const work = inSlices(text);
    let pauses = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) pauses += 1;
    t.ok(pauses > 1, `${name} can pause (${pauses} times)`);
    t.ok(step.value === whole(text), `${name}, seed ${seed}`);
    t.ok(done(inSlices('short, a text.')) === whole('short, a text.'), `${name} of a short text`);
  }
});

/** Texts without any character that begins a new word or sentence. */
const ALIKE: Readonly<Record<string, readonly string[]>> = {
  digits: ['1', '2'],
  pictures: ['😀', '🇩', '🇪'],
  'letters without case': ['ب', 'ت', '\u0e01', '\u0e31'],
  'letters with case': ['a', 'É', 'İ', 'i\u0307'],
  'letters of which some are a sigma': ['Σ', 'Α', '1', 'ς'],
  marks: ['\u0301', '\u0316', '\u0344'],
  'marks of a script': ['\u0e31', '\u0e38'],
};

test('a text without words is edited in pieces, too', async (t) => {
  const names = ['title', 'sentence', 'lower', 'upper', 'fold', 'strip_accents', 'nfc', 'nfkc'];
  for (const [kind, parts] of Object.entries(ALIKE)) {
    const random = noise(5);
    let text = '';
    while (text.length < 4 * PIECE_UNITS) text += parts[random(parts.length)];
    for (const name of names) {
      const [whole, inSlices] = EDITS[name]!;
      const work = inSlices(text);
      let pauses = 0;
      let step = work.next();
      for (; !step.done; step = work.next()) pauses += 1;
      t.ok(pauses > 2, `${name} of ${kind} can pause (${pauses} times)`);
      t.ok(step.value === whole(text), `${name} of ${kind}, seed ${seed}`);
    }
  }
});

/** The most memory in bytes that an edit holds at a pause, beside its text. */
function heldBytes(work: TextWork): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  let bytes = 0;
  let pauses = 0;
  while (work.next().done !== true) {
    if (++pauses % PAUSES_PASSED !== 0) continue;
    collect();
    bytes = Math.max(bytes, process.memoryUsage().heapUsed - before);
  }
  return bytes;
}

test('a long text with many short edits holds little more than itself', async (t) => {
  const text = 'zoe, the 1st; '.repeat(150_000);
  const works = {
    filter: edits.filterCharactersInSlices(text, (character) => !' ;,'.includes(character)),
    collapse_spaces: edits.collapseWhiteSpaceInSlices(text),
    title: edits.titleCaseInSlices(text),
    sentence: edits.sentenceCaseInSlices(text),
  };
  for (const [name, work] of Object.entries(works)) {
    const bytes = heldBytes(work);
    t.ok(bytes < 2 * text.length, `${name} holds ${bytes} bytes for ${text.length} characters`);
  }
});

test('the pieces of a long text are so short that the lists of their matches are collected soon', async (t) => {
  const lengths: number[] = [];
  const upper = (piece: string): string => {
    lengths.push(piece.length);
    return piece.toUpperCase();
  };
  const text = 'ab '.repeat(PIECE_UNITS);
  t.equal(done(edits.editInPieces(text, edits.BETWEEN_CHARACTERS, upper)), text.toUpperCase());
  t.ok(Math.max(...lengths) < PIECE_UNITS / 4, `${Math.max(...lengths)} characters`);
});
