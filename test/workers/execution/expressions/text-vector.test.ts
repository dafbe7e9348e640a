// Vectors of texts, dates and numbers against the closures: random expressions of all functions that the kernels support, and of
// some that they do not, over cells that are null, blank, not ASCII, long or of a native kind.
import { test } from 'tap';
import { plannerOf } from '../../../../workers/execution/expressions/planner.ts';
import { KIND_DATE, KIND_NUMBER, KIND_TEXT } from '../../../../workers/kernel/layout/cells.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';
import { Comparison } from './comparison.ts';

const TYPES = { t: 'text', u: 'text', i: 'integer', d: 'date' } as const;

const units = fc.constantFrom(...'aBzßÉǆ漢😀 \u00a0-@10İﬁΣ');
const cell = fc.option(
  fc.oneof(
    fc.string({ unit: units, maxLength: 12 }),
    fc.constantFrom('', ' ', '2024-02-29', '2023-02-29', '0001-01-01', '9999-12-31', '2024-2-9', '12', '-7', '1.50'),
    fc.constantFrom('ada@example.com', 'SKU-12-345', '--a--', 'x'.repeat(17_000)),
  ),
  { nil: null, freq: 6 },
);
const day = fc.option(fc.integer({ min: -719_162, max: 2_932_896 }).map(BigInt), { nil: null, freq: 6 });
const whole = fc.option(fc.oneof(fc.bigInt(-20n, 20n), fc.constant(2n ** 60n)), { nil: null, freq: 6 });
const rows = fc.array(fc.tuple(cell, cell, whole, day), { minLength: 1, maxLength: 24 });

const literal = fc.constantFrom('"-"', '"a"', '"@"', '"ß"', '""', '"--"', '"漢"', '" "');
const filled = fc.constantFrom('"-"', '"a"', '"@"', '"ß"', '"--"');
const small = fc.integer({ min: 0, max: 5 });

interface Sources {
  text: string;
  number: string;
  decimal: string;
  date: string;
  condition: string;
}

const { text, number, decimal, date, condition } = fc.letrec<Sources>((tie) => {
  const [text, number, date] = [tie('text'), tie('number'), tie('date')];
  const [decimal, condition] = [tie('decimal'), tie('condition')];
  return {
    text: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom('t', 'u', 'row.t'),
      literal,
      fc
        .tuple(fc.constantFrom('upper', 'lower', 'trim', 'digits', 'title', 'strip_accents', 'fingerprint'), text)
        .map(([f, a]) => `${f}(${a})`),
      fc.tuple(text, fc.constantFrom('upperAscii', 'lowerAscii')).map(([a, f]) => `${a}.${f}()`),
      fc.tuple(text, small).map(([a, n]) => `${a}.charAt(${n})`),
      fc.tuple(literal, text, text, number).map(([by, a, b, c]) => `concat_ws(${by}, ${a}, ${b}, ${c})`),
      fc.tuple(fc.constantFrom('left', 'right'), text, small).map(([f, a, n]) => `${f}(${a}, ${n})`),
      fc.tuple(text, small, small).map(([a, from, more]) => `${a}.substring(${from}, ${from + more})`),
      fc.tuple(text, filled, fc.constantFrom(1, 2, 3, -1, -2)).map(([a, by, n]) => `split_part(${a}, ${by}, ${n})`),
      fc.tuple(text, filled, literal).map(([a, part, by]) => `${a}.replace(${part}, ${by})`),
      fc
        .tuple(fc.constantFrom('left', 'right'), text, small, fc.constantFrom('"0"', '"é"'))
        .map(([s, a, n, c]) => `pad_${s}(${a}, ${n}, ${c})`),
      fc.tuple(text, text).map(([a, b]) => `${a} + ${b}`),
      fc.tuple(text, text).map(([a, b]) => `coalesce(${a}, ${b})`),
      fc.tuple(condition, text, text).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
      fc.oneof(number, decimal, date).map((a) => `string(${a})`),
      fc.tuple(text, fc.constantFrom('"-([0-9]+)"', '"[a-z]+@?"', '"(é|ß)"')).map(([a, p]) => `extract(${a}, ${p})`),
      fc.tuple(text, fc.constantFrom('"[^0-9]+"', '"(-)([0-9])"')).map(([a, p]) => `replace_re(${a}, ${p}, "<$0>")`),
    ),
    number: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom('i', '7', '0'),
      text.map((a) => `size(${a})`),
      text.map((a) => `int(${a})`),
      fc.tuple(fc.constantFrom('year', 'month', 'day', 'weekday', 'iso_week'), date).map(([f, a]) => `${f}(${a})`),
      fc.tuple(date, date).map(([a, b]) => `days_between(${a}, ${b})`),
      fc.tuple(number, fc.constantFrom('+', '-', '*', '/'), number).map(([a, o, b]) => `(${a} ${o} ${b})`),
      fc.tuple(condition, number, number).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
      fc.tuple(number, number).map(([a, b]) => `coalesce(${a}, ${b})`),
      fc.tuple(fc.constantFrom('min', 'max'), number, number).map(([f, a, b]) => `${f}(${a}, ${b})`),
    ),
    decimal: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom('1.50d', '-0.005d', '123456789.123456789d'),
      fc.oneof(text, number).map((a) => `decimal(${a})`),
      fc
        .tuple(fc.oneof(decimal, number), fc.constantFrom('+', '-', '*'), decimal)
        .map(([a, o, b]) => `(${a} ${o} ${b})`),
      fc.tuple(decimal, small).map(([a, n]) => `round(${a}, ${n})`),
      fc
        .tuple(fc.constantFrom('min', 'max'), decimal, fc.oneof(decimal, number))
        .map(([f, a, b]) => `${f}(${a}, ${b})`),
    ),
    date: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom('d', 'date("2024-02-29")'),
      text.map((a) => `date(${a})`),
      fc.tuple(date, small).map(([a, n]) => `add_days(${a}, ${n})`),
    ),
    condition: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.tuple(text, fc.constantFrom('==', '!=', '<', '>='), literal).map((parts) => parts.join(' ')),
      fc.tuple(text, fc.array(literal, { maxLength: 3 })).map(([a, list]) => `${a} in [${list.join(', ')}]`),
      fc
        .tuple(text, fc.constantFrom('startsWith', 'endsWith', 'contains'), literal)
        .map(([a, f, b]) => `${a}.${f}(${b})`),
      fc
        .tuple(text, fc.constantFrom('"^[a-z]+$"', '"[0-9]"', '"(?i)SS|ß"', '"\\\\b漢"'))
        .map(([a, p]) => `${a}.matches(${p})`),
      fc
        .tuple(text, text, fc.constantFrom('0.0', '0.5', '0.75', '1.0'))
        .map(([a, b, least]) => `similarity(${a}, ${b}) >= ${least}`),
      text.map((a) => `is_blank(${a})`),
      fc.tuple(text, fc.constantFrom('==', '!=', '<', '<=', '>', '>='), text).map((parts) => parts.join(' ')),
      text.map((a) => `${a} == null`),
      fc.tuple(date, fc.constantFrom('==', '<', '>='), date).map((parts) => parts.join(' ')),
      fc.tuple(number, fc.constantFrom('==', '<', '>='), number).map((parts) => parts.join(' ')),
      fc.tuple(condition, fc.constantFrom('&&', '||'), condition).map(([a, o, b]) => `(${a} ${o} ${b})`),
      condition.map((a) => `!(${a})`),
    ),
  };
});

