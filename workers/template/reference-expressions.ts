// What the reference says of expressions, their functions, and the patterns of dates and texts.
import { DATE_NAMES } from '../values/month-names.ts';

/** Functions as they are called, with what they give, by theme. A test holds the names to the table of functions. */
const FUNCTION_TABLES: readonly (readonly [
  theme: string,
  functions: readonly (readonly [call: string, gives: string])[],
])[] = [
  [
    'Missing values and errors',
    [
      ['is_blank(x)', 'true for null and for text of white space only'],
      ['coalesce(a, b, ...)', 'the first that is not null'],
      ['if_error(x, other)', '`other` where `x` cannot be computed'],
    ],
  ],
  [
    'Text',
    [
      ['upper(s), lower(s), title(s)', 'other cases, by Unicode'],
      ['s.trim()', 'without white space at both ends'],
      ['left(s, n), right(s, n), s.substring(from, to)', 'a part, in characters; `substring` counts from 0'],
      ['size(s)', 'number of characters'],
      ['s.contains(t), s.startsWith(t), s.endsWith(t)', 'true or false, case counts'],
      ['s.matches(pattern)', 'true when the RE2 pattern is found; `^` and `$` hold the whole text'],
      [
        'extract(s, pattern), extract(s, pattern, group)',
        'the first group (else the whole match), or the group by number or name; null without a match',
      ],
      ['s.replace(old, new), replace_re(s, pattern, new)', 'every occurrence replaced; `$1` is a group'],
      ['split_part(s, separator, n)', 'part number n from 1'],
      ['s.split(separator), list.join(separator)', 'a list of texts, and back'],
      ['concat_ws(separator, a, b, ...)', 'all that is not null, joined; `+` with a null would give null'],
      ['pad_left(s, n, char), pad_right(s, n, char)', 'filled up to n characters'],
      ['strip_accents(s), digits(s)', 'é as e, ø as o, ß as ss; only 0 to 9'],
      ['s.indexOf(t), s.lastIndexOf(t), s.charAt(n), s.reverse(), s.lowerAscii(), s.upperAscii()', 'as in CEL'],
      ['strings.quote(s), pattern.format([a, b])', 'as in CEL'],
    ],
  ],
  [
    'Numbers',
    [
      ['parse_number(s), parse_number(s, decimal, grouping)', 'a decimal: `parse_number("1.234,5", ",", ".")`'],
      [
        'round(x), round(x, scale), round(x, scale, mode)',
        'half away from zero unless the mode is `half_even`, `half_up` or `down`',
      ],
      ['floor(x), ceil(x), abs(x)', 'down, up, without sign'],
      ['min(a, b, ...), max(a, b, ...)', 'of numbers, texts or dates'],
      ['mod(a, b)', 'the rest, with the sign of a; also `a % b` of integers'],
      [
        'decimal(x), int(x), uint(x), double(x), bool(x), string(x)',
        'conversions; `int` cuts digits off, a text must be plain',
      ],
      [
        'math.greatest, math.least, math.abs, math.sign, math.ceil, math.floor, math.trunc, math.round, math.sqrt, math.isNaN, math.isInf, math.isFinite, math.bitAnd, math.bitOr, math.bitXor, math.bitNot, math.bitShiftLeft, math.bitShiftRight',
        'as in CEL',
      ],
    ],
  ],
  [
    'Dates and times',
    [
      ['date("2026-01-31"), date(2026, 1, 31), timestamp("2026-01-31T12:00:00Z")', 'a day, an instant'],
      ['parse_date(s, pattern), format_date(d, pattern)', 'by a date pattern; a third argument names the language'],
      ['year(d), month(d), day(d), weekday(d), iso_week(d)', 'numbers; Monday is 1'],
      ['add_days(d, n), add_months(d, n)', 'another day; the 31st becomes the last day of shorter months'],
      ['start_of_month(d), end_of_month(d)', 'first and last day of its month, a day also of an instant'],
      [
        'days_between(a, b), months_between(a, b)',
        'from a to b, below zero when b is earlier: days of the calendar, whole months',
      ],
      [
        'to_timezone(t, "Europe/Berlin")',
        'the instant with the clock of a zone, for `format_date`, `day` and the like; a cell shows it in UTC',
      ],
      [
        'duration("1h30m"), t.getFullYear(), getMonth, getDate, getDayOfMonth, getDayOfWeek, getDayOfYear, getHours, getMinutes, getSeconds, getMilliseconds',
        'as in CEL; months and days of the week count from 0 there',
      ],
    ],
  ],
  [
    'Keys and tables',
    [
      [
        'lookup(table, key, column), lookup(table, key column, key, column)',
        'the cell of the first row of the reference table with that key (in its first column, or the named one), or null',
      ],
      ['hash_key(a, b, ...)', '32 hexadecimal digits, the same for equal values (1.50 and 1.5); no secret'],
      ['valid_iban(s)', 'true or false'],
    ],
  ],
  [
    'Others of CEL',
    [
      ['type(x), dyn(x), bytes(x), base64.encode(b), base64.decode(s)', 'types and bytes'],
      [
        'optional.none(), optional.of(x), optional.ofNonZeroValue(x), hasValue(), value(), or(o), orValue(x)',
        'optional values',
      ],
      ['has(row.a), list.all(x, p), exists, exists_one, filter, map, cel.bind(x, value, e)', 'macros'],
    ],
  ],
];

