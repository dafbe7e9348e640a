// Random exports of payment services, in the formats of the recipes of these names.
import {
  amountText,
  contents,
  dayText,
  instantText,
  isoDay,
  type Maker,
  many,
  points,
  type Values,
  written,
} from './made-export.ts';

const american = (cents: number): string => amountText(cents, '.', ',');

/** One in this many times is within the hour that clocks repeat at the end of daylight saving time. */
const HOUR_TWICE = 8;

const LOS_ANGELES = 'America/Los_Angeles';
const OFFSETS = { CEST: '+02:00', CET: '+01:00', PDT: '-07:00', PST: '-08:00' } as const;

export const PAYMENT_EXPORTS: Readonly<Record<string, Maker>> = {
  'adyen-settlement': (v, count) => {
    const rows = many(count, () => {
      const isTwice = v.below(HOUR_TWICE) === 0;
      const day = isTwice ? new Date('2026-10-25T00:00:00Z') : v.date();
      const time = isTwice ? '02:30:00' : v.time();
      const zone = v.of(['CEST', 'CET'] as const);
      const [reference, order] = [v.of(['', v.digits(16)]), v.digits(5)];
      const kind = v.of(['Settled', 'Refunded', 'MerchantPayout']);
      const [cents, commission] = [v.signedCents(), v.of(['', points(v.below(300))])];
      const sides = cents < 0 ? [points(-cents), ''] : ['', points(cents)];
      return {
        cells: [
          ...['Acme', 'AcmeEU', reference, order, v.of(['visa', 'mc', '']), `${isoDay(day)} ${time}`, zone],
          ...[kind, 'EUR', ...sides, 'EUR', ...sides, commission, '12'],
        ],
        output: {
          reference,
          order,
          created_at: instantText(day, time, OFFSETS[zone]),
          type: kind,
          currency: 'EUR',
          commission,
          batch: '12',
          net: points(cents),
        },
      };
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: [
        ...['Company Account', 'Merchant Account', 'Psp Reference', 'Merchant Reference', 'Payment Method'],
        ...['Creation Date', 'TimeZone', 'Type', 'Gross Currency', 'Gross Debit (GC)', 'Gross Credit (GC)'],
        ...['Net Currency', 'Net Debit (NC)', 'Net Credit (NC)', 'Commission (NC)', 'Batch Number'],
      ],
      ...contents(rows),
      expected: count,
    };
  },

  'paypal-activity': (v, count) => {
    // Accounts name their zone as a city or as an abbreviation. The name of a city does not say which of the two repeated hours
    // is meant.
    const isZoneNamed = v.below(3) === 0;
    const rows = many(count, () => {
      const { day, time, zone } = timeOfLosAngeles(v, !isZoneNamed && v.below(HOUR_TWICE) === 0);
      const zoneText = isZoneNamed ? LOS_ANGELES : zone;
      const status = v.of(['Completed', 'Completed', 'Pending', 'Denied']);
      const [id, name] = [v.digits(17), v.of(['', v.text()])];
      const [gross, fee, net] = [v.signedCents(), -v.below(500), v.signedCents()];
      return {
        cells: [
          ...[dayText(day, 'MM/dd/yyyy'), time, zoneText, name, 'Website Payment', status, 'USD'],
          ...[american(gross), american(fee), american(net), 'ada@example.com', '', id, american(v.cents())],
        ],
        output:
          status !== 'Completed'
            ? null
            : {
                transaction_id: id,
                at: instantText(day, time, OFFSETS[zone]),
                name: written(name),
                type: 'Website Payment',
                currency: 'USD',
                gross: points(gross),
                fee: points(fee),
                net: points(net),
              },
      };
    });
    return {
      delimiter: ',',
      quotes: 'all',
      header: [
        ...['Date', 'Time', 'TimeZone', 'Name', 'Type', 'Status', 'Currency', 'Gross', 'Fee', 'Net'],
        ...['From Email Address', 'To Email Address', 'Transaction ID', 'Balance'],
      ],
      ...contents(rows),
      expected: rows.filter(({ cells }) => cells[5] === 'Completed').length,
    };
  },

  'stripe-balance': (v, count) => {
    const rows = many(count, (index) => {
      // The yen has no smaller unit.
      const isWhole = v.below(4) === 0;
      const money = (cents: number): string => (isWhole ? String(cents) : points(cents));
      const [amount, fee, description] = [v.signedCents(), v.below(500), v.of(['', v.text()])];
      const kind = v.of(['charge', 'payout', 'refund']);
      const minute = (): string => v.time().slice(0, 5);
      const [created, createdAt, available, availableAt] = [v.date(), minute(), v.date(), minute()];
      const amounts = { amount: money(amount), fee: money(fee), net: money(amount - fee) };
      return {
        cells: [
          ...[`txn_${index}`, description, kind, `ch_${v.digits(6)}`, amounts.amount, amounts.fee, amounts.net],
          ...[isWhole ? 'jpy' : 'eur', `${isoDay(created)} ${createdAt}`, `${isoDay(available)} ${availableAt}`],
        ],
        output: {
          id: `txn_${index}`,
          description: written(description),
          type: kind,
          ...amounts,
          currency: isWhole ? 'JPY' : 'EUR',
          created_at: instantText(created, `${createdAt}:00`),
          available_on: instantText(available, `${availableAt}:00`),
        },
      };
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: [
        ...['id', 'Description', 'Type', 'Source', 'Amount', 'Fee', 'Net', 'Currency', 'Created (UTC)'],
        'Available On (UTC)',
      ],
      ...contents(rows),
      expected: count,
    };
  },
};

interface LocalTime {
  readonly day: Date;
  readonly time: string;
  readonly zone: 'PDT' | 'PST';
}

/** The abbreviation of the zone on that day. Within the repeated hour, only the abbreviation distinguishes the two. */
function timeOfLosAngeles(v: Values, isTwice: boolean): LocalTime {
  if (isTwice) {
    return { day: new Date('2026-11-01T00:00:00Z'), time: '01:30:00', zone: v.of(['PDT', 'PST'] as const) };
  }
  const day = v.date();
  const noon = new Date(`${isoDay(day)}T20:00:00Z`);
  const name = noon.toLocaleString('en-US', { timeZone: LOS_ANGELES, timeZoneName: 'short' });
  return { day, time: v.time(), zone: name.endsWith('PDT') ? 'PDT' : 'PST' };
}
