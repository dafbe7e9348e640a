// The sheets of workbooks, read back with exceljs: rows and columns beyond the maximum of a sheet, names, widths, formats,
// filters.
import { test } from 'tap';
import { xlsxFormat } from '../../../workers/output/xlsx/xlsx.ts';
import { templateLanguage } from '../../../workers/plan/plan.ts';
import type { TemplateLanguage } from '../../../workers/template/language.ts';
import { applyTemplate } from '../apply-template.ts';
import { problemsOf } from '../template/check-problems.ts';
import { readWorkbook, valuesOf } from './read-workbook.ts';

const XLSX = { format: 'xlsx' };

/** A language whose workbooks have sheets with at most `rowsMax` rows. */
function smallSheets(rowsMax: number): TemplateLanguage {
  const outputFormats = new Map([...templateLanguage.outputFormats, ['xlsx', xlsxFormat(rowsMax)]]);
  return { ...templateLanguage, outputFormats };
}

test('rows beyond a sheet are left out and reported, or continue in the next sheet', async (t) => {
  const language = smallSheets(4);
  const rows = Array.from({ length: 8 }, (_, row) => `r${row}`);
  const input = `id\n${rows.join('\n')}\n`;
  const xlsx = { autofilter: true };
  for (const batchRows of [1, 3, 4096]) {
    const cut = await applyTemplate({ output: { ...XLSX, xlsx } }, input, batchRows, {}, { language });
    t.strictSame(await valuesOf(cut.bytes), [['id'], ['r0'], ['r1'], ['r2']]);
    t.match(cut.outcome, { truncated: true, rowsWritten: 3, report: { rows_written: 3, rows_read: 8 } });
    const next = { ...xlsx, overflow: 'next_sheet', sheet: 'A very long name of a sheet, yes'.slice(0, 31) };
    const further = await applyTemplate({ output: { ...XLSX, xlsx: next } }, input, batchRows, {}, { language });
    const sheets = await readWorkbook(further.bytes!);
    t.strictSame(
      sheets.map(({ name, rows }) => [name, rows.flatMap((row) => row.map((cell) => cell?.value))]),
      [
        ['A very long name of a sheet, ye', ['id', 'r0', 'r1', 'r2']],
        ['A very long name of a sheet (2)', ['id', 'r3', 'r4', 'r5']],
        ['A very long name of a sheet (3)', ['id', 'r6', 'r7']],
      ],
    );
    t.strictSame(
      sheets.map(({ sheet }) => sheet.autoFilter),
      ['A1:A4', 'A1:A4', 'A1:A3'],
    );
    t.match(further.outcome, { truncated: false, rowsWritten: 8 });
  }
  const full = await applyTemplate({ output: XLSX }, 'id\na\nb\nc\n', 4096, {}, { language });
  t.match(full.outcome, { truncated: false, rowsWritten: 3 }, 'a sheet that is just full');
  const bare = await applyTemplate({ output: { ...XLSX, xlsx: { header: false } } }, input, 4096, {}, { language });
  t.strictSame(await valuesOf(bare.bytes), [['r0'], ['r1'], ['r2'], ['r3']], 'without a header, one more row fits');
});

test('the settings of the section', async (t) => {
  const xlsx = {
    sheet: 'März & Co',
    freeze_header: true,
    autofilter: true,
    widths: { amount: 33, nowhere: 5 },
    number_format: { amount: '#,##0.00 "EUR"', on: 'dd.mm.yyyy' },
  };
  const operations = [
    { op: 'parse_number', columns: ['amount'] },
    { op: 'parse_date', columns: ['on'], formats: ['yyyy-MM-dd'] },
  ];
  const { bytes } = await applyTemplate({ operations, output: { ...XLSX, xlsx } }, 'amount,on,t\n1.5,2026-01-31,x\n');
  const [{ name, rows, sheet } = { name: '', rows: [], sheet: null }] = await readWorkbook(bytes!);
  t.equal(name, 'März & Co');
  t.strictSame(
    rows[1]!.map((cell) => cell?.format),
    ['#,##0.00 "EUR"', 'dd.mm.yyyy', '@'],
  );
  t.equal(sheet!.getColumn(1).width, 33);
  t.equal(sheet!.getColumn(2).width, 12);
  t.match(sheet!.views[0], { state: 'frozen', ySplit: 1 });
  t.equal(sheet!.autoFilter, 'A1:C2');
  t.equal(sheet!.getCell('A1').font.bold, true);
  const { bytes: none } = await applyTemplate({ output: XLSX }, 'a,b\n');
  t.strictSame(await valuesOf(none), [['a', 'b']], 'no rows');
});

test('settings that no spreadsheet takes are refused when the Template is checked', async (t) => {
  const problems = (xlsx: string) =>
    problemsOf(`output: {format: xlsx, xlsx: ${xlsx}}`).map(({ pointer, code }) => `${pointer} ${code}`);
  for (const name of ['a:b', 'a/b', '[x]', "'x", "x'", 'x'.repeat(32), 'hIstory', 'a\\u0007b']) {
    t.strictSame(problems(`{sheet: "${name}"}`), ['/output/xlsx/sheet BAD_VALUE'], name);
  }
  for (const name of ['x'.repeat(31), "it's", 'Übersicht 2026', 'a.b-c_d'])
    t.strictSame(problems(`{sheet: "${name}"}`), [], name);
  for (const code of ['0.00 EUR', '\\"x', '[Red', '0\\\\', 'a;b;c;d;e', `0${'0'.repeat(255)}`]) {
    t.strictSame(problems(`{number_format: {a: "${code}"}}`), ['/output/xlsx/number_format/a BAD_VALUE'], code);
  }
  for (const code of [
    '0.00" EUR"',
    '#,##0.00;[Red]-#,##0.00',
    'General',
    '@',
    '0.0E+00',
    '[h]:mm',
    'h:mm AM/PM',
    '# ?/?',
    '_-* #,##0',
  ]) {
    t.strictSame(problems(`{number_format: {a: '${code}'}}`), [], code);
  }
  t.strictSame(problems('{header: false, freeze_header: true, autofilter: true}'), [
    '/output/xlsx/freeze_header BAD_VALUE',
    '/output/xlsx/autofilter BAD_VALUE',
  ]);
  t.strictSame(problems('{widths: {a: 0}}').length, 1);
  t.strictSame(problems('{overflow: wrap}').length, 1);
});

test('more columns than a sheet has end the Run', async (t) => {
  const header = (count: number): string => Array.from({ length: count }, (_, column) => `c${column}`).join(',');
  const { bytes } = await applyTemplate({ output: XLSX }, `${header(16_384)}\n${'1,'.repeat(16_383)}2\n`);
  const [sheet] = await readWorkbook(bytes!);
  t.equal(sheet!.sheet.getCell('XFD2').value, '2');
  const { outcome } = await applyTemplate(
    { operations: [{ op: 'set', columns: { more: '1' } }], output: XLSX },
    `${header(16_384)}\n`,
  );
  t.match(outcome.failure, { code: 'TEMPLATE_CHECK_FAILED', message: /at most 16384 columns, the output has 16385/ });
});
