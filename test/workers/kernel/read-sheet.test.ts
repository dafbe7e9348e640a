// The kernels that read sheets and shared strings against the plain readers, which read tag by tag: all forms of cells, valid and
// damaged, cut at every position, in stretches of any size.
import { deepStrictEqual } from 'node:assert/strict';
import { test } from 'tap';
import { KIND_NUMBER } from '../../../workers/kernel/layout/cells.ts';
import { MEANING_DATE, MEANING_DATE_TIME, MEANING_PLAIN, MEANING_TIME } from '../../../workers/kernel/layout/sheet.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { SheetBench, type SheetGiven, type SheetHow } from './sheet-bench.ts';

const bench = new SheetBench();
const PLAIN = { stretchBytes: 0 };
const STYLES = [MEANING_PLAIN, MEANING_DATE, MEANING_DATE_TIME, MEANING_TIME];
const STRINGS =
  '<sst><si><t>one</t></si><si><t/></si><si><t>two &amp; three</t></si><si><r><t>ri</t></r><r><t>ch</t></r></si></sst>';

const space = fc.constantFrom('', '', '', '', ' ', '\n', '\r\n  ', '<!-- c -->');
const sign = fc.constantFrom(
  ...['a', 'b', '_', '_x', '_x0041_', '_x000D_', '&amp;', '&lt;', '&gt;', '&quot;', '&apos;', '&#233;', '&#x1F600;'],
  ...['&#9;', '&#xD;', '\r', '\r\n', '\n', ' ', 'é', '😀', '>', '"', "'", ']', '<![CDATA[<&]]>', '&#xd800;', '&no;'],
);
const text = fc.oneof(
  { weight: 8, arbitrary: fc.array(sign, { maxLength: 6 }).map((signs) => signs.slice(0, 6).join('')) },
  {
    weight: 3,
    arbitrary: fc.array(fc.constantFrom('a', 'ß', '&amp;', ' '), { maxLength: 50 }).map((all) => all.join('')),
  },
  { weight: 3, arbitrary: fc.constantFrom('', 'n/a', 'NULL', 'plain words', 'x'.repeat(15), 'y'.repeat(16)) },
);
const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));
const number = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1',
    '007',
    '1.50',
    '.5',
    '5.',
    '-0.0',
    '1E5',
    '1e-7',
    '+3',
    ' 4 ',
    'abc',
    '1E400',
    '60',
    '0.5',
  ),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.double({ min: 0, max: 3_000_000, noNaN: true }).map((value) => String(value)),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value.toPrecision(17)),
  fc.double({ min: 1e-12, max: 1, noNaN: true }).map((value) => value.toExponential(16).toUpperCase()),
  fc.integer({ min: -1e9, max: 1e9 }).map((cents) => String(cents / 100 + 0.1 + 0.2)),
  fc.tuple(digits(12), digits(12)).map(([whole, part]) => `${whole}.${part}`),
);
const rich = fc
  .array(
    fc.oneof(
      fc.tuple(fc.constantFrom('', ' xml:space="preserve"', " a='>'"), text).map(([a, t]) => `<t${a}>${t}</t>`),
      fc
        .tuple(fc.constantFrom('', '<rPr><b/><sz val="11"/></rPr>', '<rPr/>', '<rPr><b></b></rPr>'), text)
        .map(([properties, t]) => `<r>${properties}<t>${t}</t></r>`),
      fc.constantFrom('<t/>', '<r/>', '<rPh sb="0" eb="1"><t>no</t></rPh>', '<phoneticPr fontId="1"/>', '\n '),
    ),
    { maxLength: 3 },
  )
  .map((all) => all.join(''));
const formula = fc.constantFrom('', '', '', '', '<f>A1+1</f>', '<f t="shared" si="0"/>', '<f>"&lt;"</f>', '<f></f>');

