// Tests our own functions against docs/reference/expressions.md: texts, numbers, dates, lookups.
import { execFileSync } from 'node:child_process';
import { test } from 'tap';
import { FUNCTIONS, FUNCTIONS_BY_THEME } from '../../../../workers/expression/functions/index.ts';
import { holds, run } from '../row-case.ts';

holds('functions on text', [
  ['upper("straße")', 'STRASSE'],
  ['lower("ÇA")', 'ça'],
  ['title("mc DONALD\'s o’neil 3RD")', "Mc Donald's O’neil 3rd"],
  ['left("a😀b", 2) + right("a😀b", 1)', 'a😀b'],
  ['pad_left("7", 3, "0") + pad_right("x", 3) + "|"', '007x  |'],
  ['pad_left("x", 1, "ab")', '#EXPR_TYPE'],
  ['pad_left("x", 99999999)', '#TOO_LONG'],
  ['strip_accents("Ærøskøbing Łódź Été")', 'AEroskobing Lodz Ete'],
  ['digits("+49 (30) 12")', '493012'],
  ['extract(`Invoice No`, "R-0*([0-9]+)")', '7'],
  ['extract(status, "x(.)")', null],
  ['extract(status, "(?P<first>.)(?P<second>.)", "second")', 'a'],
  ['extract(status, "p", 2)', '!The pattern has no such group.'],
  ['replace_re("2024-05", "([0-9]+)-([0-9]+)", "$2.$1 $$")', '05.2024 $'],
  ['replace_re("a1b22", "[0-9]+", "<$0>$$&")', 'a<1>$&b<22>$&'],
  ['replace_re("a1b2", "([a-z])([0-9])", "$2$1.")', '1a.2b.'],
  ['replace_re("a1b2", "(?i)([a-z])([0-9])", "$2$1.")', '1a.2b.'],
  ['"a😀b".replace("", "-")', '-a-😀-b-'],
  ['"a😀b".replace("", "-", 2)', '-a-😀b'],
  ['"a-b-c-d".replace("-", "$&", 2)', 'a$&b$&c-d'],
  ['"a-b-c".replace("-", "$&")', 'a$&b$&c'],
  ['"a-b".replace("-", "", 0)', 'a-b'],
  ['replace_re("abc", "", "-")', '-a-b-c-'],
  [
    'replace_re(status, "a", "$1")',
    `!A $ in the replacement names no group: write $1, \${1} before a digit, or $$ for a dollar.`,
  ],
  [
    'status.matches("(?=p)")',
    '!The regular expression is refused: look-ahead and look-behind ((?=...), (?!...)) do not exist in RE2.',
  ],
  ['split_part("a;b;c", ";", 2) + split_part("a;b;c", ";", -1)', 'bc'],
  ['split_part("a;b", ";", 3)', null],
  ['if_error(int(status), -1)', '-1'],
  ['if_error(decimal(status), 0)', '0'],
  ['parse_number("1.234,56", ",", ".")', '1234.56'],
  ['fingerprint(" Łódź, Straße-Øst  lodz ")', 'lodz strasseoest'],
  ['fingerprint("b A a, B.")', 'a b'],
  ['fingerprint("!?")', ''],
  ['string(round(similarity("DIXON", "DICKSONX") * 10000.0))', '8133'],
  ['string(round(similarity("DWAYNE", "DUANE") * 10000.0))', '8400'],
  ['string(round(similarity("MARTHA", "MARHTA") * 10000.0))', '9611'],
  ['similarity("", "") == 1.0 && similarity("a", "") == 0.0 && similarity("a", "b") == 0.0', 'true'],
  ['similarity("x".pad_left(1001), "x")', '#TOO_LONG'],
  ['parse_duration("2.01:30:00") == duration("49h30m") && parse_duration("90 Min.") == duration("90m")', 'true'],
  ['parse_duration("P1Y")', '#NOT_A_DURATION'],
  ['parse_duration("30m 1h")', '#NOT_A_DURATION'],
  ['format_duration(duration("-90s"), "m:ss") + format_duration(duration("-0.4s"), "s")', '-1:300'],
  [
    'format_duration(duration("90s"), "H:ss")',
    '!The pattern of a duration is wrong: units stand from the largest to the smallest, none left out, as in H:mm:ss.',
  ],
  ['parse_time("24:00")', '#NOT_A_TIME'],
  ['format_time(duration("24h"), "HH:mm")', '#OUT_OF_RANGE'],
  ['duration_in(duration("20m"), "h")', '0.3333333333'],
  ['parse_number("1.23,4", ",", ".")', '#NOT_A_NUMBER'],
  ['valid_iban("DE89 3704 0044 0532 0130 00")', 'true'],
  ['valid_iban("DE88 3704 0044 0532 0130 00")', 'false'],
  ['hash_key("ab", "c") == hash_key("a", "bc")', 'false'],
  ['hash_key(missing) == hash_key("")', 'false'],
  ['hash_key("a").size()', '32'],
  ['lookup("suppliers", 7, "name")', 'Miller'],
  ['lookup("suppliers", "id", "8", "name")', null],
  ['lookup("supliers", 7, "name")', '!The template declares no table "supliers". Did you mean "suppliers"?'],
  ['lookup("suppliers", 7, "nmae")', '!The table "suppliers" has no column "nmae". Did you mean "name"?'],
  ['double("0x10")', '#NOT_A_NUMBER'],
  ['double(" 1")', '#NOT_A_NUMBER'],
  ['double("-12.50") == -12.5 && double("1e2") == 100.0', 'true'],
]);

