// Workbooks, read back with exceljs cell by cell: the cells made of each type and kind, and bytes that depend only on the rows.
import { test } from 'tap';
import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_JSON,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
} from '../../../workers/kernel/layout/cells.ts';
import { type TypedCell, typedTable, typedTableFormat } from '../../fixtures/typed-table.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { applyTemplate } from '../apply-template.ts';
import { withMovingMemory } from '../memory/moving-memory.ts';
import { partOf, readWorkbook, valuesOf } from './read-workbook.ts';

const XLSX = { format: 'xlsx' };
const day = (text: string): Date => new Date(`${text}Z`);

test('each type is a cell of its own, with its default format', async (t) => {
  const columns = { n: 'decimal', i: 'integer', f: 'number', b: 'boolean', d: 'date', z: 'datetime' };
  const { bytes, outcome } = await applyTemplate(
    { operations: [{ op: 'cast', columns }], output: XLSX },
    't,n,i,f,b,d,z\n007,1.50,-7,0.1,true,2026-01-31,2026-01-31T13:05:00.25Z\n,,,,,,\n=1+1,0.00,0,1e300,false,1970-01-01,1969-12-31T23:59:59Z\n',
  );
  const [sheet] = await readWorkbook(bytes!);
  t.equal(sheet!.name, 'Data');
  t.strictSame(
    sheet!.rows.map((row) => row.map((cell) => cell?.value ?? null)),
    [
      ['t', 'n', 'i', 'f', 'b', 'd', 'z'],
      ['007', 1.5, -7, 0.1, true, day('2026-01-31'), day('2026-01-31T13:05:00.250')],
      [null, null, null, null, null, null, null],
      ['=1+1', 0, 0, 1e300, false, day('1970-01-01'), day('1969-12-31T23:59:59')],
    ],
  );
  const formats = ['@', undefined, undefined, undefined, undefined, 'yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss'];
  t.strictSame(
    sheet!.rows[1]!.map((cell) => cell?.format),
    formats,
  );
  t.match(outcome.report, { rows_written: 3, output: { formulas_guarded: 0 } });
  t.match(outcome.output, {
    mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ending: 'xlsx',
  });
});

test('numbers that a spreadsheet would cut are texts', async (t) => {
  const columns = { i: 'integer', n: 'decimal' };
  const rows = [
    ['999999999999999', '1234567890.12345', 999999999999999, 1234567890.12345],
    ['-999999999999999', '-0.123456789012345', -999999999999999, -0.123456789012345],
    ['1000000000000000', '1234567890.123456', '1000000000000000', '1234567890.123456'],
    ['-9223372036854775808', '1234567890123450.00', '-9223372036854775808', '1234567890123450.00'],
    ['12', '123456789012345.0000', 12, 123456789012345],
    ['12', '0.000000000000000000000000012', 12, 0.000000000000000000000000012],
    ['12', '123456789012345678901234567890.5', 12, '123456789012345678901234567890.5'],
    ['12', '1000000000000000', 12, '1000000000000000'],
  ] as const;
  const input = `i,n\n${rows.map(([i, n]) => `${i},${n}\n`).join('')}`;
  const { bytes } = await applyTemplate({ operations: [{ op: 'cast', columns }], output: XLSX }, input);
  t.strictSame(
    (await valuesOf(bytes)).slice(1),
    rows.map(([, , i, n]) => [i, n]),
  );
  const { bytes: doubles } = await applyTemplate(
    {
      operations: [{ op: 'set', columns: { f: '0.1 + 0.2', g: '1.0 / 0.0' } }],
      output: { ...XLSX, columns: ['f', 'g'] },
    },
    'a,b\nx,y\n',
  );
  t.strictSame((await valuesOf(doubles))[1], [0.30000000000000004, 'Infinity'], 'doubles are kept to their last digit');
});

