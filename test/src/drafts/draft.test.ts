// `template draft`: active lines, suggestions in comments, and that the active lines lose or change no cell.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import t, { type Test, test } from 'tap';
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import { partOf } from '../../sweep.ts';
import { cli, cliOnTerminal } from '../commands/command-line.ts';
import { isCanonical, proveOn, withEngine } from './draft-proof.ts';
import { drafted } from './drafted.ts';

/** For a thousand and more files of others, in milliseconds: on a slow machine they take four minutes. */
const CORPORA_MILLISECONDS_MAX = 900_000;
t.setTimeout(CORPORA_MILLISECONDS_MAX);

test('usage', async (t) => {
  t.match(await cli('template', 'draft'), { status: 2, stderr: /one sample file/ });
  t.match(await cli('template', 'draft', 'nowhere.csv'), { status: 1, stderr: /does not exist/ });
  const folder = t.testdir({ 'empty.csv': '' });
  t.match(await cli('template', 'draft', join(folder, 'empty.csv')), {
    status: 1,
    stdout: '',
    stderr: /cannot be read/,
  });
});

test('names, blanks, dates and numbers with their evidence', async (t) => {
  const lines = await drafted(
    t,
    'Buchungstag;Betrag (€);Name;PLZ\n03.10.2026;1.234,50; Ada ;01067\n;;;\n14.10.2026;-5,00;Bob;80331\n' +
      'Buchungstag;Betrag (€);Name;PLZ\n01.11.2026;7;Cy;10115\n',
  );
  for (const line of [
    '- {name: buchungstag, match: [Buchungstag]}  # 3 cells, 3 distinct',
    '- {name: betrag_eur, match: ["Betrag (€)"]}  # 3 cells, 3 distinct',
    '- {text: {columns: name, steps: [trim]}}  # 1 cell with spaces at the start or end',
    '- {drop_repeated_headers: {}}  # 1 row that repeats the header',
    '- {drop_blank_rows: {}}  # 1 row without a filled cell',
    '- {parse_date: {columns: buchungstag, formats: ["dd.MM.yyyy"]}}  # 3 of 3 read; 1 excludes MM.dd.yyyy',
    '- {parse_number: {columns: betrag_eur, decimal: ",", grouping: "."}}  # 3 of 3 read; 2 prove the comma',
  ]) {
    t.ok(lines.includes(line), line);
  }
  t.notOk(
    lines.some((line) => /parse_number.*plz/.test(line)),
    'a leading zero makes no number',
  );
});

test('columns with the same evidence are named together', async (t) => {
  const same = await drafted(t, 'id,net,gross\nx,"1,50","2,50"\ny,"3,50","4,50"\n');
  const evidence = '2 of 2 read; 2 prove the comma';
  t.ok(
    same.some((line) => line.includes('parse_number: {columns: [net, gross]') && line.endsWith(`# each: ${evidence}`)),
  );
  const mixed = await drafted(t, 'id,net,tax,gross\nx,"1,50","1,50","2,50"\ny,"3,50",,"4,50"\n');
  t.ok(mixed.some((line) => line.endsWith(`# net, gross: ${evidence}; tax: 1 of 1 read; 1 proves the comma`)));
});

test('a progress line on a terminal, which is removed', async (t) => {
  const folder = t.testdir({ 'sample.csv': 'a,b\n1,2\n', 'empty.csv': '' });
  const progress = '(?:\\r\\u001b\\[K.*: being drafted, \\d+ s|\\r\\u001b\\[K)*';
  const [sample, empty] = [join(folder, 'sample.csv'), join(folder, 'empty.csv')];
  const draft = await cliOnTerminal({ NO_COLOR: '1' }, 'template', 'draft', sample);
  t.equal(draft.status, 0);
  t.match(draft.stderr, new RegExp(`^${progress}$`));
  t.equal(draft.stdout, (await cli('template', 'draft', sample)).stdout, 'the same draft as without a terminal');
  const refused = await cliOnTerminal({ NO_COLOR: '1' }, 'template', 'draft', empty);
  t.equal(refused.status, 1);
  t.match(refused.stderr, new RegExp(`^${progress}The file cannot be read: .*\\n$`));
});