/** Enough rows for kernels to search for patterns; smaller batches are left to closures. */
const SEARCHED_ROWS = 520;

function repeated<T>(cells: readonly T[], source: string): readonly T[] {
  if (!source.includes('matches')) return cells;
  return Array.from({ length: SEARCHED_ROWS }, (_, row) => cells[row % cells.length]!);
}

/** The native kind that a file would give a cell. */
function kindOf(cell: string): number {
  if (/^-?[0-9]+(?:\.[0-9]+)?$/.test(cell)) return KIND_NUMBER;
  return /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(cell) ? KIND_DATE : KIND_TEXT;
}

for (const kinds of [null, kindOf]) {
  test(`columns and conditions by kernels are those by closures${kinds === null ? '' : ', of native kinds'}`, async (t) => {
    const comparison = new Comparison(TYPES, kinds);
    let compared = 0;
    let planned = 0;
    fc.assert(
      fc.property(fc.oneof(text, text, number, decimal, date, condition), rows, (source, cells) => {
        const expression = comparison.checked(source);
        if (expression === null) return;
        comparison.sameColumn(expression, repeated(cells, source));
        compared++;
        if (
          plannerOf(expression).texts(expression.root) !== null ||
          plannerOf(expression).states(expression.root) !== null
        )
          planned++;
        if (expression.type.kind === 'bool') comparison.sameCondition(expression, repeated(cells, source));
      }),
      { numRuns: sweep({ short: 38, long: 4000 }) },
    );
    t.ok(compared > sweep({ short: 15, long: 1_800 }), `${compared} columns were compared`);
    t.ok(planned > sweep({ short: 6, long: 600 }), `${planned} of them were planned`);
  });
}

