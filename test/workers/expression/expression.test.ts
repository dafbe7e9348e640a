// Tests our additions to CEL against docs/reference/expressions.md: columns, decimals, nulls, functions, messages; and hostile
// expressions.
import { test } from 'tap';
import { checkExpression } from '../../../workers/expression/check/checker.ts';
import { ENVIRONMENT, holds, ROW, run } from './row-case.ts';

holds('columns', [
  ['status', 'paid'],
  ['row.status == "paid"', 'true'],
  ['row["Invoice No"]', 'R-0007'],
  ['`Invoice No`.startsWith("R-")', 'true'],
  ['row["value"]', 'own'],
  ['`value`', 'own'],
  ['__proto__ + constructor', 'protomade'],
  ['row["__proto__"]', 'proto'],
  ['größe + 1', '10'],
  ['date', '2024-05-06'],
  ['date(date) + duration("1s") == null', '!+ does not take date and duration.'],
  ['has(row.status)', 'true'],
  ['has(row.missing)', 'false'],
  ['row.?missing.orValue("none")', 'none'],
  ['row.?quantity.orValue(1)', '3'],
  ['run.row + 1', '43'],
  ['string(run.started_at)', '2024-03-01T08:00:00Z'],
  ['{"__proto__": 1, "constructor": 2}.constructor', '2'],
  ['{}.?__proto__.hasValue()', 'false'],
  ['"toString" in {"a": 1}', 'false'],
]);

holds('decimals', [
  ['1.20d', '1.20'],
  ['amount * 2', '24.60'],
  ['amount * 1.19', '14.6370'],
  ['amount * 1.1 + 0.005', '13.535'],
  ['amount + quantity', '15.30'],
  ['-amount', '-12.30'],
  ['amount - amount', '0.00'],
  ['amount / 4', '3.075'],
  ['1d / 3', '0.3333333333'],
  ['amount / 0', '#EXPR_DIV_ZERO'],
  ['amount % 5', '2.30'],
  ['amount > 12.3', 'false'],
  ['amount >= 12.3', 'true'],
  ['amount == 12.3', 'true'],
  ['amount in [12.3, 1.0]', 'true'],
  ['decimal("0.10") + decimal("0.20") == 0.3', 'true'],
  ['decimal("1e3")', '1000'],
  ['decimal("x")', '#NOT_A_NUMBER'],
  ['score * amount', '!* does not take double and decimal. Write decimal(...) around the double.'],
  ['decimal(score) * amount', '18.450'],
  ['99999999999999999999.99d + 0.01d', '100000000000000000000.00'],
  ['type(amount) == decimal', 'true'],
  ['paid ? amount : 0', '12.30'],
  ['paid ? 0 : amount', '0'],
  ['coalesce(amount, 0.00)', '12.30'],
  ['round(amount * tax, 2)', '2.34'],
  ['round(2.5d)', '3'],
  ['round(2.5d, 0, "half_even")', '2'],
  ['round(-2.5d)', '-3'],
  ['round(1.005, 2)', '1.01'],
  ['round(1234.5d, -2)', '1200'],
  ['round(1.25d, 1, "error")', '#PRECISION_LOSS'],
  ['round(1.25d, 1, "up")', '!The rounding is one of half_even, half_up, down, error.'],
  ['floor(-1.5d)', '-2'],
  ['ceil(-1.5d)', '-1'],
  ['ceil(1.2d)', '2'],
  ['abs(-1.50d)', '1.50'],
  ['min(amount, 5)', '5'],
  ['max(amount, 5, 20.0)', '20.0'],
  ['min(amount, quantity)', '3'],
  ['max(quantity, amount, quantity)', '12.30'],
  ['type(min(quantity, amount)) == decimal', 'true'],
  ['mod(7, 3)', '1'],
  ['int(amount)', '12'],
  ['string(amount)', '12.30'],
  ['quantity * 9007199254740993', '27021597764222979'],
  ['9223372036854775807 + quantity', '#OUT_OF_RANGE'],
]);

holds('null is missing', [
  ['missing', null],
  ['missing + "x"', null],
  ['upper(missing)', null],
  ['missing < "a"', null],
  ['missing == "a"', 'false'],
  ['missing != "a"', 'true'],
  ['missing == null', 'true'],
  ['status != null', 'true'],
  ['missing > "a" || true', 'true'],
  ['missing > "a" || false', null],
  ['missing > "a" && false', 'false'],
  ['missing > "a" && true', null],
  ['!(missing > "a")', null],
  ['missing > "a" ? 1 : 2', '2'],
  ['missing in ["a"]', 'false'],
  ['coalesce(missing, status)', 'paid'],
  ['coalesce(missing, missing)', null],
  ['is_blank(missing) && is_blank("  ") && !is_blank(status)', 'true'],
  ['concat_ws(", ", status, missing, quantity)', 'paid, 3'],
  ['data.a.b', null],
  ['[missing, status].filter(x, x != null).size()', '1'],
  ['[missing].exists(x, x < "a")', null],
  ['status < null', '!< beside null always gives null. Write x == null to ask for it.'],
]);

