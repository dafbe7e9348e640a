// Random exports of shops, in the formats of the recipes of these names.
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

export const SHOP_EXPORTS: Readonly<Record<string, Maker>> = {
  'amazon-settlement': (v, count) => {
    const isEuropean = v.below(2) === 0;
    const amountOf = (cents: number): string => amountText(cents, isEuropean ? ',' : '.', '');
    const [id, total] = [v.digits(11), v.signedCents()];
    const dayFormat = isEuropean ? 'dd.MM.yyyy' : 'yyyy-MM-dd';
    const time = (): string => `${v.day(dayFormat)} 08:00:00 UTC`;
    const empty = ['', '', '', '', ''];
    const rows = many(count, () => {
      const [kind, day] = [v.of(['Order', 'Refund', 'other-transaction']), v.date()];
      const order = v.of(['', `302-${v.digits(7)}-${v.digits(7)}`]);
      const description = v.of(['Principal', 'Shipping, express', 'Storage Fee']);
      const [amount, sku] = [v.signedCents(), v.of(['', 'MUG-1', '0042'])];
      return {
        cells: [
          ...[id, ...empty, kind, order, 'ItemPrice', description, amountOf(amount), dayText(day, dayFormat)],
          ...[sku, v.of(['', '1'])],
        ],
        output: {
          settlement_id: id,
          order_id: order,
          posted_on: isoDay(day),
          kind,
          amount_type: 'ItemPrice',
          description,
          sku,
          amount: points(amount),
          currency: 'EUR',
          total: points(total),
        },
      };
    });
    const settlement = [id, time(), time(), time(), amountOf(total), 'EUR', ...empty, '', '', ''];
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
        ...['transaction-type', 'order-id', 'amount-type', 'amount-description', 'amount', 'posted-date', 'sku'],
        'quantity-purchased',
      ],
      ...contents([{ cells: settlement, output: null }, ...rows]),
      expected: count,
    };
  },

  'ebay-transactions': (v, count) => {
    const seller = v.of(['ada_shop', 'hopper-2000']);
    const missing = (text: string): string => text || '--';
    const rows = many(count, () => {
      const [day, kind, amount] = [v.date(), v.of(['Order', 'Refund', 'Other fee']), v.signedCents()];
      const order = v.of(['', `17-${v.digits(5)}-${v.digits(5)}`]);
      const [item, description] = [v.of(['', v.text()]), v.of(['', v.text()])];
      return {
        cells: [
          ...[dayText(day, 'd MMM yyyy'), kind, missing(order), missing(item), american(amount), 'EUR'],
          missing(description),
        ],
        output: {
          day: isoDay(day),
          type: kind,
          order_number: order,
          item: written(item),
          amount: points(amount),
          currency: 'EUR',
          description: written(description),
          seller,
        },
      };
    });
    return {
      delimiter: ',',
      quotes: 'all',
      above: [
        `"Report created on ${v.day('d MMM yyyy')}"`,
        '""',
        `"Seller","${seller}"`,
        '""',
        ...v.of([[], ['"--","No data available"', '""']]),
      ],
      header: [
        ...['Transaction creation date', 'Type', 'Order number', 'Item title', 'Net amount', 'Payout currency'],
        'Description',
      ],
      ...contents(rows),
      expected: count,
    };
  },

  'etsy-statement': (v, count) => {
    const sign = v.of(['$', '€', '£']);
    const money = (cents: number): string => american(cents).replace(/\d/, (digit) => sign + digit);
    const rows = many(count, () => {
      const [day, kind, cents, net] = [
        v.date(),
        v.of(['Sale', 'Fee', 'Marketing', 'Deposit']),
        v.cents(),
        v.signedCents(),
      ];
      const order = v.digits(10);
      const [title, info, found] = v.of([
        [`Payment for Order #${order}`, '', order],
        [v.text(), `Order #${order}`, order],
        [v.text(), '', ''],
      ]) as [string, string, string];
      const isFee = v.below(2) === 0;
      return {
        cells: [
          ...[dayText(day, 'MMMM d, yyyy'), kind, title, info, 'USD'],
          ...(isFee ? ['--', money(-cents)] : [money(cents), '--']),
          money(net),
        ],
        output: {
          day: isoDay(day),
          type: kind,
          text: written(info === '' ? title : `${title} ${info}`),
          currency: 'USD',
          amount: isFee ? '' : points(cents),
          fees: isFee ? points(-cents) : '',
          net: points(net),
          order: found,
        },
      };
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: ['Date', 'Type', 'Title', 'Info', 'Currency', 'Amount', 'Fees & Taxes', 'Net'],
      ...contents(rows),
      expected: count,
    };
  },

  'shopify-orders': (v, count) => {
    // Orders of up to three lines.
    const orders = many(Math.ceil(count / 3), () => paymentOf(v));
    const rows = many(count, (index) => {
      const number = Math.floor(index / 3);
      const { status, paidText, paidAt } = orders[number]!;
      const first = ['ada@example.com', status, paidText, 'EUR', points(v.cents()), '4.90', '5.57', points(v.cents())];
      const [quantity, item, price, sku] = [1 + v.below(20), v.text(), v.cents(), v.of(['', 'MUG-1'])];
      return {
        cells: [
          ...[`#${1000 + number}`, ...(index % 3 === 0 ? first : first.map(() => '')), String(quantity), item],
          ...[points(price), sku, v.of(['', 'two\nlines'])],
        ],
        output: {
          order: `#${1000 + number}`,
          email: 'ada@example.com',
          status,
          paid_at: paidAt,
          currency: 'EUR',
          quantity: String(quantity),
          item: written(item),
          price: points(price),
          sku,
          amount: points(quantity * price),
        },
      };
    });
    return {
      delimiter: ',',
      quotes: 'needed',
      header: [
        ...['Name', 'Email', 'Financial Status', 'Paid at', 'Currency', 'Subtotal', 'Shipping', 'Taxes', 'Total'],
        ...['Lineitem quantity', 'Lineitem name', 'Lineitem price', 'Lineitem sku', 'Notes'],
      ],
      ...contents(rows),
      expected: count,
    };
  },
};

/** An unpaid order has no time of payment. */
function paymentOf(v: Values): { readonly status: string; readonly paidText: string; readonly paidAt: string } {
  if (v.below(2) === 0) return { status: 'pending', paidText: '', paidAt: '' };
  const [day, time, offset] = [v.date(), v.time(), v.of(['+02:00', '-05:00', '+00:00'])];
  const paidText = `${isoDay(day)} ${time} ${offset.replace(':', '')}`;
  return { status: 'paid', paidText, paidAt: instantText(day, time, offset) };
}
