// The workbook reader on workbooks that the test makes, one for each feature.
import { test } from 'tap';
import { openFile, type ReadSheet, readSheetOf } from '../../../../bench/workbook-cells.ts';
import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
} from '../../../../workers/kernel/layout/cells.ts';
import { unlimitedShare } from '../../../../workers/memory/budget.ts';
import { runCoroutine } from '../../../../workers/scheduling/coroutine.ts';
import { type WrittenWorkbook, workbookOf } from './workbook-writer.ts';
import { inMemory } from './zip-writer.ts';

async function rowsOf(given: WrittenWorkbook, skipHidden = false): Promise<ReadSheet> {
  return (await readSheetOf(inMemory(workbookOf(given)), () => true, { skipHidden })).rows;
}

/** Texts of the first row; null for a missing cell. */
async function firstRow(given: WrittenWorkbook): Promise<(string | null)[]> {
  return Array.from((await rowsOf(given)).get(1) ?? [], (cell) => cell?.text ?? null);
}

/** Texts and kinds of cells with these numbers, each with the style at its index. */
async function styled(
  cells: readonly (readonly [value: string | number, format: string | number])[],
  workbookProperties = '',
): Promise<[string | null, number][]> {
  const rows = `<row>${cells.map(([value], index) => `<c s="${index + 1}"><v>${value}</v></c>`).join('')}</row>`;
  const read = await rowsOf({ rows, formats: cells.map(([, format]) => format), workbookProperties });
  return Array.from(read.get(1)!, (cell) => [cell!.text, cell!.kind]);
}

const ONE = '<row r="1"><c r="A1"><v>1</v></c></row>';

test('cells are at their reference, or after the previous cell', async (t) => {
  const rows = await rowsOf({
    before: '<dimension ref="A1:A1"/>',
    rows: '<row><c><v>1</v></c><c r="D1"><v>2</v></c><c><v>3</v></c></row><row r="5"><c r="AA5"><v>4</v></c></row><row/>',
  });
  t.strictSame([...rows.keys()], [1, 5, 6]);
  t.strictSame(Object.keys(rows.get(1)!), ['0', '3', '4']);
  t.equal(rows.get(5)![26]!.text, '4');
});

test('texts: shared, inline, rich, phonetic, escapes, CDATA, entities', async (t) => {
  const strings = [
    '<si><t>plain</t></si>',
    '<si><r><t xml:space="preserve">rich </t></r><r><rPr><b/></rPr><t>text</t></r><rPh sb="0" eb="1"><t>no</t></rPh></si>',
    '<si><t>a_x000D_b_x005F_c</t></si>',
    '<si/>',
    '<si><t>&lt;&#xe9;&#8364;&amp;amp;</t></si>',
    '<si><t>half _xD83D_, whole _xD83D__xDE00_</t></si>',
  ];
  const shared = strings.map((_, index) => `<c t="s"><v>${index}</v></c>`).join('');
  const inline = '<c t="inlineStr"><is><r><t>in</t></r><r><t><![CDATA[<&line]]></t></r><rPh><t>no</t></rPh></is></c>';
  const got = await firstRow({
    strings: strings.join(''),
    rows: `<row>${shared}${inline}<c t="str"><f>A1</f><v>x&amp;y</v></c></row>`,
  });
  t.strictSame(got, [
    'plain',
    'rich text',
    'a\rb_c',
    '',
    '<é€&amp;',
    'half _xD83D_, whole _xD83D__xDE00_',
    'in<&line',
    'x&y',
  ]);
});

test('parts of an inline text that Excel does not show are not read', async (t) => {
  const rows = '<row><c t="inlineStr"><v>no</v></c><c t="inlineStr"><v>no</v><is><t>yes</t></is></c></row>';
  t.strictSame(await firstRow({ rows }), [null, 'yes']);
});

test('whole numbers in digits keep them, other numbers have 15 significant digits', async (t) => {
  const cases = [
    ['1234.0999999999999', '1234.1'],
    ['0.1', '0.1'],
    ['-0', '0'],
    ['1.50', '1.5'],
    ['007', '7'],
    ['1E3', '1000'],
    ['1.5E-7', '0.00000015'],
    ['1405202108700589', '1405202108700589'],
    ['-400012341234123712', '-400012341234123712'],
    ['0009007199254740993', '9007199254740993'],
    ['+9007199254740993', '9007199254740993'],
    ['12345678901234567890', '12345678901234567890'],
    ['1234567890123456789012345', '1234567890123456789012345'],
    ['1405202108700589.0', '1405202108700589'],
    ['-1405202108700589.000', '-1405202108700589'],
    ['-0.0', '0'],
    ['1405202108700589.5', '1405202108700590'],
    ['1.405202108700589E15', '1405202108700590'],
    ['1405202108700589E0', '1405202108700590'],
    ['0.1405202108700589', '0.140520210870059'],
    ['123456789012345', '123456789012345'],
    ['1e21', '1e+21'],
    ['5.', '5'],
  ];
  const rows = `<row>${cases.map(([value]) => `<c><v>${value}</v></c>`).join('')}</row>`;
  t.strictSame(
    await firstRow({ rows }),
    cases.map(([, text]) => text),
  );
  const digits = '9'.repeat(308);
  const read = await readSheetOf(
    inMemory(workbookOf({ rows: `<row><c><v>${digits}</v></c><c><v>${digits}9</v></c></row>` })),
    () => true,
  );
  t.strictSame(
    Array.from(read.rows.get(1)!, (cell) => [cell!.text, cell!.kind]),
    [
      [digits, KIND_NUMBER],
      [`${digits}9`, KIND_TEXT],
    ],
    'a number beyond the range of doubles is a text',
  );
});

