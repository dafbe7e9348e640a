// Rows that operations reject: valid and rejected rows are separated, and no row is lost, for all batch sizes and for inputs that
// end early.
import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';
import { workbookOf } from '../workers/input/xlsx/workbook-writer.ts';

const BATCH_ROWS = [1, 2, 3, 4096];

/** Output and rejected rows. Checks that they are the same for all batch sizes. */
async function divided(
  operations: readonly object[],
  input: string | Uint8Array,
  more: {
    readonly template?: object;
    readonly tables?: Readonly<Record<string, string>>;
    readonly spills?: boolean;
  } = {},
): Promise<{ text: string | null; rejects: string | null; report: unknown }> {
  const made = [];
  for (const rows of BATCH_ROWS) {
    const { text, outcome } = await applyTemplate({ operations, ...more.template }, input, rows, more.tables, {
      spills: more.spills ?? false,
    });
    const { rejects, report, failure } = outcome;
    if (failure !== null) throw new Error(failure.message);
    const bytes = rejects?.bytes ?? null;
    made.push({ text, rejects: bytes === null ? null : Buffer.from(bytes).toString(), report: report.rejects });
  }
  const [first] = made;
  for (const other of made) if (JSON.stringify(other) !== JSON.stringify(first)) throw new Error(JSON.stringify(made));
  return first!;
}

const HEAD = '_row,_operation,_column,_code';
/** The last column, which holds the cells beyond the header. */
const EXTRA = '_extra';

test('each with its row, operation, column and code, and its cells at that operation', async (t) => {
  const { text, rejects, report } = await divided(
    [
      { op: 'text', columns: 'name', steps: ['upper'] },
      { op: 'parse_number', columns: ['n', 'm'], on_error: 'reject', id: 'amounts' },
      { op: 'filter', where: 'n < 100d' },
      { op: 'set', columns: { q: '1d / m' }, on_error: 'reject' },
    ],
    'name,n,m\na,1,2\nb,x,y\n"c, ""d""",1,0\ne,,1\nf,200,1\n=g,z,\n',
  );
  t.equal(text, 'name,n,m,q\nA,1,2,0.5\n');
  const lines = [
    `${HEAD},name,n,m`,
    '2,2 parse_number (amounts),n,NOT_A_NUMBER,B,x,y',
    "6,2 parse_number (amounts),n,NOT_A_NUMBER,'=G,z,",
    '3,4 set,q,EXPR_DIV_ZERO,"C, ""D""",1,0',
    '',
  ];
  t.equal(rejects, lines.join('\n'));
  t.same(report, { rows: 3, size_bytes: lines.join('\n').length });
});

test('a column that is called as one of the head is found apart', async (t) => {
  const operations = [{ op: 'parse_number', columns: 'n', on_error: 'reject' }];
  const { rejects } = await divided(operations, 'n,_row,_code,_code_2\nx,7,8,9\n');
  t.equal(rejects, `${HEAD},n,_row_2,_code_3,_code_2\n1,1 parse_number,n,NOT_A_NUMBER,x,7,8,9\n`);
});

test('rows after the end of a slice or of stop_when never reach earlier operations', async (t) => {
  const parse = { op: 'parse_number', columns: 'n', on_error: 'reject' };
  const input = 'n\n1\nx\n2\ny\n3\nz\nend\n';
  const sliced = await divided([parse, { op: 'slice', limit: 2 }], input);
  t.same([sliced.text, sliced.rejects], ['n\n1\n2\n', `${HEAD},n\n2,1 parse_number,n,NOT_A_NUMBER,x\n`]);
  const stop = { op: 'stop_when', where: 'n == 3d' };
  const stopped = await divided(
    [parse, stop, { op: 'set', columns: { m: '1d / (n - 2d)' }, on_error: 'reject' }],
    input,
  );
  t.equal(stopped.text, 'n,m\n1,-1\n');
  const lines = ['2,1 parse_number,n,NOT_A_NUMBER,x', '4,1 parse_number,n,NOT_A_NUMBER,y', '3,3 set,m,EXPR_DIV_ZERO,2'];
  t.equal(stopped.rejects, `${HEAD},n\n${lines.join('\n')}\n`);
});