test('a table beside a cover sheet, and records inside of objects, are found', async (t) => {
  const book = new ExcelJS.Workbook();
  book.addWorksheet('Cover').addRow(['Report']);
  book.addWorksheet('Small').addRows([
    ['a', 'b'],
    [1, 2],
    [3, 4],
  ]);
  const folder = t.testdir({});
  const path = join(folder, 'report.xlsx');
  book.addWorksheet("Year's 2026").addRows([['city', 'sum'], ...[1, 2, 3, 4].map((sum) => ['Kiel', sum])]);
  await book.xlsx.writeFile(path);
  t.match(await cli('template', 'draft', path), {
    status: 0,
    stdout: /^ {2}sheet: "Year's 2026" {2}# the largest visible sheet$/m,
  });
  const orders = [1, 2, 3].map((id) => ({ id, to: { city: 'Oslo' } }));
  const nested = { meta: { page: 1, notes: [{ a: 1 }, { a: 2 }] }, 'a/b': { orders } };
  const lines = await drafted(t, JSON.stringify(nested), 'orders.json');
  t.ok(
    lines.includes('json: {"records":"/a~1b/orders","flatten":"."}  # the longest list of records'),
    lines.join('\n'),
  );
  t.ok(
    lines.some((line) => line.startsWith('- {name: to_city, match: ["to.city"]}')),
    'the parts are columns',
  );
  for (const sample of ['[{"a": {"b": 1}}]', '{"a": 1}'])
    t.notOk(
      (await drafted(t, sample, 'small.json')).some((line) => line.startsWith('json:')),
      sample,
    );
});