holds('results become cells', [
  ['18446744073709551615u', '18446744073709551615'],
  ['b"hello"', 'aGVsbG8='],
  ['duration("90m")', '5400s'],
  ['type(1)', 'int'],
  ['optional.of("x")', 'x'],
  ['optional.none()', null],
  ['[1, 2u, 1.5, 1.20d, "x", null, true, b"a", booked]', '[1,2,1.5,1.20,"x",null,true,"YQ==","2024-02-29"]'],
  ['{"a": {"b": [0.0 / 0.0]}, 1: optional.of(2)}', '{"a":{"b":[null]},"1":2}'],
  ['dyn("text")', 'text'],
  ['9007199254740993', '9007199254740993'],
]);

holds('messages say what to write', [
  ['statsu == "x"', '!column "statsu" does not exist at this step. Did you mean "status"?'],
  ['row["Invoice Nr"]', '!column "Invoice Nr" does not exist at this step. Did you mean "Invoice No"?'],
  [
    'value',
    '!value is the current cell, and there is no current cell here. Write row["value"] for the column of this name.',
  ],
  [
    'run',
    '!run is not a value by itself. Write run.row, run.file, run.started_at or run.meta.<name>, or row["run"] for a column.',
  ],
  ['for', '!for is a word of the language. Write row["for"] for a column of this name.'],
  ['status = "x"', '!The character "=" has no meaning here. Write == to compare.'],
  ['uper(status)', '!The function uper does not exist. Did you mean upper?'],
  [
    'status + 1',
    '!+ does not take string and int. Write decimal(...), int(...) or double(...) around the text, or string(...) around the number.',
  ],
  [
    'type == "D"',
    '!== compares type with string, which are never equal. "type" is the name of a type. For a column of this name, write row["type"], or declare it in input.columns.',
  ],
  [
    'list > "2026"',
    '!> does not take type and string. "list" is the name of a type. For a column of this name, write row["list"], or declare it in input.columns.',
  ],
  [
    'upper(type)',
    '!upper takes (string), not (type). "type" is the name of a type. For a column of this name, write row["type"], or declare it in input.columns.',
  ],
  [
    'status == 1',
    '!== compares string with int, which are never equal. Write decimal(...), int(...) or double(...) around the text, or string(...) around the number.',
  ],
  [
    'status in "paid"',
    '!in searches a list or the keys of a map, not string. Write text.contains(part) to search in a text.',
  ],
  ['quantity && true', '!&& joins conditions, but this is int.'],
  ['left(status, "x")', '!left takes (string, int), not (string, string).'],
  ['a + b', '!column "a" does not exist at this step. column "b" does not exist at this step.'],
  [
    'math.abs("x")',
    '!math.abs takes (int) or (uint) or (double), not (string). Write double(...) around a text that is a number.',
  ],
  ['status.', '!Expected a name after the point, but the expression ends.'],
  ['"abc', '!A text that begins with " is not closed.'],
  ['12abc', '!A number is followed by a letter. Put an operator or a space between.'],
  ['Thing{a: 1}', '!Thing{...} is the syntax of a protobuf message, which expressions do not have. Write a map {...}.'],
]);

test('offsets point into the source', async (t) => {
  const checked = checkExpression('status == "paid" && amout > 1', ENVIRONMENT);
  t.match(checked, { problems: [{ code: 'EXPR_UNKNOWN_COLUMN', offset: 20 }] });
});

test('a checked expression says what it reads', async (t) => {
  const read = (source: string) => {
    const checked = checkExpression(source, { ...ENVIRONMENT, value: 'text' });
    if ('problems' in checked) throw new Error(checked.problems[0]!.message);
    const { columns, readsValue, readsRunRow, dependsOnDay, type } = checked.expression;
    return { columns, readsValue, readsRunRow, dependsOnDay, type: type.kind };
  };
  const none = { readsValue: false, readsRunRow: false, dependsOnDay: false };
  t.same(read('row.status == "a" || `Invoice No` == status'), {
    ...none,
    columns: ['status', 'Invoice No'],
    type: 'bool',
  });
  t.same(read('upper(value)'), { ...none, columns: [], readsValue: true, type: 'string' });
  t.same(read('run.started_at > at ? run.row : 0'), {
    columns: ['at'],
    readsValue: false,
    readsRunRow: true,
    dependsOnDay: true,
    type: 'int',
  });
});