/** The XML of a cell after its reference: attributes and content. */
const value = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(formula, number).map(([f, n]) => ['', `${f}<v>${n}</v>`]) },
  { weight: 3, arbitrary: number.map((n) => [' t="n"', `<v>${n}</v>`]) },
  {
    weight: 5,
    arbitrary: fc.integer({ min: 0, max: 4 }).map((index) => [' t="s"', `<v>${index % 16 === 4 ? 3 : index}</v>`]),
  },
  { weight: 4, arbitrary: fc.tuple(formula, text).map(([f, t]) => [' t="str"', `${f}<v>${t}</v>`]) },
  { weight: 4, arbitrary: rich.map((r) => [' t="inlineStr"', `<is>${r}</is>`]) },
  { weight: 2, arbitrary: fc.constantFrom('0', '1', 'true', ' 1', '').map((b) => [' t="b"', `<v>${b}</v>`]) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      [' t="e"', '<v>#N/A</v>'],
      [' t="d"', '<v>2024-02-29</v>'],
      [' t="d"', '<v>2024-02-29T10:00:00Z</v>'],
      ['', '<f>A1</f>'],
      ['', '<f>A1</f><v></v>'],
      [' t="str"', '<v/>'],
      [' t="str"', '<v xml:space="preserve"> x </v>'],
      [' t="inlineStr"', '<is/>'],
      [' t="inlineStr"', '<v>no</v>'],
      [' t="s"', '<v></v>'],
      [' t="unknown"', '<v>7</v>'],
      ['', '<is><t>x</t></is>'],
      ['', '<v>1</v><v>2</v>'],
      ['', '<v>1</v><extLst><ext/></extLst>'],
      ['', ''],
      [' t="s"', '<v>99</v>'],
    ),
  },
);
const cell = fc
  .tuple(
    value,
    fc.constantFrom('next', 'next', 'next', 'none', 'B', 'A', 'D', 'F', 'AA', 'b', 'A$'),
    fc.constantFrom('', '', ' s="1"', ' s="2"', " s='3'", ' s="9"', ' cm="1"', ' x:s="1"', '\n s = "1"'),
    space,
    fc.constantFrom('', '', '', ' '),
  )
  .map(([[attributes, content], place, style, gap, end]) => (next: string, row: number) => {
    const reference = place === 'none' ? '' : ` r="${place === 'next' ? next : place}${row}"`;
    const tag = `<c${reference}${style}${attributes}${end}`;
    return content === '' ? `${tag}/>${gap}` : `${tag}>${gap === '' ? content : content + gap}</c>`;
  });
const row = fc
  .tuple(
    fc.array(cell, { maxLength: 6 }),
    fc.constantFrom('r', 'r', 'r', '', 'spans="1:4" x14ac:dyDescent="0.25"', 'hidden="1"', "hidden='true' r"),
    space,
    fc.integer({ min: 1, max: 3 }),
  )
  .map(([cells, how, gap, step]) => (before: number) => {
    const place = before + step;
    const attributes = how === '' ? '' : ` ${how.replace(/\br$/, `r="${place}"`)}`;
    const inside = cells.map((write, index) => write(String.fromCharCode(65 + index), place)).join('');
    return inside === '' ? `<row${attributes}/>${gap}` : `<row${attributes}>${gap}${inside}</row>`;
  });
const sheet = fc
  .tuple(fc.array(row, { maxLength: 8 }), fc.constantFrom('', '', 'x:', 'main:', 'a-prefix-of-30-letters-as-none:'))
  .map(([rows, prefix]) => {
    const inside = rows.map((write, index) => write(index * 3)).join('');
    const xml = `<worksheet><cols><col min="2" max="2" hidden="1"/></cols><sheetData>${inside}</sheetData></worksheet>`;
    return prefix === '' ? xml : xml.replace(/(<\/?)(?=[a-z])/gi, `$1${prefix}`);
  });
const given = fc.record({
  xml: sheet,
  is1904: fc.boolean(),
  rowsMax: fc.constantFrom(1, 3, 4_096),
  skipHidden: fc.boolean(),
  firstRow: fc.constantFrom(1, 1, 4),
  range: fc.constantFrom(null, null, { firstRow: 2, lastRow: 9, firstColumn: 1, lastColumn: 2 }),
  rules: fc.record({
    columns: fc.constantFrom(1, 4, 4, 30),
    hasSheetName: fc.boolean(),
    nullValues: fc.constantFrom<readonly string[]>([''], [], ['', 'n/a', 'NULL'], ['1']),
    raggedFails: fc.constantFrom(false, false, false, true),
  }),
});
const how = fc.record({
  stretchBytes: fc.constantFrom(1, 33, 64, 150, 400, 65_536),
  cuts: fc.uniqueArray(fc.integer({ min: 1, max: 600 }), { maxLength: 4 }).map((cuts) => cuts.sort((a, b) => a - b)),
});

async function isSame(input: SheetGiven, settings: SheetHow): Promise<void> {
  const all = { styles: STYLES, strings: STRINGS, ...input };
  deepStrictEqual(await bench.read(all, settings), await bench.read(all, { ...settings, ...PLAIN }));
}

test('any sheet is read as tag by tag', async (t) => {
  const property = fc.asyncProperty(given, how, isSame);
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 38, long: 2_000 }) }));
});

test('a broken sheet fails as tag by tag', async (t) => {
  const spoilt = fc
    .tuple(
      given,
      fc.nat(),
      fc.constantFrom('', '<', '>', '"', '/', '&', ' ', 'v', '<v>', '</c>', '</row>', '\u0000'),
      fc.nat({ max: 3 }),
    )
    .map(([input, at, put, length]) => {
      const { xml } = input;
      const place = at % xml.length;
      return { ...input, xml: xml.slice(0, place) + put + xml.slice(place + length) };
    });
  await t.resolves(fc.assert(fc.asyncProperty(spoilt, how, isSame), { numRuns: sweep({ short: 38, long: 2_000 }) }));
});