holds('functions on dates', [
  ['booked', '2024-02-29'],
  ['date("2023-02-29")', '#NOT_A_DATE'],
  ['parse_date("31.12.2024", "dd.MM.yyyy")', '2024-12-31'],
  ['parse_date("31.12.2024x", "dd.MM.yyyy")', '#NOT_A_DATE'],
  ['parse_date("1. März 2024", "d. MMMM yyyy", "de")', '2024-03-01'],
  ['parse_date("2024-05-06 07:08", "yyyy-MM-dd HH:mm")', '2024-05-06T07:08:00Z'],
  [
    'parse_date(status, "DD.MM.YYYY")',
    '!The date pattern is wrong: D is the day of the year, written D or DDD: d is the day, M the month, y the year, as in dd.MM.yyyy.',
  ],
  ['format_date(booked, "EEE dd MMM yy")', 'Thu 29 Feb 24'],
  ['format_date(to_timezone(at, "Europe/Berlin"), "dd.MM.yyyy HH:mm X")', '01.03.2024 00:30 +0100'],
  ['to_timezone(at, "Europe/Berlin")', '2024-03-01T00:30:00+01:00'],
  [
    'to_timezone(at, "Europe/Berlim")',
    '!The time zone "Europe/Berlim" is unknown. Write a name such as "Europe/Berlin" or an offset such as "+02:00".',
  ],
  ['day(to_timezone(at, "Europe/Berlin"))', '1'],
  ['add_days(booked, 366)', '2025-03-01'],
  ['add_months(booked, 12)', '2025-02-28'],
  ['add_months(date("2024-01-31"), 1)', '2024-02-29'],
  ['add_days(at, -1)', '2024-02-28T23:30:00Z'],
  ['add_days(booked, 9999999)', '#OUT_OF_RANGE'],
  ['days_between(booked, date("2024-03-31"))', '31'],
  ['months_between(date("2024-01-31"), booked)', '1'],
  ['months_between(date("2024-03-01"), booked)', '0'],
  ['start_of_month(booked)', '2024-02-01'],
  ['end_of_month(booked)', '2024-02-29'],
  ['year(booked) * 10000 + month(booked) * 100 + day(booked)', '20240229'],
  ['weekday(booked)', '4'],
  ['iso_week(date("2024-12-30"))', '1'],
  ['booked < date("2024-03-01")', 'true'],
  ['booked == date("2024-02-29")', 'true'],
  [
    'booked == "2024-02-29"',
    '!== compares date with string, which are never equal. Write date("2024-01-31") for a date.',
  ],
  ['timestamp(booked)', '2024-02-29T00:00:00Z'],
]);

test('the description of a function names it, and its example is true', async (t) => {
  for (const [name, { documentation }] of FUNCTIONS) {
    const { form, summary, example, result } = documentation;
    for (const text of [form, example]) t.match(text, new RegExp(`\\b${name.replace('.', '\\.')}\\(`), name);
    t.match(summary, /\.$/, `${name} has a summary`);
    t.equal(run(example), result, example);
  }
});

test('no two functions have one name', async (t) => {
  const names = [...FUNCTIONS_BY_THEME.values()].flat().map(({ name }) => name);
  t.equal(new Set(names).size, names.length);
});

test('results depend neither on the time zone nor on the language of the process', async (t) => {
  const examples = [...FUNCTIONS.values()].map(({ documentation }) => documentation.example);
  const here = examples.map((example) => run(example));
  const script = `
    const { run } = await import(${JSON.stringify(new URL('../row-case.js', import.meta.url).href)});
    process.stdout.write(JSON.stringify(${JSON.stringify(examples)}.map((source) => run(source))));`;
  for (const environment of [
    { TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
    { TZ: 'UTC', LANG: 'C', LC_ALL: 'C' },
  ]) {
    const env = { ...process.env, TAP: '0', ...environment };
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' });
    t.same(JSON.parse(printed.split('\n').find((line) => line.startsWith('[')) ?? 'null'), here, environment.TZ);
  }
});
