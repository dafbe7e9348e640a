// Lists of bookkeeping, hosts, spreadsheets and reports, made anew by chance: what is in the files of the recipes of these names.
import { amountText, type Maker, many, type Values } from './made-export.ts';

const german = (cents: number): string => amountText(cents, ',', '.');
const commas = (cents: number): string => amountText(cents, ',', '');
const american = (cents: number): string => amountText(cents, '.', ',');

export const LIST_EXPORTS: Readonly<Record<string, Maker>> = {
  'datev-extf': (v, count) => ({
    delimiter: ';',
    quotes: 'needed',
    above: [
      `"EXTF";700;21;"Buchungsstapel";13;20261101120000000;"";"RE";"";"";${v.digits(5)};${v.digits(5)};20250101;4;20250101;20251231;"Jahr";"";1;0;0;"EUR"`,
    ],
    header: [
      'Umsatz (ohne Soll/Haben-Kz)',
      'Soll/Haben-Kennzeichen',
      'WKZ Umsatz',
      'Konto',
      'Gegenkonto (ohne BU-Schlüssel)',
      'BU-Schlüssel',
      'Belegdatum',
      'Belegfeld 1',
      'Buchungstext',
      'Postensperre',
    ],
    rows: many(count, () => [
      commas(v.cents()),
      v.of(['S', 'H']),
      'EUR',
      `1${v.digits(4)}`,
      `8${v.digits(3)}`,
      v.of(['', '9', '40']),
      v.day('ddMM').replace('2902', '2802'),
      `R-${v.digits(4)}`,
      v.text(),
      '',
    ]),
    encodings: ['windows-1252', 'utf-8'],
    expected: count,
  }),

  'mainframe-payments': (v, count) => {
    const party = (): string => v.of(['Lovelace, Ada', 'Hopper, Grace', 'A NAME OF TWENTY CHA', 'X']).padEnd(20);
    const rows = many(count, (index) => {
      const cents = String(v.cents()).padStart(10, '0');
      return [`P${String(index + 1).padStart(10, '0')}${party()}${cents}${v.of(['D', 'C'])}`];
    });
    return {
      delimiter: '',
      quotes: 'never',
      // There is no header: the record that begins the file stands in its place.
      header: [`H${v.day('yyyyMMdd')}SOME BANK`.padEnd(39)],
      rows,
      below: [`T${String(count).padStart(9, '0')}`.padEnd(39)],
      expected: count,
    };
  },

  'sap-alv': (v, count) => {
    const line = '-'.repeat(64);
    const row = (cells: readonly string[]): string =>
      `|${cells.map((cell, at) => (at === 3 ? cell.padStart(20) : cell.padEnd([10, 10, 20][at]!))).join('|')}|`;
    const head = (page: number): string[] => {
      const columns = row(['Document', 'Posting', 'Text', 'Amount']);
      return [`${v.day('dd.MM.yyyy')}     Open items     ${page}`, '', line, columns, line];
    };
    const amount = (): string => {
      const cents = v.signedCents();
      return german(Math.abs(cents)) + (cents < 0 ? '-' : ' ');
    };
    const rows = many(count, (index) => [
      ...(index > 0 && index % 50 === 0 ? [line, ...head(1 + index / 50)] : []),
      row([`14${v.digits(8)}`, v.day('dd.MM.yyyy'), v.of(['Invoice 17', 'Credit', 'Köln', '']), amount()]),
    ]).flat();
    const [title, blank, above, columns, below] = head(1);
    return {
      delimiter: '',
      quotes: 'never',
      above: [title!, blank!, above!],
      header: [columns!],
      rows: [below!, ...rows].map((each) => [each]),
      below: [line, row(['*', '', '', amount()]), line],
      expected: count,
    };
  },

  'excel-sep': (v, count) => {
    const delimiter = v.of(['|', ';', ',', '\t', '~']);
    return {
      delimiter,
      quotes: 'needed',
      above: [`sep=${delimiter}`],
      header: ['article', 'name', 'price'],
      rows: many(count, () => [
        v.digits(4),
        v.of(['Hinge, small', 'Bracket | steel', 'a; b']),
        amountText(v.cents(), ',', '.'),
      ]),
      expected: count,
    };
  },

  'google-ads': (v, count) => ({
    delimiter: '\t',
    quotes: 'needed',
    above: ['Campaign report\t\t\t\t\t\t', `"${v.day('MMMM d, yyyy')} - ${v.day('MMMM d, yyyy')}"\t\t\t\t\t\t`],
    header: ['Campaign', 'Currency code', 'Clicks', 'Impr.', 'CTR', 'Cost', 'Conversions'],
    rows: many(count, () => [
      ...[v.of(['Brand | DE', 'Generic "mugs"', 'Köln', '00 test']), 'EUR', whole(v), whole(v)],
      ...[v.of([' --', `${v.below(100)}.${v.digits(2)}%`]), v.of([' --', american(v.cents())]), '0.00'],
    ]),
    below: [
      'Total: Campaigns\t --\t1,204\t15,344\t7.85%\t310.55\t0.00',
      'Total: Account\t --\t1,204\t15,344\t7.85%\t310.55\t0.00',
    ],
    // The name of a total stands in the first column.
    isOrderFixed: true,
    encodings: ['utf-16le', 'utf-8'],
    expected: count,
  }),

  survey: (v, count) => {
    const answers = many(count, () => v.of([[], ['SQL'], ['Spreadsheets', 'Python', 'SQL']]));
    return {
      delimiter: ',',
      quotes: 'needed',
      header: ['Timestamp', 'How old are you?', 'Which tools do you use?'],
      rows: answers.map((tools) => {
        const time = `${1 + v.below(12)}:${v.digits(1)}5:59 ${v.of(['AM', 'PM'])}`.replace(/:[6-9]5/, ':05');
        const zone = v.of(['GMT+2', 'GMT-5', 'GMT+10', 'GMT+5:30', 'GMT+0']);
        return [`${v.day('yyyy/MM/dd')} ${time} ${zone}`, v.of(['', '30-39']), tools.join(', ')];
      }),
      expected: answers.flat().length,
    };
  },
};

/** A count as spreadsheets write it. */
function whole(v: Values): string {
  return american(v.cents() * 100).replace('.00', '');
}
