// Sheets that are read one after the other: columns are matched by their names, and other columns are refused.
import t from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';
import { workbookOf } from '../workers/input/xlsx/workbook-writer.ts';

function cell(text: string): string {
  if (/^\d+$/.test(text)) return `<c><v>${text}</v></c>`;
  return `<c t="inlineStr"><is><t>${text}</t></is></c>`;
}

/** Rows of texts, cells separated by spaces, rows by slashes. */
function rowsOf(text: string): string {
  const rows = text.split('/').map((row) => `<row>${row.split(' ').map(cell).join('')}</row>`);
  return rows.join('');
}

function stacked(first: string, second: string, after = ''): Buffer {
  const more = after === '' ? [] : [{ name: 'Three', rows: rowsOf(after) }];
  return workbookOf({ rows: rowsOf(first), moreSheets: [{ name: 'Two', rows: rowsOf(second) }, ...more] });
}

const ALL = { input: { sheet: '*' }, operations: [] };

t.test('columns in another order are matched by their names', async (t) => {
  const input = stacked('id amount note/1 10 a/2 20 b', 'note id amount/c 3 30/d 4 40', 'id amount note/5 50 e');
  for (const rows of [1, 2, 4096]) {
    const { text } = await applyTemplate(ALL, input, rows);
    t.equal(text, 'id,amount,note\n1,10,a\n2,20,b\n3,30,c\n4,40,d\n5,50,e\n');
  }
});

t.test('cells beyond the header are counted in such sheets as well', async (t) => {
  const rows = Array.from({ length: 700 }, (_, row) => `/${row} x`).join('');
  const { text, outcome } = await applyTemplate(ALL, stacked('a b/1 y', `b a${rows}/8 z more`));
  t.match(text, /^a,b\n1,y\nx,0\n/);
  t.match(text, /\nz,8\n$/);
  t.strictSame(outcome.report.input.errors, { RAGGED_ROW: { count: 1, rows: [702] } });
});

t.test('hidden columns are left out before columns are matched', async (t) => {
  const second = `<cols><col min="1" max="1" hidden="1"/></cols><sheetData>${rowsOf('secret b a/9 y 2')}</sheetData>`;
  const hidden = workbookOf({ sheet: sheetOf(second), moreSheets: [{ name: 'Two', rows: rowsOf('a b/1 x') }] });
  const { text } = await applyTemplate({ input: { sheet: '*', hidden: 'skip' }, operations: [] }, hidden);
  t.equal(text, 'b,a\ny,2\nx,1\n');
});

function sheetOf(content: string): string {
  return `<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">${content}</worksheet>`;
}

t.test('other columns, and columns without a single name, are refused', async (t) => {
  for (const [second, shown] of [
    ['id total/3 30', /^Sheet 2 has a different header than the first .* in any order/],
    ['amount id extra/30 3 x', /^Sheet 2 has a different header/],
    ['amount/30', /^Sheet 2 has a different header/],
  ] as const) {
    const { outcome } = await applyTemplate(ALL, stacked('id amount/1 10', second));
    t.equal(outcome.failure?.code, 'TEMPLATE_COLUMNS_MISSING');
    t.match(outcome.failure?.message, shown);
  }
  const twice = await applyTemplate(ALL, stacked('id id amount/1 2 10', 'amount id id/30 3 4'));
  t.equal(twice.outcome.failure?.code, 'TEMPLATE_COLUMNS_MISSING');
});

t.test('columns that the Template does not take may differ', async (t) => {
  const columns = [{ name: 'id' }, { name: 'amount' }];
  const template = { input: { sheet: '*', columns, other_columns: 'drop' }, operations: [] };
  const input = stacked('old id amount/x 1 10', 'amount note id/30 y 3', 'id amount/4 40');
  t.equal((await applyTemplate(template, input)).text, 'id,amount\n1,10\n3,30\n4,40\n');
  const named = { ...template, input: { ...template.input, sheet_into: 'month' } };
  t.equal((await applyTemplate(named, input)).text, 'id,amount,month\n1,10,One\n3,30,Two\n4,40,Three\n');
  const lacks = await applyTemplate(template, stacked('id amount/1 10', 'id note/3 y'));
  t.equal(lacks.outcome.failure?.code, 'TEMPLATE_COLUMNS_MISSING');
  const optional = {
    ...template,
    input: { ...template.input, columns: [...columns, { name: 'note', required: false }] },
  };
  const later = await applyTemplate(optional, stacked('id amount/1 10 x', 'amount id/30 3 z', 'id amount note/5 50 y'));
  t.equal(later.text, 'id,amount,note\n1,10,\n3,30,\n5,50,y\n', 'cells beyond a header belong to no column');
  const late = await applyTemplate(optional, stacked('id amount/1 10', `id amount${'/3 30'.repeat(700)}/4 40 z`));
  t.match(late.text, /\n4,40,\n$/);
  t.strictSame(late.outcome.report.input.errors, { RAGGED_ROW: { count: 1, rows: [702] } });
});

t.test('merged cells and another order: the message names both', async (t) => {
  const second = `<sheetData>${rowsOf('b a/9 y/8 z')}</sheetData><mergeCells><mergeCell ref="B2:B3"/></mergeCells>`;
  const input = workbookOf({ sheet: sheetOf(second), moreSheets: [{ name: 'Two', rows: rowsOf('a b/1 x') }] });
  const template = (merged: string) => ({ input: { sheet: ['Two', 'One'], merged }, operations: [] });
  t.equal((await applyTemplate(template('first'), input)).text, 'a,b\n1,x\ny,9\nz,8\n');
  const { outcome } = await applyTemplate(template('fill'), input);
  t.equal(outcome.failure?.code, 'TEMPLATE_COLUMNS_MISSING');
  t.match(outcome.failure?.message, /merged cells, and its columns are in a different order.*merged: fill/);
});

t.test('a column of the file with the name of the column for the sheet is refused', async (t) => {
  const template = { input: { sheet: '*', sheet_into: 'month' }, operations: [] };
  for (const input of [stacked('id month/1 x', 'id month/2 y'), 'id,Month\n1,x\n', '[{"id":1,"month":2}]']) {
    const { outcome } = await applyTemplate(template, input);
    t.equal(outcome.failure?.code, 'TEMPLATE_COLUMNS_MISSING');
    t.match(outcome.failure?.message, /column with the name in input\.sheet_into/);
  }
  t.equal((await applyTemplate(template, '[]')).text, 'month\n', 'a file without sheets and without rows');
});
