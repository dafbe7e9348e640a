// Compares calendar, date patterns and written numbers with oracles: JavaScript's Date and round trips.

import { test } from 'tap';
import { ambiguousDateText, compileDatePattern, type DatePattern } from '../../../workers/values/date-pattern.ts';
import { decimalText } from '../../../workers/values/decimal.ts';
import { isIban } from '../../../workers/values/identifiers.ts';
import { type NegativeStyle, parseNumberText } from '../../../workers/values/number-text.ts';
import { findPersonalData } from '../../../workers/values/personal-data.ts';
import { indexOfText, lastIndexOfText, replaceAllText, splitText } from '../../../workers/values/text-search.ts';
import {
  addMonths,
  civilDate,
  DAY_MAX,
  DAY_MIN,
  dateText,
  dayNumber,
  durationText,
  endOfMonth,
  isoWeek,
  isoWeekday,
  monthsBetween,
  parseDateText,
  parseDuration,
  parseTimestamp,
  timestampText,
} from '../../../workers/values/timestamp.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

test('the calendar agrees with Date', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: DAY_MIN, max: DAY_MAX }), (days) => {
      const date = new Date(days * 86_400_000);
      const { year, month, day } = civilDate(days);
      return (
        date.getUTCFullYear() === year &&
        date.getUTCMonth() + 1 === month &&
        date.getUTCDate() === day &&
        dayNumber(year, month, day) === days &&
        isoWeekday(days) % 7 === date.getUTCDay() &&
        parseDateText(dateText(days)) === days &&
        civilDate(endOfMonth(days) + 1).day === 1
      );
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: 0, max: 60_000 }), (from, to) => {
      const months = monthsBetween(from, to);
      return to >= from
        ? addMonths(from, months) <= to && addMonths(from, months + 1) > to
        : addMonths(from, months) >= to && addMonths(from, months - 1) < to;
    }),
  );
  t.same(isoWeek(dayNumber(2021, 1, 3)), { year: 2020, week: 53 });
  t.same(isoWeek(dayNumber(2024, 12, 30)), { year: 2025, week: 1 });
});

function pattern(source: string, locale = 'en'): DatePattern {
  const compiled = compileDatePattern(source, { locale });
  if ('problem' in compiled) throw new Error(compiled.problem);
  return compiled;
}

test('date patterns read the texts that they write', async (t) => {
  const sources = [
    'yyyy-MM-dd HH:mm:ss',
    'yyyyMMddHHmmss',
    'd.M.yyyy H:m:s',
    'EEEE, d. MMMM yyyy HH:mm:ss',
    "dd MMM yyyy 'at' hh:mm:ss a",
    'EEE., d MMM. yyyy, H:mm:ss',
    'd.MMM.yyyy H:mm:ss',
    'yyyy H:mm:ss d MMM',
    "yyyy-MM-dd'T'HH:mm:ssXXX",
    'MM/dd/yyyy h:mm:ss a',
  ];
  const moments = fc.tuple(
    fc.constantFrom(...sources),
    fc.constantFrom('en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl'),
    fc.integer({ min: dayNumber(1000, 1, 1), max: DAY_MAX }),
    fc.nat({ max: 86_399 }),
  );
  fc.assert(
    fc.property(moments, ([source, locale, days, second]) => {
      const compiled = pattern(source, locale);
      const read = compiled.parse(compiled.format({ days, second, nanos: 0, offsetSeconds: 3600 }));
      return read !== null && read.days === days && read.second === second;
    }),
  );
  const reads = (source: string, text: string): string | null => {
    const fields = pattern(source).parse(text);
    return fields === null ? null : `${dateText(fields.days)} ${fields.second}`;
  };
  t.equal(reads('dd.MM.yyyy', '29.02.2023'), null, 'no such day');
  t.equal(reads('dd.MM.yyyy', '1.2.2023'), null, 'dd is two digits');
  t.equal(reads('d.M.yyyy', '01.2.2023'), '2023-02-01 0');
  t.equal(reads('dd.MM.yy', '01.02.69'), '1969-02-01 0');
  t.equal(reads('dd.MM.yy', '01.02.68'), '2068-02-01 0');
  t.equal(reads('EEE d MMM yyyy', 'Mon 29 Feb 2024'), null, 'the weekday is wrong');
  t.equal(reads('hh:mm a', '12:30 AM'), '1970-01-01 1800');
  t.equal(reads('HH:mm:ss.SSS', '24:00:00.000'), null);
  t.equal(pattern('dd.MM.yyyy').parse('01.02.2024 '), null, 'the whole text');
  for (const wrong of ['', 'DD.MM.yyyy', 'yyy', 'dd.dd', "dd 'x", 'hh:mm', 'constructor']) {
    t.type((compileDatePattern(wrong) as { problem: string }).problem, 'string', wrong);
  }
  t.match(compileDatePattern('dd', { locale: '__proto__' }), { problem: /locale/ });
  t.type(ambiguousDateText(pattern('dd/MM/yyyy'), pattern('MM/dd/yyyy')), 'string');
  t.equal(ambiguousDateText(pattern('dd.MM.yyyy'), pattern('yyyy-MM-dd')), null);
});

