// Random exports of the payouts of a payment service, in the formats of the recipes of these names.
import { contents, instantText, isoDay, type Maker, many, points } from './made-export.ts';

export const PAYOUT_EXPORTS: Readonly<Record<string, Maker>> = {
  'stripe-payouts': (v, count) => {
    const rows = many(count, (index) => {
      const isLive = v.below(5) > 0;
      const status = v.of(['paid', 'failed', 'pending', 'in_transit', 'canceled']);
      const failed = (text: string): string => (status === 'failed' ? text : '');
      // The yen has no smaller unit.
      const isWhole = v.below(4) === 0;
      const amount = isWhole ? String(v.cents()) : points(v.cents());
      const [created, createdAt, arrival] = [v.date(), v.time().slice(0, 5), v.date()];
      const account = v.digits(4);
      return {
        cells: [
          ...[`po_${index}`, amount, `${isoDay(created)} ${createdAt}`, isWhole ? 'jpy' : 'eur', String(isLive)],
          ...[`${isoDay(arrival)} 00:00`, 'card', 'ba_1', status, 'bank_account', 'standard', v.text()],
          ...[`txn_${index}`, failed('txn_x'), failed(v.text()), failed('account_closed'), v.of(['', v.text()])],
          ...[v.text(), account],
        ],
        output: !isLive
          ? null
          : {
              id: `po_${index}`,
              created_at: instantText(created, `${createdAt}:00`),
              arrives_on: isoDay(arrival),
              amount,
              currency: isWhole ? 'JPY' : 'EUR',
              status,
              account,
              balance_transaction: `txn_${index}`,
              returned_by: failed('txn_x'),
              failure: failed('account_closed'),
              // No amount has arrived, in no currency.
              arrived: status === 'paid' ? amount : '0',
            },
      };
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: [
        ...[
          'id',
          'Amount',
          'Created (UTC)',
          'Currency',
          'Livemode',
          'Arrival Date (UTC)',
          'Source Type',
          'Destination',
        ],
        ...['Status', 'Type', 'Method', 'Description', 'Balance Transaction', 'Failure Balance Transaction'],
        ...['Failure Message', 'Failure Code', 'Statement Descriptor', 'Destination Name', 'Destination Last 4'],
      ],
      ...contents(rows, ['arrives_on', 'created_at']),
      expected: rows.filter(({ cells }) => cells[4] === 'true').length,
    };
  },
};
