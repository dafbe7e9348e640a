// Random exports of German banks, in the formats of the recipes of these names.
import { amountText, collapsed, contents, dayText, isoDay, type Maker, many, points, written } from './made-export.ts';

const german = (cents: number): string => amountText(cents, ',', '.');

export const GERMAN_BANK_EXPORTS: Readonly<Record<string, Maker>> = {
  dkb: (v, count) => {
    const account = v.iban();
    const rows = many(count, () => {
      const cents = v.signedCents();
      const status = v.of(['Gebucht', 'Gebucht', 'Vorgemerkt']);
      const [party, purpose, iban] = [v.text(), v.text(), v.of(['', v.iban()])];
      const sides = cents < 0 ? ['Ada Lovelace', party] : [party, 'Ada Lovelace'];
      const [booked, valued] = [v.date(), v.date()];
      const kind = cents < 0 ? 'Ausgang' : 'Eingang';
      // Trailing zeros after the decimal separator are left out.
      const amount = german(cents).replace(/,00$|(?<=,\d)0$/, '');
      return {
        cells: [
          ...[dayText(booked, 'dd.MM.yy'), dayText(valued, 'dd.MM.yy'), status, ...sides, purpose, kind, iban],
          ...[amount, '', '', ''],
        ],
        output:
          status !== 'Gebucht'
            ? null
            : {
                account,
                booked_on: isoDay(booked),
                value_date: isoDay(valued),
                party: written(party),
                iban,
                purpose: written(purpose),
                amount: points(cents),
              },
      };
    });
    return {
      delimiter: ';',
      quotes: 'all',
      above: [
        `"Girokonto";"${account}"`,
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
      ...contents(rows),
      expected: rows.filter(({ cells }) => cells[2] === 'Gebucht').length,
    };
  },

  'ing-de': (v, count) => {
    const account = v.iban();
    const rows = many(count, () => {
      const [booked, valued, party, purpose] = [v.date(), v.date(), v.plainText(), v.plainText()];
      const [kind, balance, amount] = [v.of(['Lastschrift', 'Gutschrift']), v.signedCents(), v.signedCents()];
      return {
        cells: [
          ...[dayText(booked, 'dd.MM.yyyy'), dayText(valued, 'dd.MM.yyyy'), party, kind, purpose],
          ...[german(balance), 'EUR', german(amount), 'EUR'],
        ],
        output: {
          booked_on: isoDay(booked),
          value_date: isoDay(valued),
          party: written(party),
          kind,
          purpose: written(purpose),
          balance: points(balance),
          amount: points(amount),
          currency: 'EUR',
          account,
        },
      };
    });
    return {
      delimiter: ';',
      quotes: 'never',
      above: [
        `Umsatzanzeige;Datei erstellt am: ${v.day('dd.MM.yyyy')} 08:15`,
        '',
        `IBAN;${account.replaceAll(/(.{4})(?=.)/g, '$1 ')}`,
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
      ...contents(rows),
      isOrderFixed: true,
      encodings: ['windows-1252', 'utf-8'],
      expected: count,
    };
  },

  'sparkasse-camt': (v, count) => {
    const rows = many(count, () => {
      const [account, booked, valued, purpose, party] = [v.iban(), v.date(), v.date(), v.text(), v.text()];
      const [iban, amount] = [v.of(['', v.iban()]), v.signedCents()];
      const info = v.of(['Umsatz gebucht', 'Umsatz gebucht', 'Umsatz vorgemerkt']);
      return {
        cells: [
          ...[account, dayText(booked, 'dd.MM.yy'), dayText(valued, 'dd.MM.yy'), 'FOLGELASTSCHRIFT', purpose, ''],
          ...[v.of(['', 'M-17']), '', party, iban, '', german(amount), 'EUR', info],
        ],
        output:
          info === 'Umsatz vorgemerkt'
            ? null
            : {
                account,
                booked_on: isoDay(booked),
                value_date: isoDay(valued),
                purpose: written(collapsed(purpose)),
                party: written(collapsed(party)),
                iban,
                amount: points(amount),
                currency: 'EUR',
              },
      };
    });
    return {
      delimiter: ';',
      quotes: 'all',
      header: [
        ...['Auftragskonto', 'Buchungstag', 'Valutadatum', 'Buchungstext', 'Verwendungszweck', 'Glaeubiger ID'],
        ...['Mandatsreferenz', 'Kundenreferenz (End-to-End)', 'Beguenstigter/Zahlungspflichtiger', 'Kontonummer/IBAN'],
        ...['BIC (SWIFT-Code)', 'Betrag', 'Waehrung', 'Info'],
      ],
      ...contents(rows),
      encodings: ['windows-1252', 'utf-8'],
      expected: rows.filter(({ cells }) => cells.at(-1) === 'Umsatz gebucht').length,
    };
  },
};