const EVERY_FORM = `<worksheet><sheetData><row r="1" spans="1:4"><c r="A1" s="1"><v>45123</v></c><c r="B1" t="s"><v>2</v></c><c r="C1" t="str"><f>A1&amp;"x"</f><v>a&amp;b&#233;</v></c><c r="D1" t="b"><v>1</v></c></row>
<row r="3"><c r="A3" t="inlineStr"><is><r><rPr><b/></rPr><t xml:space="preserve"> in </t></r><r><t>line</t></r></is></c><c r="B3" s="2"><v>45123.520833333336</v></c><c r="C3"><v>0.30000000000000004</v></c><c r="D3" t="e"><v>#REF!</v></c></row><row r="4"/><row r="5"><c r="E5"><v>1</v></c><c r="A5" s="3"><v>2.7777777777777779E-3</v></c></row></sheetData></worksheet>`;

test('a sheet is the same wherever it is cut, and whatever the stretch', async (t) => {
  const input = { xml: EVERY_FORM, styles: STYLES, strings: STRINGS };
  const expected = await bench.read(input, PLAIN);
  t.match(expected, { failure: null, rowsRead: 3 });
  for (let place = 1; place < EVERY_FORM.length; place++) {
    for (const stretchBytes of [place, 65_536]) {
      deepStrictEqual(await bench.read(input, { stretchBytes, cuts: [place] }), expected, `${stretchBytes}, ${place}`);
    }
  }
});

test('numbers and dates equal those of the doubles', async (t) => {
  const cells = fc.array(fc.tuple(number, fc.nat({ max: 3 })), { minLength: 50, maxLength: 50 });
  const property = fc.asyncProperty(cells, fc.boolean(), (all, is1904) => {
    const rows = all.map(([n, style]) => `<row><c s="${style}"><v>${n.trim()}</v></c></row>`).join('');
    return isSame({ xml: `<worksheet><sheetData>${rows}</sheetData></worksheet>`, is1904 }, { stretchBytes: 65_536 });
  });
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 25, long: 4_000 }) }));
});

test('shared strings are read as tag by tag', async (t) => {
  const item = fc.oneof(
    rich.map((inside) => `<si>${inside}</si>`),
    text.map((inside) => `<si><t>${inside}</t></si>`),
    fc.constantFrom(
      '<si/>',
      '<si></si>',
      '<si ><t>x</t></si >',
      `<si><t>${'long'.repeat(30_000)}</t></si>`,
      '<!-- c -->',
    ),
  );
  const all = fc
    .tuple(fc.array(item, { maxLength: 12 }), fc.constantFrom('', '', 'x:'), fc.nat({ max: 9 }), fc.nat())
    .map(([items, prefix, chance, at]) => {
      const xml = `<sst uniqueCount="1">${items.join('')}</sst>`.replace(/(<\/?)(?=[a-z])/gi, `$1${prefix}`);
      return chance > 0 ? xml : xml.slice(0, at % xml.length) + xml.slice((at % xml.length) + 1);
    });
  const property = fc.asyncProperty(all, how, async (xml, settings) => {
    deepStrictEqual(await bench.stringTexts(xml, settings), await bench.stringTexts(xml, PLAIN));
  });
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 50, long: 4_000 }) }));
});

test('a blank row leaves nothing to the next', async (t) => {
  const xml =
    '<worksheet><sheetData><row><c t="str"><v></v></c></row><row><c r="B2"><v>1</v></c></row></sheetData></worksheet>';
  for (const settings of [PLAIN, { stretchBytes: 65_536 }]) {
    const { rows } = await bench.read({ xml, rules: { columns: 2, nullValues: [] } }, settings);
    t.strictSame(rows, [[null, [KIND_NUMBER, '1']]]);
  }
});

test('a filled cell that its row has twice is replaced and counted, in any order of the cells', async (t) => {
  const rowOf = (...references: readonly string[]): string =>
    `<row>${references.map((reference, index) => `<c r="${reference}"><v>${index}</v></c>`).join('')}</row>`;
  const rows = `${rowOf('A', 'C', 'B', 'C')}${rowOf('C', 'A')}${rowOf('A', 'A', 'A')}`;
  const xml = `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
  for (const settings of [PLAIN, { stretchBytes: 65_536 }, { stretchBytes: 40 }]) {
    const { rows, counts } = await bench.read({ xml, rules: { columns: 3 } }, settings);
    const texts = rows.map((cells) => cells.map((cell) => cell?.[1] ?? null));
    t.strictSame(texts, [
      ['0', '2', '3'],
      ['1', null, '0'],
      ['2', null, null],
    ]);
    t.strictSame(counts, { DUPLICATE_KEY: { count: 3, rows: [1, 3] } });
  }
});