test('names of months as CLDR, banks and people write them', async (t) => {
  const month = (locale: string, text: string, source = 'd MMM yyyy'): number | null => {
    const fields = pattern(source, locale).parse(text);
    return fields === null ? null : Number(dateText(fields.days).slice(5, 7));
  };
  const forms: Readonly<Record<string, string>> = {
    // The twelve months in the abbreviations of CLDR, with their full stops; other spellings follow a slash.
    en: 'Jan Feb Mar Apr May Jun/June/JUN. Jul/July Aug Sep/Sept/Sept. Oct Nov Dec',
    de: 'Jan./Jän./JAN Feb. März/Mrz/Mrz./Mär/Mär./MAR Apr. Mai Juni/Jun/Jun. Juli/Jul Aug. Sept./Sep/Sep. Okt. Nov. Dez.',
    fr: 'janv./jan févr./FEVR/fév mars/mar avr. mai juin/jun juil./juil/jul août/AOUT/aoû sept./sep oct. nov. déc./DEC',
    es: 'ene. feb. mar. abr. may. jun. jul. ago. sept./sep./set./sep oct. nov. dic.',
    it: 'gen feb mar apr mag giu lug ago set/sett. ott nov dic',
    nl: 'jan. feb. mrt./mrt/maart/mar apr. mei jun./juni jul./juli aug. sep./sept. okt. nov. dec.',
    pt: 'jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.',
    pl: 'sty lut mar kwi maj cze lip sie wrz paź/PAZ lis gru',
  };
  for (const [locale, months] of Object.entries(forms)) {
    for (const [index, written] of months.split(' ').entries()) {
      for (const name of written.split('/')) {
        t.equal(month(locale, `3 ${name} 2026`), index + 1, `${locale} ${name}`);
        t.equal(month(locale, `2026 3 ${name}`, 'yyyy d MMM'), index + 1, `${locale} ${name} at the end`);
      }
    }
  }
  t.equal(month('fr', '3 FEVRIER 2026', 'd MMMM yyyy'), 2, 'capitals without accents');
  t.equal(month('de', '3. Jänner 2026', 'd. MMMM yyyy'), 1);
  t.equal(month('pl', '1 maj 2026', 'd MMMM yyyy'), 5);
  t.equal(month('de', '3.Mrz.2026', 'd.MMM.yyyy'), 3, 'the dot of the pattern');
  t.equal(month('de', '3. Jan. 2026', 'd. MMM. yyyy'), 1);
  t.equal(month('de', '3 Mrz.. 2026'), null);
  t.equal(month('de', '3 Märzen 2026'), null);
  t.equal(month('en', '3 Mrz 2026'), null);
  t.equal(month('en', '3 March. 2026', 'd MMMM yyyy'), 3, 'up to five letters may be an abbreviation');
  t.equal(month('en', '3 January. 2026', 'd MMMM yyyy'), null);
});

test('instants and spans keep their text', async (t) => {
  for (const text of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '2024-02-29T12:00:00.5Z']) {
    t.equal(timestampText(parseTimestamp(text)!), text);
  }
  for (const text of [
    '2024-02-30T00:00:00Z',
    '2024-02-29',
    '2024-02-29T24:00:00Z',
    '0000-01-01T00:00:00Z',
    '10000-01-01T00:00:00Z',
  ]) {
    t.equal(parseTimestamp(text), null, text);
  }
  t.equal(durationText(parseDuration('-1.5s')!), '-1.5s');
  t.equal(durationText(parseDuration('1h45m47s')!), '6347s');
  for (const text of ['', 's', '1', '1x', '--1s', `${'9'.repeat(200)}s`]) t.equal(parseDuration(text), null, text);
});

