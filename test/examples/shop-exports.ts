// Exports of shops and payments, made anew by chance: what is in the files of the recipes of these names.
import { amountText, type Maker, many } from './made-export.ts';

const american = (cents: number): string => amountText(cents, '.', ',');
const points = (cents: number): string => amountText(cents, '.', '');

/** Hours that clocks show twice at the end of summer time, as exports have them. */
const HOUR_TWICE = 8;

export const SHOP_EXPORTS: Readonly<Record<string, Maker>> = {
  'adyen-settlement': (v, count) => ({
    delimiter: ',',
    quotes: 'needed',
    header: [
      ...[
        'Company Account',
        'Merchant Account',
        'Psp Reference',
        'Merchant Reference',
        'Payment Method',
        'Creation Date',
      ],
      ...[
        'TimeZone',
        'Type',
        'Gross Currency',
        'Gross Debit (GC)',
        'Gross Credit (GC)',
        'Net Currency',
        'Net Debit (NC)',
      ],
      ...['Net Credit (NC)', 'Commission (NC)', 'Batch Number'],
    ],
    rows: many(count, () => {
      const at = v.below(HOUR_TWICE) === 0 ? '2026-10-25 02:30:00' : `${v.day('yyyy-MM-dd')} ${v.time()}`;
      const [debit, credit] = v.of([
        [points(v.cents()), ''],
        ['', points(v.cents())],
      ]) as [string, string];
      return [
        ...[
          'Acme',
          'AcmeEU',
          v.of(['', v.digits(16)]),
          v.digits(5),
          v.of(['visa', 'mc', '']),
          at,
          v.of(['CEST', 'CET']),
        ],
        ...[v.of(['Settled', 'Refunded', 'MerchantPayout']), 'EUR', debit, credit, 'EUR', debit, credit],
        ...[v.of(['', points(v.below(300))]), '12'],
      ];
    }),
    expected: count,
  }),

  'amazon-settlement': (v, count) => {
    const isEuropean = v.below(2) === 0;
    const amount = (cents: number): string => amountText(cents, isEuropean ? ',' : '.', '');
    const id = v.digits(11);
    const day = (): string => v.day(isEuropean ? 'dd.MM.yyyy' : 'yyyy-MM-dd');
    const begin = ['', '', '', '', ''];
    return {
      delimiter: '\t',
      quotes: 'never',
      header: [
        ...[
          'settlement-id',
          'settlement-start-date',
          'settlement-end-date',
          'deposit-date',
          'total-amount',
          'currency',
        ],
        ...[
          'transaction-type',
          'order-id',
          'amount-type',
          'amount-description',
          'amount',
          'posted-date',
          'sku',
          'quantity-purchased',
        ],
      ],
      rows: [
        [
          id,
          `${day()} 08:00:00 UTC`,
          `${day()} 08:00:00 UTC`,
          `${day()} 08:00:00 UTC`,
          amount(v.signedCents()),
          'EUR',
          ...begin,
          '',
          '',
          '',
        ],
        ...many(count, () => [
          ...[
            id,
            ...begin,
            v.of(['Order', 'Refund', 'other-transaction']),
            v.of(['', `302-${v.digits(7)}-${v.digits(7)}`]),
          ],
          ...['ItemPrice', v.of(['Principal', 'Shipping, express', 'Storage Fee']), amount(v.signedCents()), day()],
          ...[v.of(['', 'MUG-1', '0042']), v.of(['', '1'])],
        ]),
      ],
      expected: count,
    };
  },

  'ebay-transactions': (v, count) => ({
    delimiter: ',',
    quotes: 'all',
    above: [
      `"Report created on ${v.day('d MMM yyyy')}"`,
      '""',
      `"Seller","${v.of(['ada_shop', 'hopper-2000'])}"`,
      '""',
      ...v.of([[], ['"--","No data available"', '""']]),
    ],
    header: [
      'Transaction creation date',
      'Type',
      'Order number',
      'Item title',
      'Net amount',
      'Payout currency',
      'Description',
    ],
    rows: many(count, () => [
      ...[
        v.day('d MMM yyyy'),
        v.of(['Order', 'Refund', 'Other fee']),
        v.of(['--', `17-${v.digits(5)}-${v.digits(5)}`]),
      ],
      ...[v.of(['--', v.text()]), american(v.signedCents()), 'EUR', v.of(['--', v.text()])],
    ]),
    expected: count,
  }),

  'etsy-statement': (v, count) => {
    const sign = v.of(['$', '€', '£']);
    const money = (cents: number): string => american(cents).replace(/\d/, (digit) => sign + digit);
    return {
      delimiter: ',',
      quotes: 'needed',
      header: ['Date', 'Type', 'Title', 'Info', 'Currency', 'Amount', 'Fees & Taxes', 'Net'],
      rows: many(count, () => [
        ...[v.day('MMMM d, yyyy'), v.of(['Sale', 'Fee', 'Marketing', 'Deposit'])],
        ...v.of([
          [`Payment for Order #${v.digits(10)}`, ''],
          [v.text(), `Order #${v.digits(10)}`],
          [v.text(), ''],
        ]),
        ...[
          'USD',
          ...v.of([
            [money(v.cents()), '--'],
            ['--', money(-v.cents())],
          ]),
          money(v.signedCents()),
        ],
      ]),
      expected: count,
    };
  },

  'paypal-activity': (v, count) => {
    const rows = many(count, () => [
      ...(v.below(HOUR_TWICE) === 0 ? ['11/01/2026', '01:30:00'] : [v.day('MM/dd/yyyy'), v.time()]),
      ...[
        v.of(['PDT', 'PST']),
        v.of(['', v.text()]),
        'Website Payment',
        v.of(['Completed', 'Completed', 'Pending', 'Denied']),
      ],
      ...['USD', american(v.signedCents()), american(-v.below(500)), american(v.signedCents()), 'ada@example.com', ''],
      ...[v.digits(17), american(v.cents())],
    ]);
    return {
      delimiter: ',',
      quotes: 'all',
      header: [
        ...['Date', 'Time', 'TimeZone', 'Name', 'Type', 'Status', 'Currency', 'Gross', 'Fee', 'Net'],
        ...['From Email Address', 'To Email Address', 'Transaction ID', 'Balance'],
      ],
      rows,
      expected: rows.filter((row) => row[5] === 'Completed').length,
    };
  },

  'shopify-orders': (v, count) => ({
    delimiter: ',',
    quotes: 'needed',
    header: [
      ...['Name', 'Email', 'Financial Status', 'Paid at', 'Currency', 'Subtotal', 'Shipping', 'Taxes', 'Total'],
      ...['Lineitem quantity', 'Lineitem name', 'Lineitem price', 'Lineitem sku', 'Notes'],
    ],
    rows: many(count, (index) => {
      // Orders of up to three lines; what is not paid has no time of it.
      const order = `#${1000 + Math.floor(index / 3)}`;
      const offset = v.of(['+0200', '-0500', '+0000']);
      const paid = v.of([
        ['pending', ''],
        ['paid', `${v.day('yyyy-MM-dd')} ${v.time()} ${offset}`],
      ]);
      const first = ['ada@example.com', ...paid, 'EUR', points(v.cents()), '4.90', '5.57', points(v.cents())];
      const values = index % 3 === 0 ? first : first.map(() => '');
      return [
        order,
        ...values,
        String(1 + v.below(20)),
        v.text(),
        points(v.cents()),
        v.of(['', 'MUG-1']),
        v.of(['', 'two\nlines']),
      ];
    }),
    expected: count,
  }),

  'stripe-balance': (v, count) => ({
    delimiter: ',',
    quotes: 'needed',
    header: [
      'id',
      'Description',
      'Type',
      'Source',
      'Amount',
      'Fee',
      'Net',
      'Currency',
      'Created (UTC)',
      'Available On (UTC)',
    ],
    rows: many(count, (index) => {
      const isWhole = v.below(4) === 0;
      const money = (cents: number): string => (isWhole ? String(cents) : points(cents));
      const [amount, fee] = [v.signedCents(), v.below(500)];
      const at = (): string => `${v.day('yyyy-MM-dd')} ${v.time().slice(0, 5)}`;
      return [
        ...[`txn_${index}`, v.of(['', v.text()]), v.of(['charge', 'payout', 'refund']), `ch_${v.digits(6)}`],
        ...[money(amount), money(fee), money(amount - fee), isWhole ? 'jpy' : 'eur', at(), at()],
      ];
    }),
    expected: count,
  }),
};
