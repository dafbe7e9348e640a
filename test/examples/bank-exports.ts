// Random exports of American and international banks, in the formats of the recipes of these names.
import {
  amountText,
  collapsed,
  contents,
  dayText,
  instantText,
  isoDay,
  type Maker,
  many,
  points,
  written,
} from './made-export.ts';

const american = (cents: number): string => amountText(cents, '.', ',');

export const BANK_EXPORTS: Readonly<Record<string, Maker>> = {
  'bank-of-america': (v, count) => {
    const opening = v.cents();
    const begins = v.day('MM/dd/yyyy');
    const bookings = many(count, () => {
      const [day, description, amount, balance] = [v.date(), v.text(), v.signedCents(), v.signedCents()];
      return {
        cells: [dayText(day, 'MM/dd/yyyy'), description, american(amount), american(balance)],
        output: {
          booked_on: isoDay(day),
          description: written(description),
          amount: points(amount),
          balance: points(balance),
          opening: points(opening),
        },
      };
    });
    const beginning = [begins, `Beginning balance as of ${begins}`, '', american(opening)];
    return {
      delimiter: ',',
      quotes: 'needed',
      above: [
        'Description,,Summary Amt.',
        `Beginning balance as of ${begins},,"${american(opening)}"`,
        `Total credits,,"${american(v.cents())}"`,
        `Total debits,,"-${american(v.cents())}"`,
        `Ending balance as of ${v.day('MM/dd/yyyy')},,"${american(v.cents())}"`,
        '',
      ],
      header: ['Date', 'Description', 'Amount', 'Running Bal.'],
      ...contents([{ cells: beginning, output: null }, ...bookings]),
      expected: count,
    };
  },

  'chase-checking': (v, count) => {
    const rows = many(count, () => {
      const [day, description, amount] = [v.date(), v.text(), v.signedCents()];
      const kind = v.of(['DEBIT_CARD', 'ACH_CREDIT', 'CHECK_PAID', 'MISC_DEBIT']);
      // Pending bookings have a blank instead of a balance.
      const balance = v.of([' ', points(v.signedCents())]);
      const check = v.of(['', v.digits(4)]);
      return {
        cells: [
          ...[v.of(['DEBIT', 'CREDIT', 'CHECK', 'DSLIP']), dayText(day, 'MM/dd/yyyy'), description, points(amount)],
          ...[kind, balance, check],
        ],
        output: {
          posted_on: isoDay(day),
          description: written(collapsed(description)),
          amount: points(amount),
          type: kind,
          balance: balance.trim(),
          check_number: check,
        },
      };
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: ['Details', 'Posting Date', 'Description', 'Amount', 'Type', 'Balance', 'Check or Slip #'],
      ...contents(rows, ['posted_on']),
      rowEnd: ',',
      expected: count,
    };
  },

  revolut: (v, count) => {
    const rows = many(count, () => {
      const state = v.of(['COMPLETED', 'COMPLETED', 'REVERTED', 'PENDING']);
      const isDone = state === 'COMPLETED';
      const [kind, description] = [v.of(['CARD_PAYMENT', 'TOPUP', 'EXCHANGE']), v.text()];
      const [started, startedAt, completed, completedAt] = [v.date(), v.time(), v.date(), v.time()];
      const [amount, fee, balance] = [v.signedCents(), v.below(500), v.cents()];
      const currency = v.of(['EUR', 'USD']);
      return {
        cells: [
          ...[kind, 'Current', `${isoDay(started)} ${startedAt}`, isDone ? `${isoDay(completed)} ${completedAt}` : ''],
          ...[description, points(amount), points(fee), currency, state, isDone ? points(balance) : ''],
        ],
        output: !isDone
          ? null
          : {
              type: kind,
              started_at: instantText(started, startedAt),
              completed_at: instantText(completed, completedAt),
              description: written(description),
              amount: points(amount),
              fee: points(fee),
              currency,
              balance: points(balance),
              total: points(amount - fee),
            },
      };
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: [
        ...['Type', 'Product', 'Started Date', 'Completed Date', 'Description', 'Amount', 'Fee', 'Currency', 'State'],
        'Balance',
      ],
      ...contents(rows),
      expected: rows.filter(({ cells }) => cells[8] === 'COMPLETED').length,
    };
  },

  wise: (v, count) => {
    const rows = many(count, () => {
      const day = new Date(Date.UTC(2026, v.below(12), 1 + v.below(28)));
      const [id, amount, balance, fees] = [`TRANSFER-${v.digits(9)}`, v.signedCents(), v.cents(), v.below(1000)];
      const [currency, description, reference] = [v.of(['EUR', 'GBP']), v.text(), v.of(['', v.text()])];
      const rate = v.of(['', `0.${v.digits(5)}`]);
      const others = v.of([
        ['Bob', '', ''],
        ['', 'Bob', ''],
        ['', '', v.text()],
      ]) as [string, string, string];
      const [payer, payee, merchant] = others;
      return {
        cells: [
          ...[id, dayText(day, 'dd-MM-yyyy'), `${dayText(day, 'dd-MM-yyyy')} 10:00:00.123`, points(amount), currency],
          ...[description, reference, points(balance), 'EUR', 'GBP', rate, ...others, points(fees)],
        ],
        output: {
          id,
          day: isoDay(day),
          amount: points(amount),
          currency,
          description: written(description),
          reference: written(reference),
          balance: points(balance),
          rate,
          party: written(merchant || payee || payer),
          fees: points(fees),
        },
      };
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: [
        ...['TransferWise ID', 'Date', 'Date Time', 'Amount', 'Currency', 'Description', 'Payment Reference'],
        ...['Running Balance', 'Exchange From', 'Exchange To', 'Exchange Rate', 'Payer Name', 'Payee Name', 'Merchant'],
        'Total fees',
      ],
      ...contents(rows, ['day']),
      expected: count,
    };
  },
};