test('numbers are read only where every character is in its place', async (t) => {
  const german = { decimal: ',', grouping: '.' };
  const read = (text: string, format = {}) => {
    const value = parseNumberText(text, format);
    return value === null ? null : decimalText(value);
  };
  t.equal(read('1.234.567,80', german), '1234567.80');
  t.equal(read('1234567,80', german), '1234567.80');
  for (const wrong of ['1.23,4', '12.34.567', '1234.567', '.123', '1,2,3', '1e5', '0x10', 'Infinity', '', '-', '1 2']) {
    t.equal(read(wrong, german), null, wrong);
  }
  t.equal(read("12'345.60", { grouping: "'" }), '12345.60');
  t.equal(read('1\u202f234,5', { decimal: ',', grouping: ' ' }), '1234.5');
  t.equal(read("12\u2019345'600.5", { grouping: "'" }), '12345600.5');
  t.equal(read("12\u2019345'600.5", { grouping: '\u2019' }), '12345600.5');
  t.equal(read('1\u2007234,5', { decimal: ',', grouping: ' ' }), '1234.5');
  t.equal(read('7,5 %', { decimal: ',', percent: true }), '0.075');
  t.equal(read('7,5 %', { decimal: ',' }), null);
  t.equal(read('€ 12.50', { strip: ['€'] }), '12.50');
  t.equal(read('1.5E3', { exponent: true }), '1500');
  const negative: NegativeStyle[] = ['-x', 'x-', '(x)', 'x CR'];
  for (const text of ['-12', '12-', '(12)', '12 CR', '12cr', '\u221212'])
    t.equal(read(text, { negative }), '-12', text);
  t.equal(read('(12)'), null);
  t.equal(read('12-'), null);
});

test('IBANs are checked by length and checksum', async (t) => {
  for (const iban of ['DE89370400440532013000', 'GB82 WEST 1234 5698 7654 32', 'fr1420041010050500013m02606'])
    t.ok(isIban(iban), iban);
  for (const wrong of [
    'DE88370400440532013000',
    'DE8937040044053201300',
    'XX89370400440532013000',
    '',
    ' '.repeat(70),
  ]) {
    t.notOk(isIban(wrong), wrong);
  }
});

test('both ways of reading a number agree', async (t) => {
  const characters = fc.constantFrom('0', '1', '7', '12', '123', '456', '.', ',', '-', ' ');
  const written = fc.array(characters, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(written, fc.constantFrom('.', ','), fc.constantFrom('', '.', ','), (text, decimal, grouping) => {
      if (decimal === grouping) return true;
      // A text that must be stripped first keeps the number off the fast path.
      const long = parseNumberText(`€${text}`, { decimal, grouping, strip: ['€'] });
      const short = parseNumberText(text, { decimal, grouping });
      return (long === null ? null : decimalText(long)) === (short === null ? null : decimalText(short));
    }),
    { numRuns: sweep({ short: 190, long: 3000 }) },
  );
  t.pass();
});

test('e-mail addresses are those that a search from each place on finds', async (t) => {
  const address = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;
  const pieces = [
    'a',
    '.',
    '@',
    '-',
    ' ',
    'é',
    '\u{1d400}',
    '\ud835',
    '\udc00',
    'x'.repeat(63),
    'b@c.d',
    'Ж'.repeat(40),
  ];
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(''));
  let found = 0;
  fc.assert(
    fc.property(texts, (text) => {
      const expected = Array.from(text.matchAll(address), (match) => [match.index, match.index + match[0].length]);
      found += expected.length;
      return (
        JSON.stringify([...findPersonalData('email', text)].filter((range) => range !== null)) ===
        JSON.stringify(expected)
      );
    }),
    { numRuns: sweep({ short: 120, long: 2000 }) },
  );
  t.ok(found > sweep({ short: 7, long: 120 }), `${found} addresses`);
});

test('long texts are found where the runtime finds them', async (t) => {
  const pieces = ['a', 'b', 'a'.repeat(20), `${'a'.repeat(20)}b`, 'ab'.repeat(20), '\u{1f600}'];
  const texts = (maxLength: number) =>
    fc.array(fc.constantFrom(...pieces), { maxLength }).map((parts) => parts.join(''));
  let long = 0;
  fc.assert(
    fc.property(texts(60), texts(8), fc.nat(600), (text, part, from) => {
      if (part === '') return true;
      if (part.length > 32 && text.includes(part)) long++;
      return (
        indexOfText(text, part) === text.indexOf(part) &&
        indexOfText(text, part, from) === text.indexOf(part, from) &&
        lastIndexOfText(text, part) === text.lastIndexOf(part) &&
        lastIndexOfText(text, part, from) === text.lastIndexOf(part, from) &&
        replaceAllText(text, part, '$&') === text.replaceAll(part, '$$&') &&
        JSON.stringify([splitText(text, part), splitText(text, part, 2)]) ===
          JSON.stringify([text.split(part), text.split(part, 2)])
      );
    }),
    { numRuns: sweep({ short: 120, long: 2000 }) },
  );
  t.ok(long > sweep({ short: 1, long: 6 }), `${long} long ones`);
});