test('an error decides nothing when the other side does', async (t) => {
  t.equal(run('int(status) > 1 || paid'), 'true');
  t.equal(run('int(status) > 1 && !paid'), 'false');
  t.equal(run('int(status) > 1 && paid'), '#NOT_A_NUMBER');
  t.equal(run('!paid && int(status) > 1'), 'false');
});

test('hostile expressions are refused or bounded', async (t) => {
  const refused = (source: string) => t.match(run(source), /^!/, source.slice(0, 60));
  refused('('.repeat(4000));
  refused(`${'('.repeat(70)}1${')'.repeat(70)}`);
  refused('['.repeat(2000));
  refused('!'.repeat(4000));
  refused(`${'-'.repeat(200)}1`);
  refused('a?'.repeat(1300));
  refused(`1${'+1'.repeat(1200)}`);
  refused('x'.repeat(5000));
  refused(`${'9'.repeat(4000)}`);
  refused(`1e${'9'.repeat(400)}`);
  refused(`0x${'f'.repeat(4000)}`);
  refused(`status.matches("${'(a{1000}){1000}'}")`);
  refused(`status.matches("${'(((a{50}){50}){50})'}")`);
  refused(`status.matches("${'('.repeat(1500)}${')'.repeat(1500)}")`);
  refused(`status.matches("${'a{500}'.repeat(300)}")`);
  refused('"\\ud800" == status');
  t.equal(run(`1${'+1'.repeat(499)}`), '500', 'a long chain does not overflow the stack');
  t.equal(run(`data${'.a'.repeat(990)}`), null, 'a long path does not overflow the stack');
  t.equal(run(`status${'.trim()'.repeat(490)}`), 'paid');
  t.equal(run(`true${' && paid'.repeat(400)}`), 'true');
  const list = '[1,2,3,4,5,6,7,8,9,10]';
  const nested = (depth: number): string => (depth === 0 ? '1' : `${list}.map(x${depth}, ${nested(depth - 1)})`);
  t.equal(run(`${nested(12)}.size()`), '#TOO_LONG', 'nested comprehensions run out of steps');
  const doubling = (step: string, depth: number): string =>
    depth === 0 ? 'x' : `cel.bind(x, ${step}, ${doubling(step, depth - 1)})`;
  t.equal(run(`cel.bind(x, "ab", ${doubling('x + x', 40)})`), '#TOO_LONG', 'texts that double are bounded');
  t.equal(run(`cel.bind(x, [1], ${doubling('x + x', 40)})`), '#TOO_LONG', 'lists that double are bounded');
  t.equal(
    run(`cel.bind(x, [1], ${doubling('[x, x]', 40)}) == 1`),
    '!== compares list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(list(int))))))))))))))))))))))))))))))))))))))))) with int, which are never equal.',
  );
  t.equal(run(`cel.bind(x, [1], ${doubling('[x, x]', 40)})`), '#TOO_LONG', 'shared lists do not explode in JSON');
  t.equal(
    run(`cel.bind(x, 99999999999d, ${doubling('x * x', 40)})`),
    '#OUT_OF_RANGE',
    'decimals that square are bounded',
  );
  t.equal(run(`cel.bind(x, "aa", ${doubling('x.replace("a", x + x)', 30)})`), '#TOO_LONG');
});

test('long texts that are read again and again run out of steps', async (t) => {
  const ten = '[0,1,2,3,4,5,6,7,8,9]';
  const repeated = (body: string) => `${ten}.map(a, ${ten}.map(b, ${ten}.map(c, ${body}))).size()`;
  const row = { ...ROW, status: 'a'.repeat(1_000_000) };
  for (const body of [
    'status.replace("a", "b")',
    'upper(status)',
    'status == `Invoice No` + status',
    'status < status + "a"',
  ]) {
    t.equal(run(repeated(body), row), '#TOO_LONG', body);
  }
  t.equal(run('upper(trim(strip_accents(status))) == upper(status)', row), 'true', 'a long cell alone is no reason');
});

test('catastrophic patterns are linear', async (t) => {
  const long = `${'a'.repeat(100_000)}!`;
  for (const pattern of [
    '(a+)+$',
    '(a|a)*b',
    '(a*)*b',
    'a*a*a*a*a*b',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '[a-z]+b',
    'a+$',
  ]) {
    t.equal(run(`status.matches("${pattern}")`, { ...ROW, status: long }), 'false', pattern);
  }
});