test('dates are serial numbers from 1900-03-01 to 9999-12-31, texts before', async (t) => {
  const dates = ['0001-01-01', '1900-02-28', '1900-03-01', '2024-02-29', '9999-12-31'];
  const input = `d,z\n${dates.map((date) => `${date},${date}T23:59:59.999Z\n`).join('')}`;
  const { bytes } = await applyTemplate(
    { operations: [{ op: 'cast', columns: { d: 'date', z: 'datetime' } }], output: XLSX },
    input,
  );
  t.strictSame((await valuesOf(bytes)).slice(1), [
    ['0001-01-01', '0001-01-01T23:59:59.999Z'],
    ['1900-02-28', '1900-02-28T23:59:59.999Z'],
    ...dates.slice(2).map((date) => [day(date), day(`${date}T23:59:59.999`)]),
  ]);
});

test('texts are unchanged: markup, controls, escapes, spaces, formulas', async (t) => {
  const texts = [
    '<b> & "c" \'d\'',
    '_x0041_',
    '_x00_ _x0041 _xGGGG_ __x0041__',
    ' two spaces  ',
    '\u0001\u001f\u007f',
    'a\tb\nc\rd\r\n',
    '\ufffe\uffff\uffef\ufeff',
    'ä€😀',
    '=SUM(A1)',
    '+49 30 1234',
    '007',
    ']]>',
  ];
  const input = `t\n${texts.map((text) => `"${text.replaceAll('"', '""')}"\n`).join('')}`;
  const { bytes } = await applyTemplate({ output: XLSX }, input);
  t.strictSame(
    (await valuesOf(bytes)).slice(1),
    texts.map((text) => [text]),
  );
  const { bytes: named } = await applyTemplate({ output: XLSX }, 'a<b & c,_x0041_ \nx,y\n');
  t.strictSame((await valuesOf(named))[0], ['a<b & c', '_x0041_ ']);
});

test('an empty text has a cell, null has no cell', async (t) => {
  const { bytes } = await applyTemplate({ input: { null_values: ['NA'] }, output: XLSX }, 'a,b,c\n,NA,x\nNA,NA,NA\n');
  t.strictSame(
    (await valuesOf(bytes)).slice(1),
    [
      [null, null, 'x'],
      [null, null, null],
    ],
    'exceljs takes both for nothing',
  );
  const rows = /<row r="2">.*(?=<\/sheetData>)/.exec(partOf(bytes!, 'xl/worksheets/sheet1.xml'))?.[0];
  t.equal(
    rows,
    '<row r="2"><c r="A2" s="1" t="inlineStr"><is><t></t></is></c>' +
      '<c r="C2" s="1" t="inlineStr"><is><t>x</t></is></c></row><row r="3"></row>',
  );
});

const NATIVE: readonly (readonly [TypedCell, unknown])[] = [
  [[KIND_TEXT, '12'], '12'],
  [[KIND_NUMBER, '12'], 12],
  [[KIND_NUMBER, '-0.5'], -0.5],
  [[KIND_NUMBER, '123456789012345'], 123456789012345],
  [[KIND_NUMBER, '1234567890123456'], '1234567890123456'],
  [[KIND_NUMBER, '123456789012345000'], 123456789012345000],
  [[KIND_NUMBER, '0.30000000000000004'], 0.30000000000000004],
  [[KIND_NUMBER, '0.300000000000000041'], '0.300000000000000041'],
  [[KIND_NUMBER, '1.5e10'], 1.5e10],
  [[KIND_NUMBER, '1E400'], '1E400'],
  [[KIND_NUMBER, `1${'0'.repeat(400)}`], `1${'0'.repeat(400)}`],
  [[KIND_NUMBER, '1.'], '1.'],
  [[KIND_BOOLEAN, 'true'], true],
  [[KIND_BOOLEAN, 'false'], false],
  [[KIND_DATE, '2026-01-31'], day('2026-01-31')],
  [[KIND_DATE, '1900-02-28'], '1900-02-28'],
  [[KIND_DATE, '2026-02-30'], '2026-02-30'],
  [[KIND_DATETIME, '2026-01-31T13:05:00'], day('2026-01-31T13:05:00')],
  [[KIND_DATETIME, '2026-01-31T13:05:00.125Z'], day('2026-01-31T13:05:00.125')],
  [[KIND_DATETIME, '2026-01-31T13:05:00.123456789'], '2026-01-31T13:05:00.123456789'],
  [[KIND_DATETIME, '2026-01-31T13:05:00.125000000Z'], day('2026-01-31T13:05:00.125')],
  [[KIND_DATETIME, '2026-01-31'], '2026-01-31'],
  [[KIND_TIME, '13:05:00'], new Date(Date.UTC(1899, 11, 30, 13, 5))],
  [[KIND_TIME, '00:00:00'], new Date(Date.UTC(1899, 11, 30))],
  [[KIND_TIME, '25:00:00'], '25:00:00'],
  [[KIND_TIME, '13:05:00.1234567'], '13:05:00.1234567'],
  [[KIND_JSON, '{"a":1}'], '{"a":1}'],
  [null, null],
];