test('of joins, rules, sorted rows and typed columns; columns that went have no cells', async (t) => {
  const rules = [{ column: 'day', check: 'min', min: '2026-01-02', on_error: 'reject' }];
  const { text, rejects } = await divided(
    [
      { op: 'join', table: 'known', on: ['id'], on_missing: 'error', on_error: 'reject' },
      { op: 'parse_date', columns: 'day', formats: ['dd.MM.yyyy'], on_error: 'reject' },
      { op: 'sort', by: [{ column: 'id', order: 'desc' }] },
      { op: 'drop', columns: 'x' },
      { op: 'validate', rules, on_error: 'fail' },
    ],
    'id,day,x\n1,01.01.2026,a\n2,02.01.2026,b\n3,03.01.2026,c\n4,1.1.2026,d\n9,09.01.2026,e\n5,01.01.2026,f\n',
    {
      template: { tables: { known: { ref: 'known' } } },
      tables: { known: 'id,name\n1,one\n2,two\n3,three\n4,four\n5,five\n' },
    },
  );
  t.equal(text, 'id,day,name\n3,2026-01-03,three\n2,2026-01-02,two\n');
  const lines = [
    `${HEAD},id,day,x,name`,
    '5,1 join,id,LOOKUP_MISS,9,09.01.2026,e,',
    '4,2 parse_date,day,NOT_A_DATE,4,1.1.2026,d,four',
    '6,5 validate,day,OUT_OF_RANGE,5,2026-01-01,,five',
    '1,5 validate,day,OUT_OF_RANGE,1,2026-01-01,,one',
  ];
  t.equal(rejects, `${lines.join('\n')}\n`);
});

test('more rejected rows than memory holds, and no rejected rows', async (t) => {
  const rows = Array.from({ length: 4_500 }, (_, row) => `${row % 3 === 0 ? row : 'none'},${'x'.repeat(20)}`);
  const parse = { op: 'parse_number', columns: 'n', on_error: 'reject' };
  const { text, rejects, report } = await divided([parse, { op: 'slice', skip: 1 }], `n,x\n${rows.join('\n')}\n`);
  t.equal(text!.split('\n').length, 1_501);
  t.match(report, { rows: 3_000 });
  const lines = rejects!.split('\n').slice(1, -1);
  const told = lines.map((line) => Number(line.split(',')[0]));
  t.ok(
    told.every((row, index) => row === Math.floor(index / 2) * 3 + 2 + (index % 2)),
    'all of them, in their order',
  );
  t.equal((await divided([parse], 'n\n1\n')).rejects, `${HEAD},n\n`);
  t.equal((await divided([{ ...parse, on_error: 'drop_row' }], 'n\nx\n')).rejects, null);
  const failing = [parse, { ...parse, columns: 'm', on_error: 'fail' }];
  const { outcome } = await applyTemplate({ operations: failing }, 'n,m\nx,1\n1,x\n');
  t.same([outcome.failure?.code, outcome.rejects], ['TEMPLATE_ROW_ERROR', null]);
});

test('rejected by the defaults, including cells that the output cannot hold', async (t) => {
  const template = { defaults: { on_error: 'reject', max_errors: 5 }, output: { format: 'xlsx' } };
  const { outcome } = await applyTemplate({ ...template, operations: [] }, `a,b\n1,${'y'.repeat(40_000)}\n2,z\n`);
  t.equal(outcome.rowsWritten, 1);
  const rejects = Buffer.from(outcome.rejects!.bytes!).toString();
  t.match(rejects, /^_row,_operation,_column,_code,a,b,_extra\n1,output,,TOO_LONG,1,y+,\n$/);
});

test('rows with too few or too many fields, where the Template rejects them', async (t) => {
  const input = 'id,street,n\n1,Main St,5\n2,Elm, Apt 4,6\n3\n4,Oak,7,\n5,Ash,8\n';
  const long = '2,input,,RAGGED_ROW,2,Elm, Apt 4,6';
  const all = await divided([], input, { template: { input: { csv: { ragged: 'reject' } } } });
  t.equal(all.text, 'id,street,n\n1,Main St,5\n4,Oak,7\n5,Ash,8\n');
  t.equal(all.rejects, `${HEAD},id,street,n,${EXTRA}\n${long}\n3,input,,SHORT_ROW,3,,,\n`);
  const byDefault = await divided([], input, { template: { defaults: { on_error: 'reject' } } });
  t.equal(byDefault.text, 'id,street,n\n1,Main St,5\n3,,\n4,Oak,7\n5,Ash,8\n', 'those alone that would lose cells');
  t.equal(byDefault.rejects, `${HEAD},id,street,n,${EXTRA}\n${long}\n`);
  const padded = await divided([], input, {
    template: { defaults: { on_error: 'reject' }, input: { csv: { ragged: 'pad' } } },
  });
  t.equal(padded.rejects, null);
});

test('with a delimiter that is not ASCII, fixed columns, and rows that end early', async (t) => {
  const reject = { ragged: 'reject' };
  const other = await divided([], 'a¦b\n1¦2¦3\n4¦5\n6\n', {
    template: { input: { csv: { ...reject, delimiter: '¦' } } },
  });
  t.equal(other.text, 'a,b\n4,5\n');
  t.equal(other.rejects, `${HEAD},a,b,${EXTRA}\n1,input,,RAGGED_ROW,1,2,3\n3,input,,SHORT_ROW,6,,\n`);
  const columns = [{ name: 'a', start: 1, length: 2 }];
  const fixed = await divided([], '12\n345\n6\n', { template: { input: { fixed: { columns }, csv: reject } } });
  t.equal(fixed.text, 'a\n12\n6\n');
  t.equal(fixed.rejects, `${HEAD},a,${EXTRA}\n2,input,,RAGGED_ROW,34,5\n`);
  const sliced = await divided([{ op: 'slice', limit: 2 }], 'a,b\n1,2,3\n4,5\n6,7\n8\n9,9\n', {
    template: { input: { csv: reject } },
  });
  t.equal(sliced.text, 'a,b\n4,5\n6,7\n');
  t.equal(sliced.rejects, `${HEAD},a,b,${EXTRA}\n1,input,,RAGGED_ROW,1,2,3\n`, 'no row after the last one');
});