/** Stands before the operations. */
export const EXPRESSIONS: readonly string[] = [
  '## Expressions',
  '',
  '`where`, `set`, `expr` and the like take expressions in CEL (Common Expression Language): `amount > 100 && status != "paid"`.',
  '',
  '- A column is written by its name; `` `Invoice No` `` or `row["Invoice No"]` when the name is no word of letters, digits and ' +
    '`_`. `value` is the cell that `set` fills or `validate` judges, `run.row` the row number in the file, `run.started_at` the start.',
  '- Texts stand in quotes: `"paid"` or `\'paid\'`. In YAML put the whole expression into the other quotes: `where: \'status == "paid"\'`.',
  '- Columns of a file are text. `amount > 100` on a text is a mistake that the check tells: parse the column first, or write ' +
    '`decimal(amount) > 100`.',
  '- Numbers: `5` is an integer, `5.0` a double, `5.0d` an exact decimal. Beside a decimal, integers and literals are taken as ' +
    'decimals. Integer division cuts off (`7 / 2` is 3); a quotient of decimals is rounded half even to 10 digits behind the point.',
  '- Operators: `+ - * / %`, `== != < <= > >=`, `&& || !`, `a ? b : c`, `x in ["a", "b"]`; `+` also joins texts (`"no. " + string(n)`).',
  '- null: arithmetic, functions and `< > <= >=` with null give null; `==` and `!=` compare it; `&&` and `||` know unknown. A ' +
    'condition that is null is not true. `a == null` asks for it.',
  '- An error in a row (`int("x")`, division by zero) is a row error: `on_error`, or `if_error(...)`.',
  '- A text has at most 4,096 bytes, 1,000 parts, 64 levels; one evaluation has bounded steps.',
  '',
  ...FUNCTION_TABLES.flatMap(([theme, functions]) => [
    `${theme}:`,
    '',
    '| Function | Gives |',
    '|---|---|',
    ...functions.map(([call, gives]) => `| \`${call}\` | ${gives} |`),
    '',
  ]),
  '## Patterns',
  '',
  'Dates: `yyyy` year, `yy` two digits of it, `MM` and `dd` two digits, `M` and `d` one or two, `MMM` and `MMMM` the name of the ' +
    'month, short and in full, `E` and `EEEE` the day of the week, `HH` hour 00 to 23, `hh` hour with `a` (AM, PM), `mm` minute, ' +
    "`ss` second, `SSS` fraction, `X` offset such as +0200 (three of them: +02:00) or Z; text in `'...'`, other signs stand for themselves. Case " +
    'counts: `MM` is the month, `mm` the minute. Languages of names: ' +
    `${[...DATE_NAMES.keys()].map((locale) => `\`${locale}\``).join(', ')}. They are read in any case, with accents or without; ` +
    'short ones with a dot or without, also in other usual forms (`Sept`, `Mrz`).',
  '',
  'Texts (`pattern`, `mode: regex`, `matches`): RE2 syntax, in linear time. It has no look-ahead, look-behind or back reference. ' +
    "In YAML write patterns in single quotes: `'\\d+'`.",
  '',
];