test('booleans, errors, formulas without a value, ISO dates', async (t) => {
  const rows =
    '<row><c t="b"><v>1</v></c><c t="b"><v>false</v></c><c t="e"><f>1/0</f><v>#DIV/0!</v></c><c><f>A1</f></c><c t="str"><f>A1</f></c>' +
    '<c t="d"><v>2026-01-31</v></c><c t="d"><v>2026-01-31T13:05:00.500Z</v></c><c t="d"><v>13:05</v></c><c><f>1+1</f><v>2</v></c></row>';
  const read = await readSheetOf(inMemory(workbookOf({ rows })), () => true);
  t.strictSame(
    Array.from(read.rows.get(1)!, (cell) => [cell!.text, cell!.kind]),
    [
      ['true', KIND_BOOLEAN],
      ['false', KIND_BOOLEAN],
      [null, -1],
      [null, -1],
      [null, -1],
      ['2026-01-31', KIND_DATE],
      ['2026-01-31T13:05:00.5', KIND_DATETIME],
      ['13:05:00', KIND_TIME],
      ['2', KIND_NUMBER],
    ],
  );
  t.strictSame(read.lost, ['XLSX_ERROR', 'NO_CACHED_VALUE', 'NO_CACHED_VALUE']);
});

test('a number is a date by the letters of its format', async (t) => {
  const got = await styled([
    [45000, 14],
    [45000.5, 22],
    [0.5, 20],
    [1.5, 46],
    [45000, 'yyyy"h"mm\\sdd'],
    [0.25, 'mm:ss'],
    [45000, 'mm'],
    [1.25, '[h]:mm'],
    [45000, '0.00E+00'],
    [45000, '"day" 0'],
    [45000, '[Red]0'],
    [45000, '[$-409]d/m/yy;@'],
    [45000.25, 'dd.mm.yyyy hh:mm AM/PM'],
    [45000.25, 'd.m.yy'],
    [45000, 'General'],
  ]);
  t.strictSame(got, [
    ['2023-03-15', KIND_DATE],
    ['2023-03-15T12:00:00', KIND_DATETIME],
    ['12:00:00', KIND_TIME],
    ['1.5', KIND_NUMBER],
    ['2023-03-15', KIND_DATE],
    ['06:00:00', KIND_TIME],
    ['2023-03-15', KIND_DATE],
    ['1.25', KIND_NUMBER],
    ['45000', KIND_NUMBER],
    ['45000', KIND_NUMBER],
    ['45000', KIND_NUMBER],
    ['2023-03-15', KIND_DATE],
    ['2023-03-15T06:00:00', KIND_DATETIME],
    ['2023-03-15T06:00:00', KIND_DATETIME],
    ['45000', KIND_NUMBER],
  ]);
});

test('both calendars, and the day that 1900 never had', async (t) => {
  const days = [1, 59, 60, 61, 0, -1, 2958465, 2958466].map((day) => [day, 14] as const);
  const texts = (await styled(days)).map(([text]) => text);
  t.strictSame(texts, ['1900-01-01', '1900-02-28', '60', '1900-03-01', '0', '-1', '9999-12-31', '2958466']);
  const since1904 = await styled(
    [
      [0, 14],
      [1462, 14],
    ],
    '<workbookPr date1904="1"/>',
  );
  t.strictSame(
    since1904.map(([text]) => text),
    ['1904-01-01', '1908-01-02'],
  );
});

test('hidden rows and columns are read, or left out', async (t) => {
  const given = {
    before: '<cols><col min="2" max="3" hidden="1"/></cols>',
    rows: '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c><c r="D1"><v>4</v></c></row><row r="2" hidden="true"><c><v>5</v></c></row>',
  };
  t.equal((await rowsOf(given)).size, 2);
  const rows = await rowsOf(given, true);
  t.strictSame([...rows.keys()], [1]);
  t.strictSame(
    rows.get(1)!.map((cell) => cell!.text),
    ['1', '4'],
  );
});