test('cells beyond the header, as written in the file', async (t) => {
  const template = { input: { csv: { ragged: 'reject' } } };
  const input = 'a,b\r\n1,2,"x, ""y""",\r\n3,4\r\n5,"6\n6",é,,z\r\n\r\n7,8,9';
  const comma = await divided([], input, { template });
  t.equal(comma.text, 'a,b\n3,4\n');
  const lines = [
    `${HEAD},a,b,${EXTRA}`,
    '1,input,,RAGGED_ROW,1,2,"""x, """"y"""""","',
    '3,input,,RAGGED_ROW,5,"6\n6","é,,z"',
    '4,input,,RAGGED_ROW,7,8,9',
    '',
  ];
  t.equal(comma.rejects, lines.join('\n'));
  const bars = await divided([], 'a||b\n1||2||"x||y"||z\n3||4\n', {
    template: { input: { csv: { ragged: 'reject', delimiter: '||' } } },
  });
  t.equal(bars.rejects, `${HEAD},a,b,${EXTRA}\n1,input,,RAGGED_ROW,1,2,"""x||y""||z"\n`);
  const named = await divided([], 'a,_extra\n1,2,3\n4,5\n6,7\n', { template });
  t.equal(named.rejects, `${HEAD},a,_extra_2,${EXTRA}\n1,input,,RAGGED_ROW,1,2,3\n`, 'a column of the same name');
});

test('lists of JSON with too few or too many values', async (t) => {
  const input = '[["a", "b"], [1, 2, 3 , "x,y" ], [4, 5], [6], [7, 8, null, ""], [], [9, 10, [1, 2]]]';
  const padded = await applyTemplate({ operations: [] }, input);
  t.equal(padded.text, 'a,b\n1,2\n4,5\n6,\n7,8\n,\n9,10\n');
  t.strictSame(padded.outcome.report.input.errors, {
    RAGGED_ROW: { count: 2, rows: [1, 6] },
    SHORT_ROW: { count: 2, rows: [3, 5] },
  });
  const all = await divided([], input, { template: { input: { csv: { ragged: 'reject' } } } });
  t.equal(all.text, 'a,b\n4,5\n7,8\n');
  const first = '1,input,,RAGGED_ROW,1,2,"3 , ""x,y"""';
  const last = '6,input,,RAGGED_ROW,9,10,"[1, 2]"';
  const lines = [`${HEAD},a,b,${EXTRA}`, first, '3,input,,SHORT_ROW,6,,', '5,input,,SHORT_ROW,,,', last, ''];
  t.equal(all.rejects, lines.join('\n'));
  const byDefault = await divided([], input, { template: { defaults: { on_error: 'reject' } } });
  t.equal(byDefault.rejects, [`${HEAD},a,b,${EXTRA}`, first, last, ''].join('\n'), 'those alone that would lose cells');
  for (const [refused, row] of [
    ['[["a","b"],[1,2],[3,4,5]]', 2],
    ['[["a","b"],[1],[3,4]]', 1],
  ] as const) {
    const { outcome } = await applyTemplate({ input: { csv: { ragged: 'fail' } }, operations: [] }, refused);
    t.equal(outcome.failure?.code, 'MALFORMED_FILE');
    t.match(outcome.failure?.message, `row ${row} `);
  }
});

test('rows of a workbook with cells beyond the header', async (t) => {
  const cells = (...texts: string[]): string =>
    `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;
  const plain = Array.from({ length: 700 }, (_, row) => cells(String(row), 'x')).join('');
  const rows = `${cells('a', 'b')}${plain}${cells('L', 'y', '', 'note', 'more')}${cells('M', 'z')}`;
  const input = workbookOf({ rows });
  const padded = await applyTemplate({ operations: [] }, input);
  t.match(padded.text, /\nL,y\nM,z\n$/);
  t.strictSame(padded.outcome.report.input.errors, { RAGGED_ROW: { count: 1, rows: [701] } });
  for (const template of [{ input: { csv: { ragged: 'reject' } } }, { defaults: { on_error: 'reject' } }]) {
    const { text, rejects } = await divided([], input, { template });
    t.match(text, /\n699,x\nM,z\n$/);
    t.equal(rejects, `${HEAD},a,b,${EXTRA}\n701,input,,RAGGED_ROW,L,y,note\tmore\n`);
  }
  const { outcome } = await applyTemplate({ input: { csv: { ragged: 'fail' } }, operations: [] }, input);
  t.equal(outcome.failure?.code, 'MALFORMED_FILE');
});
