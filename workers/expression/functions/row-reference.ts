// Owns what the reference says about our own functions. Examples are run by a test; the reference of CEL's functions is
// cel-reference.ts.

/** One function as an author sees it. `result` is the text of what the example gives. */
export interface FunctionReference {
  readonly name: string;
  readonly form: string;
  readonly summary: string;
  readonly example: string;
  readonly result: string | null;
}

/** An entry; names are those of the table of functions. */
export function entry(
  name: string,
  form: string,
  summary: string,
  example: string,
  result: string | null,
): FunctionReference {
  return { name, form, summary, example, result };
}

export const ROW_REFERENCE: readonly FunctionReference[] = [
  entry('upper', 'upper(text)', 'Capital letters.', 'upper("Straße")', 'STRASSE'),
  entry('lower', 'lower(text)', 'Small letters.', 'lower("ÉTÉ")', 'été'),
  entry('title', 'title(text)', 'A capital at the start of every word.', 'title("anna MÜLLER")', 'Anna Müller'),
  entry('left', 'left(text, count)', 'The first characters.', 'left("DE123", 2)', 'DE'),
  entry('right', 'right(text, count)', 'The last characters.', 'right("DE123", 3)', '123'),
  entry(
    'pad_left',
    'pad_left(text, length[, character])',
    'Filled in front (with spaces).',
    'pad_left("7", 3, "0")',
    '007',
  ),
  entry('pad_right', 'pad_right(text, length[, character])', 'Filled behind.', 'pad_right("7", 3, ".")', '7..'),
  entry('strip_accents', 'strip_accents(text)', 'Letters without accents.', 'strip_accents("Łódź")', 'Lodz'),
  entry('digits', 'digits(text)', 'The digits 0 to 9 alone.', 'digits("+49 30-12")', '493012'),
  entry(
    'extract',
    'extract(text, pattern[, group])',
    'What a group of a regular expression found (the first, or the whole match); null without a match.',
    'extract("INV-0042", "0*([1-9][0-9]*)")',
    '42',
  ),
  entry(
    'replace_re',
    'replace_re(text, pattern, by)',
    'Every match of a regular expression replaced; $1 is a group, $$ a dollar.',
    'replace_re("2024-05", "([0-9]+)-([0-9]+)", "$2/$1")',
    '05/2024',
  ),
  entry(
    'split_part',
    'split_part(text, separator, number)',
    'A part by its number from 1, from the end when negative; null where there is none.',
    'split_part("a;b;c", ";", -1)',
    'c',
  ),
  entry(
    'concat_ws',
    'concat_ws(separator, value...)',
    'Values that are not null, joined.',
    'concat_ws(", ", "a", null, 3)',
    'a, 3',
  ),
  entry('is_blank', 'is_blank(value)', 'Whether a value is null or nothing but blanks.', 'is_blank("  ")', 'true'),
  entry('coalesce', 'coalesce(value...)', 'The first value that is not null.', 'coalesce(null, "x")', 'x'),
  entry(
    'if_error',
    'if_error(value, otherwise)',
    'The value, or another where it is an error.',
    'if_error(int("x"), 0)',
    '0',
  ),
  entry('decimal', 'decimal(value)', 'An exact decimal of a text, an int or a double.', 'decimal("1.20") * 3', '3.60'),
  entry(
    'round',
    'round(number[, scale[, rounding]])',
    'Rounded: half_up (default), half_even, down, or error where a digit would be lost.',
    'round(2.345d, 2)',
    '2.35',
  ),
  entry('floor', 'floor(number)', 'The whole number below.', 'floor(-1.5d)', '-2'),
  entry('ceil', 'ceil(number)', 'The whole number above.', 'ceil(1.2d)', '2'),
  entry('abs', 'abs(number)', 'Without its sign.', 'abs(-1.50d)', '1.50'),
  entry(
    'min',
    'min(value, value...)',
    'The least of values of one type; ints beside decimals are decimals.',
    'min(3, 1, 2)',
    '1',
  ),
  entry(
    'max',
    'max(value, value...)',
    'The greatest of values of one type; ints beside decimals are decimals.',
    'max(1.5d, 2)',
    '2',
  ),
  entry('mod', 'mod(number, divisor)', 'The remainder, with the sign of the number.', 'mod(7, 3)', '1'),
  entry(
    'parse_number',
    'parse_number(text[, decimal[, grouping]])',
    'The exact decimal that a text writes.',
    'parse_number("1.234,50", ",", ".")',
    '1234.50',
  ),
  entry('date', 'date(text) or date(year, month, day)', 'A date.', 'date("2024-02-29")', '2024-02-29'),
  entry(
    'parse_date',
    'parse_date(text, pattern[, locale])',
    'A date, or an instant (UTC) where the pattern has a time. The whole text must match; a space in the pattern is any one space.',
    'parse_date("29.02.2024", "dd.MM.yyyy")',
    '2024-02-29',
  ),
  entry(
    'format_date',
    'format_date(date, pattern[, locale])',
    'The text of a date or instant.',
    'format_date(date("2024-02-29"), "d. MMMM yyyy", "de")',
    '29. Februar 2024',
  ),
  entry('add_days', 'add_days(date, count)', 'Days later.', 'add_days(date("2024-02-28"), 2)', '2024-03-01'),
  entry(
    'add_months',
    'add_months(date, count)',
    'Months later; the last day where the month is shorter.',
    'add_months(date("2024-01-31"), 1)',
    '2024-02-29',
  ),
  entry(
    'days_between',
    'days_between(from, to)',
    'Days from one date to the other.',
    'days_between(date("2024-02-28"), date("2024-03-01"))',
    '2',
  ),
  entry(
    'months_between',
    'months_between(from, to)',
    'Whole months from one date to the other.',
    'months_between(date("2024-01-31"), date("2024-03-30"))',
    '1',
  ),
  entry(
    'start_of_month',
    'start_of_month(date)',
    'The first of the month.',
    'start_of_month(date("2024-02-29"))',
    '2024-02-01',
  ),
  entry(
    'end_of_month',
    'end_of_month(date)',
    'The last of the month.',
    'end_of_month(date("2024-02-01"))',
    '2024-02-29',
  ),
  entry('year', 'year(date)', 'The year.', 'year(date("2024-02-29"))', '2024'),
  entry('month', 'month(date)', 'The month, 1 to 12.', 'month(date("2024-02-29"))', '2'),
  entry('day', 'day(date)', 'The day of the month.', 'day(date("2024-02-29"))', '29'),
  entry('weekday', 'weekday(date)', '1 for Monday to 7 for Sunday.', 'weekday(date("2024-02-29"))', '4'),
  entry('iso_week', 'iso_week(date)', 'The week of the year by ISO 8601.', 'iso_week(date("2024-12-30"))', '1'),
  entry(
    'to_timezone',
    'to_timezone(instant, zone)',
    'The same instant shown in a time zone.',
    'to_timezone(timestamp("2024-02-29T23:30:00Z"), "Europe/Berlin")',
    '2024-03-01T00:30:00+01:00',
  ),
  entry(
    'lookup',
    'lookup(table, key, column) or lookup(table, key column, key, column)',
    'The text of a column in the first row of a reference table with that key; null where there is none.',
    'lookup("suppliers", "7", "name")',
    'Miller',
  ),
  entry(
    'hash_key',
    'hash_key(value...)',
    'A key of 32 hexadecimal digits made of values (SHA-256); it hides nothing.',
    'hash_key("a", 1)',
    '9a3162f0c448fed28bd09ca1fbb69d93',
  ),
  entry(
    'valid_iban',
    'valid_iban(text)',
    'Whether a text is an IBAN.',
    'valid_iban("DE89 3704 0044 0532 0130 00")',
    'true',
  ),
];
