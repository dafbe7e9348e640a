// Total rows at the end of a sample: where the table ends, and the check of their amounts.
// With all tests only: a process of the command line for each case.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { cli } from '../commands/command-line.ts';
import { drafted } from './drafted.ts';

test('a sum at the foot is checked where it is the sum, in this file and in others', async (t) => {
  const file = (total: string): string => `text;amount\na;1.234,50\nb;-4,25\nTotal;${total}\n`;
  const right = await drafted(t, file('1.230,25'));
  t.ok(
    right.some((line) => line.startsWith(`- {stop_when: {where: 'text == "Total"'}}`)),
    right.join('\n'),
  );
  t.ok(right.some((line) => line.startsWith('- {check_totals:')));
  const folder = t.testdir({ 'draft.yaml': right.join('\n') });
  // The lines lost their indents above.
  const path = join(folder, 'right.csv');
  writeFileSync(path, file('1.230,25'));
  writeFileSync(join(folder, 'draft.yaml'), (await cli('template', 'draft', path)).stdout);
  const run = (name: string): ReturnType<typeof cli> =>
    cli('run', join(folder, 'draft.yaml'), join(folder, name), '-o', join(folder, 'out.csv'));
  writeFileSync(join(folder, 'other.csv'), 'text;amount\nc;10,00\nTotal;10,00\n');
  writeFileSync(join(folder, 'wrong.csv'), file('1.230,26'));
  t.match(await run('other.csv'), { status: 0 });
  t.match(await run('wrong.csv'), { status: 1, stderr: /TEMPLATE_CHECK_FAILED/ });
  const wrong = await drafted(t, file('1.230,26'));
  t.ok(
    wrong.some((line) => line.startsWith(`# - {stop_when:`)),
    'another amount is a row like others, for all one knows',
  );
  t.notOk(wrong.some((line) => line.includes('check_totals')));
});

test('the last row is no note where its only cell is a cell of the table, too', async (t) => {
  const rows = 'region,product,amount\nNorth,A,1\nSouth,B,2\nEast,C,3\n';
  const stops = async (foot: string): Promise<number> =>
    (await drafted(t, rows + foot)).filter((line) => line.includes('stop_when')).length;
  t.equal(await stops('North,,\n'), 0);
  t.equal(await stops('All of them in EUR,,\n'), 1);
});

test('several sums at the foot are values of one footer', async (t) => {
  const file = 'Name,Kind,Code,Net,Tax\nx,a,b,1.50,0.30\ny,a,b,2.50,0.50\nz,a,b,12.25,2.45\nTotal,,,16.25,3.25\n';
  const lines = await drafted(t, file);
  for (const text of [
    'footer: {total_of_net: {record: 0, field: 4}, total_of_tax: {record: 0, field: 5}}',
    `- {stop_when: {where: 'name == "Total"'}}`,
    '- {check_totals: {checks: [{expr: "sum(`net`) - max(`total_of_net`)", equals: 0}, {expr: "sum(`tax`) - max(`total_of_tax`)", equals: 0}]}}',
    '- {drop: {columns: [total_of_net, total_of_tax]}}',
  ]) {
    t.ok(
      lines.some((line) => line.startsWith(text)),
      `${text}\n${lines.join('\n')}`,
    );
  }
});

test('a sum at the foot is found above blank records', async (t) => {
  for (const [below, record] of [
    [',', 1],
    [',\n', 1],
    ['\n\n', 0],
    [',\n\n , \n', 2],
  ] as const) {
    const lines = await drafted(t, `Name,Amount\nx,1.50\ny,2.50\nz,12.25\nTotal,16.25\n${below}`);
    const text = `footer: {total_of_amount: {record: ${record}, field: 2}}`;
    t.ok(
      lines.some((line) => line.startsWith(text)),
      `${text}\n${lines.join('\n')}`,
    );
    t.ok(lines.some((line) => line.startsWith('- {check_totals:')));
    t.ok(lines.some((line) => line.startsWith('- {stop_when:')));
  }
});

test('a sum has a name of its own whatever its column is called', async (t) => {
  for (const [header, name] of [
    ['Имя,Сумма', 'total_of_column_2'],
    ['Total of Amount,Amount', 'total_of_column_2'],
    ['Name,Amount', 'total_of_amount'],
  ]) {
    const lines = await drafted(t, `${header}\nx,1.50\ny,2.50\nz,12.25\nTotal,16.25\n`);
    t.ok(lines.includes(`- {drop: {columns: ${name}}}  # only the check needed this column`), lines.join('\n'));
    t.ok(lines.some((line) => line.startsWith('- {check_totals:')));
  }
});