test('cells of a file with native kinds keep their kind unless they are edited', async (t) => {
  const rows = NATIVE.map(([cell], row): TypedCell[] => [cell, [KIND_NUMBER, String(row)], [KIND_TEXT, 'x']]);
  const table = typedTable({ headers: ['v', 'row', 'plain'], hasKinds: [true, true, false] }, rows);
  const formats = [typedTableFormat];
  const written = NATIVE.map(([, value], row) => [value, row, 'x']);
  for (const batchRows of [1, 3, 4096]) {
    const { bytes } = await applyTemplate({ output: XLSX }, table, batchRows, {}, { formats });
    t.strictSame((await valuesOf(bytes)).slice(1), written, `batches of ${batchRows}`);
  }
  const edited = [{ op: 'text', columns: ['row'], steps: [{ prefix: 'n' }] }];
  const { bytes } = await applyTemplate({ operations: edited, output: XLSX }, table, 4096, {}, { formats });
  t.strictSame(
    (await valuesOf(bytes)).slice(1),
    NATIVE.map(([, value], row) => [value, `n${row}`, 'x']),
  );
});

test('a workbook through an empty Template keeps every kind, and JSON its numbers', async (t) => {
  const operations = [
    { op: 'cast', columns: { n: 'decimal', i: 'integer', f: 'number', b: 'boolean', d: 'date', z: 'datetime' } },
  ];
  const input =
    't,n,i,f,b,d,z\n007,1.50,-7,0.1,true,2026-01-31,2026-01-31T13:05:00.25Z\n,,,,,,\n' +
    ' a_x0041_ & <b>,123456789012345,0,1e-7,false,1900-03-01,9999-12-31T23:59:59.999Z\n';
  const { bytes: first } = await applyTemplate({ operations, output: XLSX }, input);
  const { bytes: second, outcome } = await applyTemplate({ output: XLSX }, first!);
  t.equal(outcome.failure, null);
  const cellsOf = async (bytes: Buffer) =>
    (await readWorkbook(bytes))[0]!.rows.map((row) => row.map((cell) => cell?.value ?? null));
  // A row without cells is blank, and readers skip it.
  t.strictSame(
    await cellsOf(second!),
    (await cellsOf(first!)).filter((row) => row.some((value) => value !== null)),
  );
  const { bytes: third } = await applyTemplate({ output: XLSX }, second!);
  t.ok(third!.equals(second!), 'the same bytes from then on');
  const json = '[{"a":1.50,"b":"1.50","c":true,"d":null,"e":[1,"x"],"f":12345678901234567890}]';
  const { bytes: ofJson } = await applyTemplate({ output: XLSX }, json);
  t.strictSame(await valuesOf(ofJson), [
    ['a', 'b', 'c', 'd', 'e', 'f'],
    [1.5, '1.50', true, null, '[1,"x"]', '12345678901234567890'],
  ]);
});

