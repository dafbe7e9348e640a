// Random lists of bookkeeping, hosts, spreadsheets and reports, in the formats of the recipes of these names.
import {
  amountText,
  columnsOf,
  contents,
  dayText,
  instantText,
  isoDay,
  type MadeRow,
  type Maker,
  many,
  points,
  written,
} from './made-export.ts';

const german = (cents: number): string => amountText(cents, ',', '.');
const commas = (cents: number): string => amountText(cents, ',', '');
const american = (cents: number): string => amountText(cents, '.', ',');

const DAY_MILLISECONDS = 86_400_000;

export const LIST_EXPORTS: Readonly<Record<string, Maker>> = {
  'datev-extf': (v, count) => {
    const begin = v.of(['2025-01-01', '2025-07-01']);
    const beginText = begin.replaceAll('-', '');
    const rows = many(count, () => {
      const day = new Date(Date.parse(begin) + v.below(365) * DAY_MILLISECONDS);
      const [cents, text] = [v.signedCents(), v.text()];
      const [account, contraAccount, taxKey] = [`1${v.digits(4)}`, `8${v.digits(3)}`, v.of(['', '9', '40'])];
      const document = `R-${v.digits(4)}`;
      return {
        cells: [
          ...[commas(Math.abs(cents)), cents < 0 ? 'H' : 'S', 'EUR', account, contraAccount, taxKey],
          ...[dayText(day, 'ddMM'), document, text, ''],
        ],
        output: {
          booked_on: isoDay(day),
          account,
          contra_account: contraAccount,
          tax_key: taxKey,
          amount: points(cents),
          currency: 'EUR',
          document,
          text: written(text),
        },
      };
    });
    return {
      delimiter: ';',
      quotes: 'needed',
      above: [
        `"EXTF";700;21;"Buchungsstapel";13;20261101120000000;"";"RE";"";"";${v.digits(5)};${v.digits(5)};${beginText};4;${beginText};20261231;"Jahr";"";1;0;0;"EUR"`,
      ],
      header: [
        ...['Umsatz (ohne Soll/Haben-Kz)', 'Soll/Haben-Kennzeichen', 'WKZ Umsatz', 'Konto'],
        ...['Gegenkonto (ohne BU-Schlüssel)', 'BU-Schlüssel', 'Belegdatum', 'Belegfeld 1', 'Buchungstext'],
        'Postensperre',
      ],
      ...contents(rows),
      encodings: ['windows-1252', 'utf-8'],
      expected: count,
    };
  },

  'mainframe-payments': (v, count) => {
    const day = v.date();
    const rows = many(count, (index) => {
      const party = v.of(['Lovelace, Ada', 'Hopper, Grace', 'A NAME OF TWENTY CHA', 'X']);
      const [number, cents] = [String(index + 1).padStart(10, '0'), v.signedCents()];
      const amount = String(Math.abs(cents)).padStart(10, '0');
      return {
        cells: [`P${number}${party.padEnd(20)}${amount}${cents < 0 ? 'D' : 'C'}`],
        output: { number, party, amount: points(cents), day: isoDay(day) },
      };
    });
    return {
      delimiter: '',
      quotes: 'never',
      // The file has no header: its first record is in the header's place.
      header: [`H${dayText(day, 'yyyyMMdd')}SOME BANK`.padEnd(39)],
      ...contents(rows),
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
    const amountOf = (cents: number): string => german(Math.abs(cents)) + (cents < 0 ? '-' : ' ');
    const frame = (text: string): MadeRow => ({ cells: [text], output: null });
    const rows = many(count, (index) => {
      const [document, day, cents] = [`14${v.digits(8)}`, v.date(), v.signedCents()];
      const text = v.of(['Invoice 17', 'Credit', 'Köln', '']);
      return [
        ...(index > 0 && index % 50 === 0 ? [line, ...head(1 + index / 50)].map(frame) : []),
        {
          cells: [row([document, dayText(day, 'dd.MM.yyyy'), text, amountOf(cents)])],
          output: { document, posted_on: isoDay(day), text, amount: points(cents) },
        },
      ];
    }).flat();
    const [title, blank, above, columns, under] = head(1);
    const below = [line, row(['*', '', '', amountOf(v.signedCents())]), line];
    const made = contents([frame(under!), ...rows]);
    // Blank lines are not rows. The other lines of the frame have one field.
    const lines = [...made.rows.map(([text]) => text!), ...below].filter((text) => text !== '');
    return {
      delimiter: '',
      quotes: 'never',
      above: [title!, blank!, above!],
      header: [columns!],
      ...made,
      below,
      shortRows: lines.flatMap((text, index) => (text.startsWith('|') ? [] : [index + 1])),
      expected: count,
    };
  },

  'excel-sep': (v, count) => {
    const delimiter = v.of(['|', ';', ',', '\t', '~']);
    const rows = many(count, () => {
      const [article, name, price] = [v.digits(4), v.of(['Hinge, small', 'Bracket | steel', 'a; b']), v.cents()];
      return { cells: [article, name, german(price)], output: { article, name, price: points(price) } };
    });
    return {
      delimiter,
      quotes: 'needed',
      above: [`sep=${delimiter}`],
      header: ['article', 'name', 'price'],
      ...contents(rows),
      expected: count,
    };
  },

  'google-ads': (v, count) => {
    const period = `${v.day('MMMM d, yyyy')} - ${v.day('MMMM d, yyyy')}`;
    const rows = many(count, () => {
      const campaign = v.of(['Brand | DE', 'Generic "mugs"', 'Köln', '00 test']);
      const [clicks, impressions, cost] = [v.cents(), v.cents(), v.cents()];
      const share = v.below(10_000);
      const [hasShare, hasCost] = [v.below(2) === 0, v.below(2) === 0];
      return {
        cells: [
          ...[campaign, 'EUR', whole(clicks), whole(impressions), hasShare ? `${points(share)}%` : ' --'],
          ...[hasCost ? american(cost) : ' --', '0.00'],
        ],
        output: {
          campaign,
          currency: 'EUR',
          clicks: String(clicks),
          impressions: String(impressions),
          ctr: hasShare ? `0.${String(share).padStart(4, '0')}` : '',
          cost: hasCost ? points(cost) : '',
          period,
        },
      };
    });
    return {
      delimiter: '\t',
      quotes: 'needed',
      above: ['Campaign report\t\t\t\t\t\t', `"${period}"\t\t\t\t\t\t`],
      header: ['Campaign', 'Currency code', 'Clicks', 'Impr.', 'CTR', 'Cost', 'Conversions'],
      ...contents(rows),
      below: [
        'Total: Campaigns\t --\t1,204\t15,344\t7.85%\t310.55\t0.00',
        'Total: Account\t --\t1,204\t15,344\t7.85%\t310.55\t0.00',
      ],
      // The first column contains the name of a total.
      isOrderFixed: true,
      encodings: ['utf-16le', 'utf-8'],
      expected: count,
    };
  },

  survey: (v, count) => {
    const answers = many(count, (index) => {
      const tools = v.of([[], ['SQL'], ['Spreadsheets', 'Python', 'SQL']]);
      const [day, hour, minute, age] = [v.date(), v.below(24), twoDigits(v.below(60)), v.of(['', '30-39'])];
      const [zone, offset] = v.of([
        ['GMT+2', '+02:00'],
        ['GMT-5', '-05:00'],
        ['GMT+10', '+10:00'],
        ['GMT+5:30', '+05:30'],
        ['GMT+0', '+00:00'],
      ]) as [string, string];
      // On a twelve-hour clock, the first hour is 12.
      const shown = `${hour % 12 || 12}:${minute}:59 ${hour < 12 ? 'AM' : 'PM'}`;
      const answered = instantText(day, `${twoDigits(hour)}:${minute}:59`, offset);
      return {
        cells: [`${dayText(day, 'yyyy/MM/dd')} ${shown} ${zone}`, age, tools.join(', ')],
        outputs: tools.map((tool) => ({ person: String(index + 1), answered_at: answered, age, tool })),
      };
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: ['Timestamp', 'How old are you?', 'Which tools do you use?'],
      rows: answers.map(({ cells }) => cells),
      expected: answers.flatMap(({ outputs }) => outputs).length,
      values: columnsOf(answers.flatMap(({ outputs }) => outputs)),
    };
  },
};

/** A count in the notation of spreadsheets. */
function whole(count: number): string {
  return american(count * 100).replace('.00', '');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
