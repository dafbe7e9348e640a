// Random exports of Dutch banks, in the formats of the recipes of these names.
import { amountText, contents, dayText, isoDay, type Maker, many, points, written } from './made-export.ts';

const commas = (cents: number): string => amountText(cents, ',', '');

const ING_HEADERS = {
  dutch: [
    ...['Datum', 'Naam / Omschrijving', 'Rekening', 'Tegenrekening', 'Code', 'Af Bij', 'Bedrag (EUR)', 'Mutatiesoort'],
    ...['Mededelingen', 'Saldo na mutatie', 'Tag'],
  ],
  english: [
    ...['Date', 'Name / Description', 'Account', 'Counterparty', 'Code', 'Debit/credit', 'Amount (EUR)'],
    ...['Transaction type', 'Notifications', 'Resulting balance', 'Tag'],
  ],
} as const;

export const DUTCH_BANK_EXPORTS: Readonly<Record<string, Maker>> = {
  'ing-nl': (v, count) => {
    const isDutch = v.below(2) === 0;
    const rows = many(count, () => {
      const [day, party, purpose, cents] = [v.date(), v.text(), v.text(), v.signedCents()];
      const [account, iban] = [`NL91ABNA0${v.digits(9)}`, v.of(['', v.iban()])];
      const [debit, credit] = isDutch ? ['Af', 'Bij'] : ['Debit', 'Credit'];
      return {
        cells: [
          ...[dayText(day, 'yyyyMMdd'), party, account, iban, v.of(['BA', 'OV', 'GT']), cents < 0 ? debit! : credit!],
          ...[commas(Math.abs(cents)), 'Transfer', purpose, commas(v.signedCents()), ''],
        ],
        output: {
          booked_on: isoDay(day),
          party: written(party),
          account,
          iban,
          amount: points(cents),
          purpose: written(purpose),
        },
      };
    });
    return {
      delimiter: isDutch ? ';' : ',',
      quotes: 'all',
      header: isDutch ? ING_HEADERS.dutch : ING_HEADERS.english,
      ...contents(rows),
      expected: count,
    };
  },

  rabobank: (v, count) => {
    const signed = (cents: number): string => (cents < 0 ? '' : '+') + commas(cents);
    const rows = many(count, () => {
      const [account, number, booked] = [`NL91RABO0${v.digits(9)}`, v.digits(18), v.date()];
      const [amount, balance, iban] = [v.signedCents(), v.signedCents(), v.of(['', v.iban()])];
      const [party, purposes] = [v.text(), [v.text(), v.of(['', v.text()]), '']];
      return {
        cells: [
          ...[account, 'EUR', 'RABONL2U', number, isoDay(booked), v.day('yyyy-MM-dd'), signed(amount), signed(balance)],
          ...[iban, party, ...purposes],
        ],
        output: {
          account,
          currency: 'EUR',
          number,
          booked_on: isoDay(booked),
          amount: points(amount),
          balance: points(balance),
          iban,
          party: written(party),
          purpose: written(purposes.filter((part) => part !== '').join(' ')),
        },
      };
    });
    return {
      delimiter: ',',
      quotes: 'all',
      header: [
        ...['IBAN/BBAN', 'Munt', 'BIC', 'Volgnr', 'Datum', 'Rentedatum', 'Bedrag', 'Saldo na trn'],
        ...['Tegenrekening IBAN/BBAN', 'Naam tegenpartij', 'Omschrijving-1', 'Omschrijving-2', 'Omschrijving-3'],
      ],
      ...contents(rows),
      encodings: ['windows-1252', 'utf-8'],
      expected: count,
    };
  },
};