/** Each function that the kernels support, with arguments at its limits. */
const EACH: readonly string[] = [
  ...[
    'upper(t)',
    'lower(t)',
    'trim(t)',
    'digits(t)',
    'title(t)',
    'fingerprint(t)',
    'fingerprint(t + " " + u)',
    'left(t, 3)',
    'left(t, 0)',
    'left(t, -1)',
    'right(t, 2)',
    'right(t, 0)',
  ],
  ...[
    't.substring(1)',
    't.substring(0, 4)',
    't.substring(2, 2)',
    'split_part(t, "-", 2)',
    'split_part(t, "--", -2)',
    'split_part(t, "a", -1)',
  ],
  ...[
    't.replace("-", "")',
    't.replace("a", "aa", 1)',
    't.replace("a", "b", 0)',
    'pad_left(t, 5, "é")',
    'pad_right(t, 12)',
    't + u + t',
    't + ""',
  ],
  ...[
    'coalesce(t, u, "x")',
    't == u ? t : u',
    '(t > u ? "a" : "b") + t',
    'string(i)',
    'string(d)',
    'string(round(decimal(t), 1))',
    'string(i + 1)',
  ],
  ...[
    'extract(t, "-([0-9]+)")',
    'extract(t, "[0-9]+", 0)',
    'replace_re(t, "[0-9]+", "<$0>")',
    'size(t)',
    'int(t) * 2 + i',
    'i - int(t)',
  ],
  ...[
    'year(d)',
    'month(d)',
    'day(d)',
    'weekday(d)',
    'format_date(d, "yyyy-MM")',
    'format_date(d, "d.M.yy HH:mm:ss", "de") + t',
    'format_date(date(t), "MM/yyyy")',
    'days_between(d, date(t))',
    'date(t)',
    'coalesce(i, size(t))',
    'min(i, 3)',
    'max(i, size(t), 2)',
  ],
  ...[
    'round(decimal(t), 0)',
    'round(decimal(t) + 0.005d, 2)',
    'round(decimal(t) - 0.005d, 2)',
    'round(decimal(t) * i, 18)',
    'max(decimal(t), 1.5d)',
  ],
  ...[
    'min(decimal(t), i)',
    'decimal(t) * i',
    'decimal(i) + 0.10d',
    'is_blank(t)',
    't == u',
    't != u',
    't < u',
    't <= u',
    't > u',
    't >= u',
    't in ["12", "", "--a--"]',
  ],
  ...[
    'date(t) < d',
    'd == date("2024-02-29")',
    't.matches("^[a-z@.]+$")',
    'upper(t).matches("\\\\bA")',
    '!(t.matches("[0-9]")) || is_blank(u)',
  ],
  ...[
    'reverse(t) + left(t, 1)',
    't.contains("a") && int(u) > 0',
    'is_blank(t) ? 0 : int(t)',
    'is_blank(t) ? 0.0d : decimal(t) / 0d',
  ],
];
const CELLS = [
  '',
  ' ',
  'ada@example.com',
  'SKU-12-345',
  '--a--',
  'aaaa',
  '12',
  '-7',
  '1.5',
  '2.5',
  '-2.5',
  '0.125',
  '2024-02-29',
  '2023-02-29',
  'Ǆé漢😀',
  null,
];

test('each function by kernels is that by closures', async (t) => {
  const comparison = new Comparison(TYPES);
  const numbers = [0n, 3n, -3n, null, 2n ** 60n];
  const days = [0n, 19_782n, -719_162n, null];
  const cells = Array.from({ length: SEARCHED_ROWS }, (_, row) => [
    CELLS[row % CELLS.length]!,
    CELLS[(row >> 2) % CELLS.length]!,
    numbers[row % numbers.length]!,
    days[row % days.length]!,
  ]);
  for (const source of EACH) {
    const expression = comparison.checked(source);
    if (expression === null) {
      t.fail(`${source} is refused`);
      continue;
    }
    const { texts, numbers, states } = plannerOf(expression);
    const planned = [texts, numbers, states].some((plan) => plan(expression.root) !== null);
    t.ok(planned, `${source} is planned`);
    t.doesNotThrow(() => comparison.sameColumn(expression, cells), source);
  }
});

test('format_date of dates and instants by kernels is that by closures, also with names', async (t) => {
  const comparison = new Comparison({ d: 'date', at: 'datetime' });
  const patterns = [
    ...['yyyy-MM', 'd.M.yy HH:mm:ss', 'MMM yyyy', "EEEE, d. MMMM 'im Jahr' yyyy", "YYYY-'W'ww-e", 'QQQ yyyy', 'DDD'],
    ...['MMM d, hh:mm a', 'yyyy-MM-dd HH:mm:ss.SSS X', "'a literal text that is not kept' MMM"],
  ];
  const sources = patterns.flatMap((pattern) =>
    ['d', 'at', 'date(at)'].map((value) => `format_date(${value}, "${pattern}", "fr")`),
  );
  const dayMicros = 86_400_000_000n;
  const days = [0n, -1n, 19_782n, 19_782n + 4096n, -719_162n, 2_932_896n, null];
  const moments = [0n, 1n, dayMicros - 1n, 45_296_000_007n];
  for (const rowCount of [20, SEARCHED_ROWS]) {
    const cells = Array.from({ length: rowCount }, (_, row) => {
      const [day, moment] = [days[row % days.length]!, moments[row % moments.length]!];
      return [days[(row * 3) % days.length]!, day === null ? null : day * dayMicros + moment];
    });
    for (const source of sources) {
      t.doesNotThrow(() => comparison.sameColumn(comparison.checked(source)!, cells), source);
    }
  }
});
