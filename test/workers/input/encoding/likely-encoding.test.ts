// Detection of the most likely encoding, for texts of many languages, whole and in single lines. If two encodings give the same
// text, either is right.
import { TextDecoder } from 'node:util';
import { test } from 'tap';
import { mixtureOf } from '../../../../workers/input/encoding/encoding.ts';
import { likelyEncodings } from '../../../../workers/input/encoding/likely-encoding.ts';
import { nonAsciiLinesOf } from '../../../../workers/input/encoding/non-ascii-lines.ts';
import { charactersOf } from '../../../../workers/input/encoding/single-byte-table.ts';
import { encode } from './encode.ts';
import { LANGUAGE_TEXTS } from './language-texts.ts';

/** Minimum share of single lines, which contain only a few letters, that are detected correctly. */
const LINES_SHARE_MIN = 0.92;

const CASES = LANGUAGE_TEXTS.flatMap(({ language, encodings, text }) =>
  encodings.map((encoding) => ({ language, encoding, text })),
);

const likelyOf = (bytes: Uint8Array): string | undefined => likelyEncodings(nonAsciiLinesOf(bytes, true).bytes)[0];

function decode(bytes: Uint8Array, encoding: string): string {
  const characters = charactersOf(encoding);
  if (characters === null) return new TextDecoder(encoding).decode(bytes);
  return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : characters[byte - 0x80]!)).join('');
}

function isRight(text: string, encoding: string): boolean {
  const bytes = encode(text, encoding);
  const likely = likelyOf(bytes);
  return likely !== undefined && decode(bytes, likely) === text;
}

test('texts of many languages are read as they were written', async (t) => {
  for (const { language, encoding, text } of CASES) {
    t.ok(isRight(text, encoding), `${language} in ${encoding}: ${likelyOf(encode(text, encoding))}`);
  }
});

test('most single lines are', async (t) => {
  const lines = CASES.flatMap(({ encoding, text }) => text.split('\n').map((line) => ({ encoding, line }))).filter(
    ({ line }) => /[^\0-\x7f]/.test(line),
  );
  const right = lines.filter(({ encoding, line }) => isRight(line, encoding));
  t.ok(right.length >= lines.length * LINES_SHARE_MIN, `${right.length} of ${lines.length}`);
});

test('of equally likely encodings the common one is named', async (t) => {
  for (const { encodings, language, text } of LANGUAGE_TEXTS) {
    t.equal(likelyOf(encode(text, encodings[0]!)), encodings[0], language);
  }
});

test('ASCII has no likely encoding, UTF-8 is itself, and signs alone are signs of the west', async (t) => {
  t.strictSame(likelyEncodings(nonAsciiLinesOf(Buffer.from('a,b\n1,2\n'), true).bytes), []);
  t.equal(likelyOf(Buffer.from('a,ä\n')), 'utf-8');
  t.equal(likelyOf(encode('price (£);20 °C;10–20;“quoted”\n', 'windows-1252')), 'windows-1252');
});

test('a few symbols mean windows-1252, not letters of a rare alphabet', async (t) => {
  for (const text of [
    'Datum;Betrag\n01.10.2026;1\u00a0234,56\n02.10.2026;2\u00a0000,00\n',
    '1\u00a0234,56\n',
    '\u00a7 5 BGB\n',
    '\u00a75\n',
    'Art.\u00a03\n',
    '\u00abyes\u00bb,\u00abno\u00bb\n',
    '\u00ab\u00a0oui\u00a0\u00bb\n',
    '\u00a5 1200\n\u00a51200\n',
    '10\u00d720\n10 \u00d7 20\n',
    '\u00d812\n\u00d8 12 mm\n',
    'note \u2020\nnote\u2020\n',
    '20 \u00b0C\n20\u00b0\n',
    '10 \u00b1 2\n',
    '5 \u20ac\n5\u00a0\u20ac\n',
    '\u00bc cup\n',
  ]) {
    t.equal(likelyOf(encode(text, 'windows-1252')), 'windows-1252', JSON.stringify(text));
  }
  t.equal(
    likelyOf(encode('\u0446\u0435\u043d\u0430;1\u00a0234\n', 'windows-1251')),
    'windows-1251',
    'a word is evidence',
  );
});

test('lines of UTF-8 among lines of another encoding are found by their numbers', async (t) => {
  const mixed = (utf8: string, other: string, encoding = 'windows-1252') =>
    Buffer.concat([Buffer.from(utf8), encode(other, encoding)]);
  const found = (bytes: Uint8Array) => mixtureOf(nonAsciiLinesOf(bytes, true));
  t.strictSame(found(mixed('id,name\n1,M\u00fcller\n2,J\u00fcrgen\n', '3,G\u00f6\u00dfler\n')), {
    utf8: [2, 3],
    other: [4],
  });
  t.strictSame(found(mixed('a\n\u20ac 5\nplain\n', 'plain\n5 \u00a7\n')), { utf8: [2], other: [5] }, 'signs');
  t.strictSame(
    found(mixed('a\n\u0446\u0435\u043d\u0430\n', '\u0446\u0435\u043d\u0430\n', 'windows-1251')),
    { utf8: [2], other: [3] },
    'of one language',
  );
  t.equal(found(mixed('\u20ac 5\n', '\0\xff\n')), null, 'lines that hold NUL are no text');
  t.strictSame(found(mixed('\u20ac\0 5\n', '5 \u00a7\n')), { utf8: [1], other: [2] }, 'NUL in a line of UTF-8');
  for (const { language, encodings, text } of LANGUAGE_TEXTS) {
    for (const encoding of encodings) t.equal(found(encode(text, encoding)), null, `${language} in ${encoding}`);
  }
});
