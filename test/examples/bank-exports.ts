// Exports of banks, made anew by chance: what is in the files of the recipes of these names.
import { amountText, dayText, type Maker, many } from './made-export.ts';

const german = (cents: number): string => amountText(cents, ',', '.');
const commas = (cents: number): string => amountText(cents, ',', '');
const american = (cents: number): string => amountText(cents, '.', ',');
const points = (cents: number): string => amountText(cents, '.', '');

export const BANK_EXPORTS: Readonly<Record<string, Maker>> = {
  'bank-of-america': (v, count) => {
    const opening = american(v.cents());
    const begins = v.day('MM/dd/yyyy');
    return {
      delimiter: ',',
      quotes: 'needed',
      above: [
        'Description,,Summary Amt.',
        `Beginning balance as of ${begins},,"${opening}"`,
        `Total credits,,"${american(v.cents())}"`,
        `Total debits,,"-${american(v.cents())}"`,
        `Ending balance as of ${v.day('MM/dd/yyyy')},,"${american(v.cents())}"`,
        '',
      ],
      header: ['Date', 'Description', 'Amount', 'Running Bal.'],
      rows: [
        [begins, `Beginning balance as of ${begins}`, '', opening],
        ...many(count, () => [v.day('MM/dd/yyyy'), v.text(), american(v.signedCents()), american(v.signedCents())]),
      ],
      expected: count,
    };
  },

  'chase-checking': (v, count) => ({
    delimiter: ',',
    quotes: 'needed',
    header: ['Details', 'Posting Date', 'Description', 'Amount', 'Type', 'Balance', 'Check or Slip #'],
    rows: many(count, () => [
      v.of(['DEBIT', 'CREDIT', 'CHECK', 'DSLIP']),
      v.day('MM/dd/yyyy'),
      v.text(),
      points(v.signedCents()),
      v.of(['DEBIT_CARD', 'ACH_CREDIT', 'CHECK_PAID', 'MISC_DEBIT']),
      v.of([' ', points(v.signedCents())]),
      v.of(['', v.digits(4)]),
    ]),
    rowEnd: ',',
    expected: count,
  }),

  dkb: (v, count) => {
    const rows = many(count, () => {
      const cents = v.signedCents();
      // Zeros behind the point are left out.
      const amount = german(cents).replace(/,00$|(?<=,\d)0$/, '');
      const status = v.of(['Gebucht', 'Gebucht', 'Vorgemerkt']);
      const sides = cents < 0 ? ['Ada Lovelace', v.text()] : [v.text(), 'Ada Lovelace'];
      const [booked, valued] = [v.day('dd.MM.yy'), v.day('dd.MM.yy')];
      const kind = cents < 0 ? 'Ausgang' : 'Eingang';
      return [booked, valued, status, ...sides, v.text(), kind, v.of(['', v.iban()]), amount, '', '', ''];
    });
    return {
      delimiter: ';',
      quotes: 'all',
      above: [
        `"Girokonto";"${v.iban()}"`,
        ...v.of([[], ['"Zeitraum:";"01.01.2025 - 31.12.2026"']]),
        '"Kontostand vom 31.12.2026:";"1,88 €"',
        '""',
      ],
      header: [
        ...[
          'Buchungsdatum',
          'Wertstellung',
          'Status',
          'Zahlungspflichtige*r',
          'Zahlungsempfänger*in',
          'Verwendungszweck',
        ],
        ...['Umsatztyp', 'IBAN', 'Betrag (€)', 'Gläubiger-ID', 'Mandatsreferenz', 'Kundenreferenz'],
      ],
      rows,
      expected: rows.filter(([, , status]) => status === 'Gebucht').length,
    };
  },

  'ing-de': (v, count) => ({
    delimiter: ';',
    quotes: 'never',
    above: [
      `Umsatzanzeige;Datei erstellt am: ${v.day('dd.MM.yyyy')} 08:15`,
      '',
      `IBAN;${v.iban().replaceAll(/(.{4})(?=.)/g, '$1 ')}`,
      'Kontoname;Girokonto',
      'Bank;ING',
      'Kunde;Grace Hopper',
      'Zeitraum;01.01.2025 - 31.12.2026',
      `Saldo;${german(v.cents())};EUR`,
      '',
      'Sortierung;Datum absteigend',
      '',
      ...v.of([[], ['In der CSV-Datei finden Sie alle bereits gebuchten Umsätze.', '']]),
    ],
    header: [
      ...['Buchung', 'Wertstellungsdatum', 'Auftraggeber/Empfänger', 'Buchungstext', 'Verwendungszweck'],
      ...['Saldo', 'Währung', 'Betrag', 'Währung'],
    ],
    rows: many(count, () => [
      ...[v.day('dd.MM.yyyy'), v.day('dd.MM.yyyy'), v.plainText(), v.of(['Lastschrift', 'Gutschrift']), v.plainText()],
      ...[german(v.signedCents()), 'EUR', german(v.signedCents()), 'EUR'],
    ]),
    isOrderFixed: true,
    encodings: ['windows-1252', 'utf-8'],
    expected: count,
  }),

  'ing-nl': (v, count) => {
    const isDutch = v.below(2) === 0;
    return {
      delimiter: isDutch ? ';' : ',',
      quotes: 'all',
      header: isDutch
        ? [
            'Datum',
            'Naam / Omschrijving',
            'Rekening',
            'Tegenrekening',
            'Code',
            'Af Bij',
            'Bedrag (EUR)',
            'Mutatiesoort',
            'Mededelingen',
            'Saldo na mutatie',
            'Tag',
          ]
        : [
            'Date',
            'Name / Description',
            'Account',
            'Counterparty',
            'Code',
            'Debit/credit',
            'Amount (EUR)',
            'Transaction type',
            'Notifications',
            'Resulting balance',
            'Tag',
          ],
      rows: many(count, () => [
        ...[v.day('yyyyMMdd'), v.text(), `NL91ABNA0${v.digits(9)}`, v.of(['', v.iban()]), v.of(['BA', 'OV', 'GT'])],
        ...[
          v.of(isDutch ? ['Af', 'Bij'] : ['Debit', 'Credit']),
          commas(v.cents()),
          'Transfer',
          v.text(),
          commas(v.signedCents()),
          '',
        ],
      ]),
      expected: count,
    };
  },

  rabobank: (v, count) => ({
    delimiter: ',',
    quotes: 'all',
    header: [
      ...['IBAN/BBAN', 'Munt', 'BIC', 'Volgnr', 'Datum', 'Rentedatum', 'Bedrag', 'Saldo na trn'],
      ...['Tegenrekening IBAN/BBAN', 'Naam tegenpartij', 'Omschrijving-1', 'Omschrijving-2', 'Omschrijving-3'],
    ],
    rows: many(count, () => {
      const signed = (cents: number): string => (cents < 0 ? '' : '+') + commas(cents);
      return [
        ...[`NL91RABO0${v.digits(9)}`, 'EUR', 'RABONL2U', v.digits(18), v.day('yyyy-MM-dd'), v.day('yyyy-MM-dd')],
        ...[signed(v.signedCents()), signed(v.signedCents()), v.of(['', v.iban()]), v.text()],
        ...[v.text(), v.of(['', v.text()]), ''],
      ];
    }),
    encodings: ['windows-1252', 'utf-8'],
    expected: count,
  }),

  'sparkasse-camt': (v, count) => {
    const rows = many(count, () => [
      ...[v.iban(), v.day('dd.MM.yy'), v.day('dd.MM.yy'), 'FOLGELASTSCHRIFT', v.text(), '', v.of(['', 'M-17']), ''],
      ...[v.text(), v.of(['', v.iban()]), '', german(v.signedCents()), 'EUR'],
      v.of(['Umsatz gebucht', 'Umsatz gebucht', 'Umsatz vorgemerkt']),
    ]);
    return {
      delimiter: ';',
      quotes: 'all',
      header: [
        ...['Auftragskonto', 'Buchungstag', 'Valutadatum', 'Buchungstext', 'Verwendungszweck', 'Glaeubiger ID'],
        ...['Mandatsreferenz', 'Kundenreferenz (End-to-End)', 'Beguenstigter/Zahlungspflichtiger', 'Kontonummer/IBAN'],
        ...['BIC (SWIFT-Code)', 'Betrag', 'Waehrung', 'Info'],
      ],
      rows,
      encodings: ['windows-1252', 'utf-8'],
      expected: rows.filter((row) => row.at(-1) === 'Umsatz gebucht').length,
    };
  },

  revolut: (v, count) => {
    const rows = many(count, () => {
      const state = v.of(['COMPLETED', 'COMPLETED', 'REVERTED', 'PENDING']);
      const isDone = state === 'COMPLETED';
      const at = (): string => `${v.day('yyyy-MM-dd')} ${v.time()}`;
      return [
        ...[v.of(['CARD_PAYMENT', 'TOPUP', 'EXCHANGE']), 'Current', at(), isDone ? at() : '', v.text()],
        ...[
          points(v.signedCents()),
          points(v.below(500)),
          v.of(['EUR', 'USD']),
          state,
          isDone ? points(v.cents()) : '',
        ],
      ];
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: [
        'Type',
        'Product',
        'Started Date',
        'Completed Date',
        'Description',
        'Amount',
        'Fee',
        'Currency',
        'State',
        'Balance',
      ],
      rows,
      expected: rows.filter((row) => row[8] === 'COMPLETED').length,
    };
  },

  wise: (v, count) => ({
    delimiter: ',',
    quotes: 'needed',
    header: [
      ...[
        'TransferWise ID',
        'Date',
        'Date Time',
        'Amount',
        'Currency',
        'Description',
        'Payment Reference',
        'Running Balance',
      ],
      ...['Exchange From', 'Exchange To', 'Exchange Rate', 'Payer Name', 'Payee Name', 'Merchant', 'Total fees'],
    ],
    rows: many(count, () => {
      const day = new Date(Date.UTC(2026, v.below(12), 1 + v.below(28)));
      const other = [
        ['Bob', '', ''],
        ['', 'Bob', ''],
        ['', '', v.text()],
      ];
      return [
        ...[`TRANSFER-${v.digits(9)}`, dayText(day, 'dd-MM-yyyy'), `${dayText(day, 'dd-MM-yyyy')} 10:00:00.123`],
        ...[
          points(v.signedCents()),
          v.of(['EUR', 'GBP']),
          v.text(),
          v.of(['', v.text()]),
          points(v.cents()),
          'EUR',
          'GBP',
        ],
        ...[v.of(['', `0.${v.digits(5)}`]), ...v.of(other), points(v.below(1000))],
      ];
    }),
    expected: count,
  }),
};
