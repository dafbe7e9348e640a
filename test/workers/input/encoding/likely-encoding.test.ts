// The encoding in which a text is most likely written, on texts of many languages, whole and in single lines. Where two
// encodings give the same text, either is right.
import { TextDecoder } from 'node:util';
import { test } from 'tap';
import { highLinesOf } from '../../../../workers/input/encoding/high-lines.ts';
import { likelyEncodings } from '../../../../workers/input/encoding/likely-encoding.ts';
import { charactersOf } from '../../../../workers/input/encoding/single-byte-table.ts';
import { encode } from './encode.ts';
import { LANGUAGE_TEXTS } from './language-texts.ts';

/** Of single lines, which hold some letters each. */
const LINES_SHARE_MIN = 0.92;

const CASES = LANGUAGE_TEXTS.flatMap(({ language, encodings, text }) =>
  encodings.map((encoding) => ({ language, encoding, text })),
);

const likelyOf = (bytes: Uint8Array): string | undefined => likelyEncodings(highLinesOf(bytes, true))[0];

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
  t.strictSame(likelyEncodings(highLinesOf(Buffer.from('a,b\n1,2\n'), true)), []);
  t.equal(likelyOf(Buffer.from('a,ä\n')), 'utf-8');
  t.equal(likelyOf(encode('price (£);20 °C;10–20;“quoted”\n', 'windows-1252')), 'windows-1252');
});