test('words for a sum, whole ones in any script', async (t) => {
  for (const [word, isSum] of [
    ['Итого', true],
    ['Total général', true],
    ['Итого:', true],
    ['Итоговый', false],
    ['Totalé', false],
  ]) {
    const lines = await drafted(t, `name,amount\nx,1.50\ny,2.50\nz,12.25\n${word},16.25\n`);
    t.equal(
      lines.some((line) => line.startsWith('- {stop_when:')),
      isSum,
      `${word}`,
    );
  }
});

test('a word for a sum among the rows is no end of them', async (t) => {
  const rows = [
    'Acme,1.50',
    'Total,2.50',
    'Beta,3.25',
    'B,1.00',
    'C,1.00',
    'D,1.00',
    'E,1.00',
    'F,1.00',
    'Total,12.25',
  ];
  const lines = await drafted(t, `Client,Amount\n${rows.join('\n')}\n`);
  t.match(lines.find((line) => line.includes('stop_when')) ?? '', /^# - \{stop_when: .*1 row at the end/);
  t.notOk(
    lines.some((line) => line.includes('total_of_amount')),
    lines.join('\n'),
  );
  // Without a check of amounts the rows alone tell.
  const objects = rows.map((row) => JSON.stringify({ client: row.split(',')[0], amount: row.split(',')[1] }));
  const others = await drafted(t, `${objects.join('\n')}\n`, 'sample.ndjson');
  t.match(others.find((line) => line.includes('stop_when')) ?? '', /^# - .*it would remove 8 rows; 1 row at the end/);
});

test('notes at the foot are no cells of their column, and stay rows until somebody says where the table ends', async (t) => {
  const rows = 'day,account,amount\n2024-03-28,Ada,1.50\n2024-03-29,Bob,2.50\n2024-03-30,Cyd,3.25\n';
  const offered = "# - {stop_when: {where: 'day == \"It''s a report\"'}}";
  for (const notes of [
    "It's a report\n",
    "It's a report,,\n,,\nPrinted by Ada,,\n",
    "\n\nIt's a report\nb\nc\nd\ne\n",
  ]) {
    const lines = await drafted(t, rows + notes);
    t.ok(
      lines.some((line) => line.startsWith(offered)),
      lines.join('\n'),
    );
    t.notOk(lines.some((line) => line.includes('fill_down')));
    t.ok(
      lines.some((line) => line.startsWith('# - {parse_date: {columns: day')),
      'active only where all rows pass',
    );
    const folder = t.testdir({ 'export.csv': rows + notes });
    const path = join(folder, 'export.csv');
    writeFileSync(join(folder, 'draft.yaml'), (await cli('template', 'draft', path)).stdout);
    const { stdout } = await cli('run', join(folder, 'draft.yaml'), path);
    for (const note of notes.split(/[,\n]+/)) t.ok(stdout.includes(note));
  }
});

test('rows of one cell that are the table are no notes', async (t) => {
  for (const file of [
    'a,b,c\nx,1,2\nsix notes\n1\n2\n3\n4\n5\n6\n',
    'a,b,c\nx,,\ny,,\nz,,\n',
    'a,b\nx,1\ny,2\nnote,\n',
    'a,b,c\nonly one,,\n',
  ]) {
    const lines = await drafted(t, file);
    t.notOk(
      lines.some((line) => line.includes('stop_when')),
      lines.join('\n'),
    );
  }
});

test('a total row is found however many of its cells are filled with amounts and currencies', async (t) => {
  for (const file of [
    'Item,Net,Tax,Gross\na,1.50,0.30,1.80\nb,2.50,0.50,3.00\nTotal,4.00,0.80,4.80\n',
    'Item,Amount,Currency\na,1.50,EUR\nb,2.50,EUR\nTotal,4.00,EUR\n',
    'Item,Amount,Currency,Tax\na,1.50,EUR,0.30\nb,2.50,EUR,0.50\nTotal:,4.00,EUR,0.80\n',
  ]) {
    const lines = await drafted(t, file);
    t.ok(
      lines.some((line) => /^- \{stop_when: \{where: 'item == "Total:?"'\}\}/.test(line)),
      lines.join('\n'),
    );
    t.ok(lines.some((line) => line.startsWith('- {check_totals:')));
    t.notOk(
      lines.some((line) => /Total/.test(line) && !/stop_when/.test(line)),
      'the word is not offered as a value',
    );
  }
  const lines = await drafted(
    t,
    'Item,Amount,Place\nTotal Energies,1.50,Paris\nShell,2.50,London\nTotal Energies,4.00,Paris\n',
  );
  t.notOk(
    lines.some((line) => line.includes('stop_when')),
    'a name that begins with the word is data',
  );
});

test('a total is written in another way than the cells above it', async (t) => {
  for (const [file, parameters] of [
    ['name;amount\na;500,25\nb;734,25\nTotal;1.234,50\n', 'decimal: ",", grouping: "."'],
    ['name;amount\na;500,25\nb;734,25\nTotal;1234,50 EUR\n', 'decimal: ",", strip: ["EUR"]'],
    ['name;amount\na;1,50\nb;-4,00\nTotal;(2,50)\n', 'decimal: ",", negative: ["-x", (x)]'],
    ['name,amount\na,1.50\nb,2.50\nTotal,4.00\n', ''],
  ] as const) {
    const lines = await drafted(t, file);
    const columns = ['total_of_amount', parameters].filter((text) => text !== '').join(', ');
    t.ok(
      lines.some((line) => line.startsWith(`- {parse_number: {columns: ${columns}}}`)),
      lines.join('\n'),
    );
    t.ok(lines.some((line) => line.startsWith('- {check_totals:')));
    t.ok(lines.some((line) => line.startsWith('- {stop_when:')));
  }
});

test('a total of a column that the draft leaves as text ends the table, and is not checked', async (t) => {
  for (const [file, name] of [
    ['name;amount;tax\na;5,25 €;1,00\nb;7,25 €;2,50\nTotal;12,50 €;3,50\n', 'sample.csv'],
    ['name,pieces,tax\na,5,1.00\nb,12,2.50\nc,1007,1.50\nTotal,"1,024",5.00\n', 'sample.csv'],
    // The number of rows below a column of text.
    ['name,town,tax\na,Bonn,1.00\nb,Kiel,2.50\nTotal,2,3.50\n', 'sample.csv'],
    ['{"name":"a","tax":1.5}\n{"name":"b","tax":-2.25}\n{"name":"Total","tax":-0.75}\n', 'sample.ndjson'],
  ] as const) {
    const lines = await drafted(t, file, name);
    t.ok(
      lines.some((line) => /^- \{stop_when: .*# 1 row at the end; \d amounts? (?:is|are) the sums? /.test(line)),
      lines.join('\n'),
    );
    t.notOk(lines.some((line) => /total_of_(?:amount|pieces|town)/.test(line)));
    t.equal(
      lines.some((line) => line.includes('sum(`tax`)')),
      name === 'sample.csv',
    );
  }
  const wrong = await drafted(
    t,
    '{"name":"a","tax":1.5}\n{"name":"b","tax":2.25}\n{"name":"Total","tax":3}\n',
    'a.ndjson',
  );
  t.ok(wrong.some((line) => line.startsWith('# - {stop_when:') && line.includes('are not the sums')));
});

const GROUPS = [
  ['North', 'a', '10.50', '1.05'],
  ['North', 'b', '20.25', '2.00'],
  ['Subtotal', '', '30.75', '3.05'],
  ['South', 'a', '5.00', '0.50'],
  ['South', 'b', '7.00', '0.70'],
  ['Subtotal', '', '12.00', '1.20'],
  ['East', 'a', '1.25', '0.10'],
  ['Subtotal', '', '1.25', '0.10'],
  ['East', 'b', '1.25', '0.10'],
  ['North', 'b', '2.25', '0.10'],
  ['Subtotal', '', '3.50', '0.20'],
] as const;

/** Groups with subtotals, in a file with several amounts and a column of currencies. */
function grouped(words: (group: number) => string, last: readonly string[]): string {
  let group = 0;
  const rows = GROUPS.map(([region, ...cells]) =>
    [region === 'Subtotal' ? words(group++) : region, ...cells, 'EUR'].join(','),
  );
  const end = last.map((word) => `${word},,47.50,4.55,EUR\n`);
  return `region,product,amount,tax,currency\n${rows.join('\n')}\n${end.join('')}`;
}

test('subtotals are dropped, and the grand total is checked', async (t) => {
  const names = ['North', 'South', 'East', 'Rest'];
  for (const [words, last, filter, stop] of [
    [() => 'Subtotal', ['Grand total'], 'region == "Subtotal"', 'region == "Grand total"'],
    [(group) => `Total ${names[group]}`, ['Total'], 'region.startsWith("Total ")', 'region == "Total"'],
    [(group) => `Sous-total ${names[group]}`, ['Total'], 'region.startsWith("Sous-total ")', 'region == "Total"'],
    [(group) => `${names[group]} Total`, ['Grand Total'], 'region.endsWith(" Total")', 'region == "Grand Total"'],
    [() => 'Total', ['Total'], 'region == "Total"', null],
    [() => 'Summe', [], 'region == "Summe"', null],
  ] as readonly (readonly [(group: number) => string, readonly string[], string, string | null])[]) {
    const lines = await drafted(t, grouped(words, last));
    const text = lines.join('\n');
    t.match(
      lines.find((line) => line.startsWith(`- {filter: {where: '${filter}', mode: drop}}`)) ?? text,
      /their amounts are the sums of rows above them$/,
    );
    t.equal(
      lines.find((line) => line.includes('stop_when'))?.split('  #')[0],
      stop === null ? undefined : `- {stop_when: {where: '${stop}'}}`,
    );
    t.equal(text.includes('- {check_totals: {checks: [{expr: "sum(`amount`)'), last.length > 0, text);
    t.ok(lines.some((line) => line.startsWith('- {parse_number: {columns: [amount, tax]}}')));
    t.notMatch(text, /not the sums/);
    t.notMatch(text, /values: \[.*(?:otal|Summe)/);
  }
});

test('totals of totals are subtotals, too', async (t) => {
  const rows =
    'N,a,1.50\nN,b,2.25\nTotal a,,3.75\nN,c,1.00\nTotal c,,1.00\nTotal N,,4.75\nS,d,2.00\nTotal d,,2.00\nTotal S,,2.00\n';
  const lines = await drafted(t, `region,city,amount\n${rows}Grand total,,6.75\n`);
  t.match(
    lines.find((line) => line.startsWith('- {filter:')) ?? lines.join('\n'),
    /region.startsWith\("Total "\).*# 5 rows with a word for a total; their amounts are the sums/,
  );
  t.ok(lines.some((line) => line.startsWith('- {check_totals:')));
});

test('a subtotal that is no sum makes the filter a suggestion, and rows with a word alone are rows', async (t) => {
  const wrong = grouped(() => 'Subtotal', ['Grand total']).replace('12.00,1.20', '12.01,1.20');
  const offered = await drafted(t, wrong);
  t.notOk(offered.some((line) => line.startsWith('- {filter:')));
  const more = grouped(() => 'Subtotal', []).replace('3.50,0.20', '3.51,0.20');
  const lines = await drafted(t, `${more}South,c,1.00,0.10,EUR\nSubtotal,,1.00,0.10,EUR\n`);
  t.match(
    lines.find((line) => line.includes('{filter:')) ?? lines.join('\n'),
    /^# - .*5 rows with a word for a total; the amounts of 4 rows are the sums of rows above them/,
  );
});

test('a total of whole numbers in groups is their sum', async (t) => {
  for (const [space, cells] of [
    ['space', ['1 228', '694', '2 419']],
    ['no-break space', ['1\u00a0228', '694', '2\u00a0419']],
    ['narrow no-break space', ['1\u202f228', '694', '2\u202f419']],
    ['point', ['1.228', '1.694', '1.419']],
  ] as const) {
    const mark = /\D/.exec(cells[0])![0];
    const total = cells.reduce((sum, cell) => sum + Number(cell.replace(mark, '')), 0);
    const grouped = String(total).replace(/(?=\d{3}$)/, mark);
    const lines = await drafted(
      t,
      `district,voters\n${cells.map((cell) => `North,${cell}\n`).join('')}Total,${grouped}\n`,
    );
    const stop = lines.find((line) => line.includes('stop_when')) ?? '';
    t.match(stop, /^- \{stop_when: .*1 row at the end; 1 amount is the sum of the cells above$/, space);
  }
});