test('strict workbooks, prefixes, odd names of parts, encodings', async (t) => {
  const prefixed = `<x:worksheet xmlns:x="u"><!-- <c> --><x:sheetData><x:row><x:c r='A1' t = "str"><x:v>é</x:v></x:c></x:row></x:sheetData></x:worksheet>`;
  const utf16 = Buffer.from(`\uFEFF<?xml version="1.0" encoding="utf-16"?>${prefixed}`, 'utf16le');
  t.strictSame(await firstRow({ sheet: prefixed, isStrict: true }), ['é']);
  t.strictSame(await firstRow({ sheet: utf16 }), ['é']);
  const latin = Buffer.from(`<?xml version="1.0" encoding="windows-1252"?>${prefixed}`, 'latin1');
  t.strictSame(await firstRow({ sheet: latin }), ['é']);
  t.strictSame(
    await firstRow({ rows: ONE, sheetTarget: '/xl/worksheets/sheet1.xml', sheetEntry: 'XL\\Worksheets\\Sheet1.xml' }),
    ['1'],
  );
  t.strictSame(
    await firstRow({
      rows: ONE,
      sheetTarget: '../xl/./worksheets/sheet1.xml',
      sheetEntry: '/xl/worksheets/sheet1.xml',
    }),
    ['1'],
  );
});

test('archives: 64-bit, descriptors, stored, with bytes before and after', async (t) => {
  t.strictSame(await firstRow({ rows: ONE, form: { is64: true } }), ['1']);
  t.strictSame(await firstRow({ rows: ONE, entry: { hasDescriptor: true } }), ['1']);
  t.strictSame(await firstRow({ rows: ONE, entry: { isStored: true } }), ['1']);
  t.strictSame(await firstRow({ rows: ONE, form: { prefixBytes: 77, comment: 'a comment' } }), ['1']);
});

test('a large sheet comes whole, whatever the borders of its pieces', async (t) => {
  const rows: string[] = [];
  for (let row = 1; row <= 40_000; row++)
    rows.push(
      `<row r="${row}"><c r="A${row}"><v>${row}</v></c><c r="B${row}" t="inlineStr"><is><t>Zeile ${row} é€😀</t></is></c></row>`,
    );
  rows.push(`<row r="40001"><c t="str"><v>${'ö&amp;'.repeat(300_000)}</v></c></row>`);
  for (const isStored of [false, true]) {
    const read = await rowsOf({ rows: rows.join(''), entry: { isStored } });
    t.equal(read.size, 40_001);
    let wrong = 0;
    for (let row = 1; row <= 40_000; row++) {
      const [number, text] = read.get(row)!;
      if (number!.text !== String(row) || text!.text !== `Zeile ${row} é€😀` || text!.kind !== KIND_TEXT) wrong++;
    }
    t.equal(wrong, 0);
    t.equal(read.get(40_001)![0]!.text, 'ö&'.repeat(300_000));
  }
});

test('tables tell their ranges', async (t) => {
  const bytes = workbookOf({
    rows: '<row r="2"><c r="B2"><v>1</v></c><c r="C2"><v>2</v></c></row><row r="3"><c r="A3"><v>0</v></c><c r="B3"><v>3</v></c></row>',
    others: [
      {
        name: 'xl/worksheets/_rels/sheet1.xml.rels',
        content: '<Relationships><Relationship Id="t" Type="u/table" Target="../tables/t.xml"/></Relationships>',
      },
      {
        name: 'xl/tables/t.xml',
        content: '<table name="T1" displayName="Orders" ref="B2:C2" totalsRowCount="1"><tableColumns/></table>',
      },
    ],
  });
  const { workbook, close } = await openFile(inMemory(bytes));
  t.teardown(close);
  const [table] = await runCoroutine(workbook.tables(workbook.sheets[0]!));
  t.match(table, { name: 'Orders', headerRows: 1, totalsRows: 1 });
  const told: [number, number][] = [];
  const reader = workbook.read(workbook.sheets[0]!, { skipHidden: false, range: table!.range, order: null });
  let row = 0;
  reader.read(
    {
      beginRow: (number) => {
        row = number;
      },
      cell: (column) => {
        told.push([row, column]);
      },
      lost() {},
      endRow() {},
    },
    10,
  );
  t.strictSame(told, [
    [2, 0],
    [2, 1],
  ]);
});

test('shared strings that find no memory lie in a file, and are the same', async (t) => {
  const texts = Array.from({ length: 90_000 }, (_, index) =>
    index % 15_000 === 7 ? `${index}${'lang'.repeat(index)}` : `Text ${index} ${'ä'.repeat(index % 40)}`,
  );
  const strings = texts.map((text) => `<si><t>${text}</t></si>`).join('');
  // Memory that is needed in any case is forced.
  const share = { ...unlimitedShare(), take: () => false };
  const { workbook, close } = await openFile(inMemory(workbookOf({ strings, rows: ONE })), share);
  t.teardown(close);
  const found = workbook.strings!;
  t.ok(found.isSpilled);
  t.equal(found.length, texts.length);
  const textAt = (index: number): string | null =>
    found.find(index) ? Buffer.from(found.bytes.slice(found.start, found.end)).toString() : null;
  for (const step of [1, 7_919]) {
    const wrong = texts.filter(
      (_, index) => textAt((index * step) % texts.length) !== texts[(index * step) % texts.length],
    );
    t.equal(wrong.length, 0);
  }
  t.equal(textAt(texts.length), null);
});
