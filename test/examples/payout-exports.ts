// Exports of what a payment service has paid out, made anew by chance: what is in the files of the recipes of these names.
import { amountText, type Maker, many } from './made-export.ts';

export const PAYOUT_EXPORTS: Readonly<Record<string, Maker>> = {
  'stripe-payouts': (v, count) => {
    const live = many(count, () => v.below(5) > 0);
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
      rows: live.map((isLive, index) => {
        const status = v.of(['paid', 'failed', 'pending', 'in_transit', 'canceled']);
        const failed = (text: string): string => (status === 'failed' ? text : '');
        const amount = v.below(4) === 0 ? String(v.cents()) : amountText(v.cents(), '.', '');
        const created = `${v.day('yyyy-MM-dd')} ${v.time().slice(0, 5)}`;
        return [
          ...[`po_${index}`, amount, created, v.of(['eur', 'jpy']), String(isLive), `${v.day('yyyy-MM-dd')} 00:00`],
          ...['card', 'ba_1', status, 'bank_account', 'standard', v.text(), `txn_${index}`, failed('txn_x')],
          ...[failed(v.text()), failed('account_closed'), v.of(['', v.text()]), v.text(), v.digits(4)],
        ];
      }),
      expected: live.filter(Boolean).length,
    };
  },
};
