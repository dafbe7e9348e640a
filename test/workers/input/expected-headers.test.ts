// Detection of the headers that the Template expects: the fast test gives the same answers as comparing normalised keys.

import { test } from 'tap';
import { ExpectedHeaders } from '../../../workers/input/expected-headers.ts';
import { headerKey } from '../../../workers/template/file-columns.ts';
import { fc } from '../../random.ts';
import { sound } from '../template/check-problems.ts';

test('the fast test of a cell equals the comparison of its key', async (t) => {
  const names = ['file', 'Maße', 'is i', 'ŋame', 'ÿ'];
  const pieces = [
    ...names,
    'ﬁ',
    'le',
    'ĳ',
    'ſ',
    'ß',
    'ss',
    'MA',
    'E',
    'é',
    'Ü',
    '\u0304',
    '\u00A0',
    ' ',
    'İ',
    'ı',
    'Ŋ',
    'ame',
  ];
  const texts = fc.string({ unit: fc.constantFrom(...pieces), maxLength: 4 });
  for (const some of [names.slice(0, 3), names]) {
    const columns = some.map((name) => `{name: "${name}"}`).join(', ');
    const expected = ExpectedHeaders.of(sound(`input: {columns: [${columns}]}`))!;
    const keys = new Set(some.map((name) => headerKey(name, 'normal')));
    fc.assert(
      fc.property(texts, (text) => {
        const isKey = keys.has(headerKey(text, 'normal'));
        const bytes = Buffer.from(`,${text},`);
        return expected.has(text) === isKey && !(isKey && expected.exclude(bytes, 1, bytes.length - 1));
      }),
    );
  }
  t.pass();
});