test('a cell holds 32,767 characters; a longer one is an error of its row', async (t) => {
  const longest = 'x'.repeat(32_767);
  // Emoji have two units each: a cell has twice as many bytes, but no more units than the maximum.
  const emoji = `${'😀'.repeat(16_383)}a`;
  const input = `id,t\n1,${longest}\n2,${longest}y\n3,${emoji}\n4,${emoji}b\n5,z\n`;
  const { outcome } = await applyTemplate({ output: XLSX }, input);
  t.match(outcome.failure, {
    code: 'TEMPLATE_ROW_ERROR',
    message: /^Output: TOO_LONG in row 2 of the data\. Column 2 of the output/,
  });
  t.strictSame(outcome.report.output.errors, { TOO_LONG: { count: 1, rows: [2] } });

  const outcomes = {
    drop_row: [
      ['1', longest],
      ['3', emoji],
      ['5', 'z'],
    ],
    blank: [
      ['1', longest],
      ['2', null],
      ['3', emoji],
      ['4', null],
      ['5', 'z'],
    ],
  };
  for (const [onError, expected] of Object.entries(outcomes)) {
    for (const rows of [1, 2, 4096]) {
      const template = { defaults: { on_error: onError }, output: XLSX };
      const { bytes, outcome } = await applyTemplate(template, input, rows);
      t.strictSame((await valuesOf(bytes)).slice(1), expected, `${onError}, batches of ${rows}`);
      t.strictSame(outcome.report.output.errors, { TOO_LONG: { count: 2, rows: [2, 4] } });
      t.equal(outcome.rowsWritten, expected.length);
    }
  }
  const { bytes } = await applyTemplate({ defaults: { on_error: 'flag' }, output: XLSX }, input);
  const flagged = await valuesOf(bytes);
  t.strictSame(flagged[0], ['id', 't', '_issues']);
  t.strictSame(flagged[2], ['2', null, 'output:TOO_LONG']);
  t.strictSame(flagged[5], ['5', 'z', null]);
  const csv = await applyTemplate({ output: { format: 'csv' } }, input);
  t.equal(csv.text, input, 'a CSV holds them');
  t.equal(csv.outcome.report.output.errors, undefined);
});

test('texts that need more than the buffer pass by the plain twin', async (t) => {
  const text = '\u0001'.repeat(32_767);
  const input = `a,b,c\n${text},${text},x\n1,2,3\n${'y,'.repeat(2)}${text}\n`;
  for (const rows of [1, 4096]) {
    const { bytes } = await applyTemplate({ output: XLSX }, input, rows);
    t.strictSame((await valuesOf(bytes)).slice(1), [
      [text, text, 'x'],
      ['1', '2', '3'],
      ['y', 'y', text],
    ]);
  }
});

test('the bytes depend on the rows alone', { skip: skipUnlessLong }, async (t) => {
  const rows = Array.from(
    { length: 9_000 },
    (_, row) => `${(row * 7919) % 9001},${row / 8},"text ${row % 97} &",,2026-01-${10 + (row % 20)}`,
  );
  const input = `id,n,t,e,d\n${rows.join('\n')}\n`;
  const operations = [
    { op: 'cast', columns: { id: 'integer', n: 'decimal', d: 'date' } },
    { op: 'sort', by: [{ column: 'id' }] },
  ];
  const template = { operations, output: { ...XLSX, xlsx: { autofilter: true } } };
  const { bytes } = await applyTemplate(template, input);
  for (const batchRows of [1, 7, 1000]) {
    t.ok(bytes!.equals((await applyTemplate(template, input, batchRows)).bytes!), `batches of ${batchRows}`);
  }
  t.ok(bytes!.equals((await applyTemplate(template, input, 4096, {}, { spills: true })).bytes!), 'spilled');
  const values = await valuesOf(bytes);
  t.equal(values.length, 9_001);
  t.ok(
    values.slice(2).every((row, at) => (row[0] as number) > (values[at + 1]![0] as number)),
    'sorted',
  );
});

test('a memory that moves changes nothing', async (t) => {
  const long = 'x'.repeat(32_768);
  const input = `t,f,d\n${long},0.5,2026-01-31\n"a <b>",1e300,1900-01-01\n${long},,\n`;
  const operations = [{ op: 'cast', columns: { f: 'number', d: 'date' } }];
  const template = { defaults: { on_error: 'blank' }, operations, output: XLSX };
  const { bytes } = await applyTemplate(template, input);
  t.strictSame((await valuesOf(bytes))[2], ['a <b>', 1e300, '1900-01-01']);
  for (const arenaBytes of [1, 64, 1000]) {
    const moved = await withMovingMemory(arenaBytes, () => applyTemplate(template, input));
    t.ok(moved.bytes!.equals(bytes!), `an arena of ${arenaBytes} bytes`);
  }
});