test('UTF-16 without a byte order mark is declared, and a mark is not', async (t) => {
  const bytes = Buffer.from('id,name\n1,Ann\n2,Bob\n', 'utf16le');
  const draftOf = async (sample: Uint8Array) =>
    await cli('template', 'draft', join(t.testdir({ 'a.csv': sample }), 'a.csv'));
  t.match(await draftOf(bytes), { status: 0, stdout: /^ {4}encoding: utf-16le {2}# .*no byte order mark/m });
  const marked = await draftOf(Buffer.concat([Buffer.from([0xff, 0xfe]), bytes]));
  t.match(marked, { status: 0, stdout: /name: id/ });
  t.notMatch(marked.stdout, /encoding:/);
});

test('what is not proven is offered', async (t) => {
  const lines = await drafted(
    t,
    'day,amount,seen,net,id\n01/02/2026,"1,234",02/01/26,-,1.5\n03/04/2026,"5,678",03/01/26,2.50,2.5\n05/06/2026,"9,012",04/01/26,3.75,3.5\n',
  );
  const offered = (text: RegExp, evidence: RegExp): void => {
    const line = lines.find((one) => text.test(one)) ?? '';
    t.match(line, /^# - /, `${text} is a comment`);
    t.match(line, evidence);
  };
  offered(/parse_date: \{columns: day/, /MM\/dd\/yyyy.*reads them too/);
  offered(/parse_number: \{columns: amount/, /no cell shows whether the point or the comma/);
  offered(/parse_date: \{columns: seen/, /the century is a guess/);
  offered(/parse_number: \{columns: net/, /2 of 3 read/);
  offered(/parse_number: \{columns: id/, /suggests that it is not an amount/);
  t.ok(lines.includes('# null_values: ["","-"]  # 1 cell of 1 column'));
});

test('a column of the same form lends the order of day and month', async (t) => {
  const lines = await drafted(t, 'booked,valued\n01/02/2026,25/02/2026\n03/04/2026,04/04/2026\n');
  t.ok(
    lines.includes(
      '- {parse_date: {columns: [booked, valued], formats: ["dd/MM/yyyy"]}}  # booked: 2 of 2 read; valued proves the order of ' +
        'day and month; valued: 2 of 2 read; 1 excludes MM/dd/yyyy',
    ),
    lines.join('\n'),
  );
});

test('matters of meaning are never active', async (t) => {
  const rows = Array.from(
    { length: 12 },
    (_, at) =>
      `${at % 4 === 0 ? `g${at}` : ''},${at % 2 ? 'yes' : 'no'},${['open', 'paid'][at % 2]},${at}.50,${at % 3 ? 'D' : 'C'}`,
  );
  const lines = await drafted(t, `group,ok,state,amount,side\n${rows.join('\n')}\n${rows.at(-1)}\n`);
  for (const text of [
    '{fill_down: {columns: group',
    '{cast: {columns: {ok: boolean}',
    'check: in, values: [open, paid]',
    '{dedupe:',
    `{set: {columns: {amount: 'side == "D"`,
  ]) {
    t.match(lines.find((line) => line.includes(text)) ?? `no ${text}`, /^# - /);
  }
});

test('each offered line checks when it is taken', async (t) => {
  for (const path of [
    'examples/files/bank-statement.csv',
    'examples/recipes/adyen-settlement/settlement.csv',
    'examples/recipes/shopify-orders/orders.csv',
    'examples/files/price-list.csv',
  ]) {
    const draft = (await cli('template', 'draft', path)).stdout;
    const lines = draft.split('\n');
    const offers = lines.flatMap((line, at) => (/^ *# (?:- \{|[a-z_]+: )/.test(line) ? [at] : []));
    t.ok(offers.length > 2, `${path} has offers`);
    for (const at of offers) {
      const taken = lines.map((line, index) =>
        index === at || /^ *# [a-z]+:$/.test(line) ? line.replace('# ', '') : line,
      );
      // A section without any of the lines is empty, and so are the sections that it opens.
      const text = taken.filter((line, index) => !/^ *[a-z]+:$/.test(line) || hasEntries(taken, index)).join('\n');
      const checked = checkTemplate(text, 'yaml');
      t.strictSame('problems' in checked ? checked.problems : [], [], lines[at] ?? '');
    }
  }
});

function hasEntries(lines: readonly string[], at: number): boolean {
  const indent = /^ */.exec(lines[at]!)![0].length;
  for (const line of lines.slice(at + 1)) {
    if (/^ *#/.test(line)) continue;
    return /^ */.exec(line)![0].length > indent;
  }
  return false;
}

test('what is canonical', async (t) => {
  for (const [before, after] of [
    ['1.234,50', '1234.50'],
    ['(5.00)', '-5.00'],
    ['5,00-', '-5.00'],
    [' a ', 'a'],
    ['31.12.2026', '2026-12-31'],
    ['Dec 31, 2026', '2026-12-31'],
    ['', null],
  ] as const) {
    t.ok(isCanonical(before, after), before);
  }
  for (const [before, after] of [
    ['1.234', '1.2340'],
    ['1,5', '15'],
    ['007', '7'],
    ['5 €', '5'],
    ['a', null],
    ['-', null],
    ['01.02.26', '2026-02-01'],
    ['12%', '12'],
  ] as const) {
    t.notOk(isCanonical(before, after), before);
  }
});

test('no draft of an example loses or changes a cell', async (t) => {
  await prove(t, filesOf('examples/files'), 6);
  await prove(t, filesOf('examples/recipes'), 40);
});

const CORPORA = '../shared/corpora';
const ALL = process.env['TEMPLATE_RUN_ALL_TESTS'] === '1';
const skip = existsSync(CORPORA) ? (ALL ? false : 'with all tests') : `${CORPORA} is not there`;

test('no draft of a file of others loses or changes a cell', { skip, timeout: CORPORA_MILLISECONDS_MAX }, async (t) => {
  const paths = filesOf(CORPORA);
  const chosen = partOf(paths);
  await prove(t, chosen, Math.floor((1_000 * chosen.length) / paths.length));
});

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/heldout\.bin$|\.md$|\.jsonl$|SOURCE\.txt$|\.py$|\.yaml$/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();
}

async function prove(t: Test, paths: readonly string[], draftsMin: number): Promise<void> {
  let proven = 0;
  await withEngine(async (engine) => {
    for (const path of paths) {
      const { draft, problems } = await proveOn(engine, path);
      if (draft !== null) proven++;
      if (problems.length > 0) t.fail(`${path}: ${problems.slice(0, 3).join('; ')}`);
    }
  });
  t.ok(proven >= draftsMin, `${proven} drafts of ${paths.length} files`);
}

test('a column whose cells show no decimal mark follows those of the file', async (t) => {
  const comma = await drafted(t, 'menge\tsumme\n1.000\t1.500,25\n2\t39,98\n', 'comma.tsv');
  t.match(
    comma.join('\n'),
    /# - \{parse_number: \{columns: menge, decimal: ",", grouping: "\."\}\}.*; summe proves the comma/,
    'otherwise 1.000 would become 1',
  );
  const point = await drafted(t, 'm;total\n1,000;"1,500.25"\n2;39.98\n', 'point.csv');
  t.match(point.join('\n'), /# - \{parse_number: \{columns: m, grouping: ","\}\}.*; total proves the point/);
  const both = await drafted(t, 'm;a;b\n1.000;1.5;2,5\n2;2.5;3,5\n', 'both.csv');
  t.notMatch(both.join('\n'), /columns: m,.* proves the/, 'columns that disagree prove nothing');
});

test('numbers and booleans of the file have no list of values', async (t) => {
  const records = Array.from({ length: 8 }, (_, at) => ({
    rank: at % 2,
    kind: at % 2 === 0 ? 'x' : 'z',
    paid: at > 3,
  }));
  const lines = await drafted(t, JSON.stringify(records), 'sample.json');
  t.strictSame(
    lines.filter((line) => line.includes('check: in')),
    ['# - {validate: {rules: [{column: kind, check: in, values: [x, z]}]}}  # 2 distinct values in 8 cells'],
  );
  // In a CSV file, lists of JSON are texts.
  const lists = await drafted(
    t,
    `id,tags\n${Array.from({ length: 8 }, (_, at) => `${at},"[""${at % 2}""]"\n`).join('')}`,
  );
  t.notMatch(lists.join('\n'), /check: in/);
});

test('records of several types are no header and rows', async (t) => {
  const text = (await drafted(t, 'H,2026-10-01,ACME\nD,1,Widget,9.50\nD,2,Gadget,19.50\nT,2,29.00\n')).join('\n');
  t.match(text, /^header_row: "none"/m);
  t.match(text, /^columns: 4 /m);
  t.match(text, /^# - \{filter: .*== "D".*# records of several types: D 2, H 1, T 1; keep one type/m);
  const items = ['Widget,9.50', 'Gadget,19.50', 'Tool,1.50', 'Nail,0.50', 'Screw,0.10', 'Saw,7.00', 'Glue,3.00'];
  const many = `H,2026-10-01,ACME,9\n${items.map((item, at) => `D,${at + 1},${item}\n`).join('')}T,7,41.10\n`;
  const typed = (await drafted(t, many + many.replace('-10-', '-11-'))).join('\n');
  t.match(typed, /records of several types: D 14, H 2, T 2/);
  t.notMatch(typed, /column: column_1, check: in/);
  t.match(text, /sample of 4 rows and 4 columns/);
  t.match(text, /^# Active lines lose no data of the sample\. /m);
  // A table with years as headers is no such file.
  t.match((await drafted(t, 'K,2025,2026\nA,1,2\nA,3,4\nB,5,6\n')).join('\n'), /name: k/);
  // What a Run loses is said.
  const wide = (await drafted(t, 'name,amount\nAda,1\nBob,2,x\nEve,3\n')).join('\n');
  t.match(wide, /lose no data of the sample, except the cells of 1 row beyond the header \(see ragged\)/);
});

test('dates of mails, issue trackers and systems', async (t) => {
  for (const [cell, text] of [
    ['02/Jan/24 9:05 AM', /formats: \["dd\/MMM\/yy h:mm a"\]/],
    ['"Tue, 02 Jan 2024 03:04:05 +0000"', /formats: \["EEE, dd MMM yyyy HH:mm:ss XX"\].*their offsets would be lost/],
    ['2024-01-02T03:04:05.123+01:00', /their offsets would be lost/],
    ['2024-01-02 03:04:05 +0100', /their offsets would be lost/],
    ['1704164645', /# - \{parse_date: \{columns: created_at, epoch: s\}\}/],
    ['1704164645123', /# - \{parse_date: \{columns: created_at, epoch: ms\}\}/],
  ] as const) {
    const lines = await drafted(t, `id,created_at\na,${cell}\nb,${cell}\n`);
    t.match(lines.join('\n'), text, cell);
  }
  const ids = await drafted(t, 'id,number\na,1704164645\nb,1704164646\n');
  t.notMatch(ids.join('\n'), /epoch/, 'the name does not say that it is a time');
});

test('backslash escapes', async (t) => {
  const lines = (await drafted(t, 'id\tname\n1\t\\N\n2\tb\n', 'copy.tsv')).join('\n');
  t.match(lines, /# escape: "\\\\" {2}# cells \\N/);
  t.notMatch(lines, /null_values/);
});

test('a sample that cannot be read without settings is read as a Template says', async (t) => {
  const folder = t.testdir({
    'list.txt': 'List of 2024\n-----\n|Name |Amount |\n-----\n|Ä    | 1,50- |\n|B    | 12,00 |\n',
    'lists.json': '{"a": [{"x": 1}], "b": [{"y": 2}]}',
    'list.yaml': 'input: {csv: {delimiter: "|", header_row: 2}, columns: [other]}\noperations: []\n',
    'lists.yaml': 'input: {json: {records: /b}}\noperations: []\n',
    'wrong.yaml': 'input: {csv: {delimeter: "|"}}\noperations: []\n',
  });
  const draft = (...args: string[]) => cli('template', 'draft', ...args.map((arg) => arg.replace('@', `${folder}/`)));
  t.match(await draft('@lists.json'), { status: 1, stderr: /input\.json\.records.*Then draft with --template FILE/ });
  const list = await draft('--template', '@list.yaml', '@list.txt');
  t.match(list.stdout, /\n {2}csv:\n {4}delimiter: "\|" {2}# declared for the sample\n {4}header_row: 2 {2}#/);
  t.match(list.stdout, /\n {2}- \{parse_number: \{columns: amount, decimal: ","/);
  t.notMatch(list.stdout, /name: other/, 'the columns are those of the sample');
  t.notOk('problems' in checkTemplate(list.stdout, 'yaml'));
  const lists = await draft('--template', '@lists.yaml', '@lists.json');
  t.match(lists.stdout, /\n {2}json: \{"records":"\/b"\}/);
  t.match(lists.stdout, /- \{name: "y"\}/);
  t.match(await draft('--template', '@wrong.yaml', '@list.txt'), { status: 1, stdout: '', stderr: /delimeter/ });
});
