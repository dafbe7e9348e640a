// W3: five edits of cells: normalise a text, rewrite with a regular expression, reformat a date, compute a product.
import { positions } from './javascript-program.ts';
import type { Workload } from './workload.ts';

export const w3: Workload = {
  name: 'W3',
  title: 'trim and upper case, regular expression, date, computed amount',
  input: 'orders',
  ending: 'csv',
  template: {
    format: 1,
    operations: [
      { op: 'text', columns: ['customer'], steps: ['trim', 'upper'] },
      { op: 'replace', columns: ['sku'], find: '^SKU-(\\d+)-(\\d+)$', replace: '$2/$1', mode: 'regex' },
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      { op: 'format_date', columns: ['order_date'], format: 'dd.MM.yyyy' },
      { op: 'parse_number', columns: ['amount', 'qty'] },
      { op: 'set', columns: { total: 'amount * qty' } },
    ],
    output: { format: 'csv' },
  },
  duckdb: `SELECT * REPLACE (
      upper(trim(customer)) AS customer,
      regexp_replace(sku, '^SKU-(\\d+)-(\\d+)$', '\\2/\\1') AS sku,
      strftime(CAST(order_date AS DATE), '%d.%m.%Y') AS order_date),
      CAST(amount AS DECIMAL(12, 2)) * CAST(qty AS INTEGER) AS total
    FROM input`,
  polars: (rows, { col, Date: day, Float64, Int64 }) =>
    rows.withColumns(
      col('customer').str.strip().str.toUpperCase().alias('customer'),
      col('sku').str.replace('^SKU-(\\d+)-(\\d+)$', '$2/$1').alias('sku'),
      col('order_date').str.strptime(day, '%Y-%m-%d').dt.strftime('%d.%m.%Y').alias('order_date'),
      col('amount').cast(Float64).mul(col('qty').cast(Int64)).alias('total'),
    ),
  miller: {
    flags: [],
    verbs: [
      'put',
      `$customer = toupper(strip($customer));
       $sku = sub($sku, "^SKU-([0-9]+)-([0-9]+)$", "\\2/\\1");
       $order_date = strftime(strptime($order_date, "%Y-%m-%d"), "%d.%m.%Y");
       $total = $amount * $qty`,
    ],
  },
  javascript: (header) => {
    const names = ['customer', 'sku', 'order_date', 'amount', 'qty'];
    const [customer, sku, date, amount, qty] = positions(header, names) as [number, number, number, number, number];
    return {
      columns: [...header, 'total'],
      row: (cells) => {
        const row = [...cells];
        row[customer] = row[customer]!.trim().toUpperCase();
        row[sku] = row[sku]!.replace(/^SKU-(\d+)-(\d+)$/, '$2/$1');
        row[date] = row[date]!.replace(/^(\d{4})-(\d\d)-(\d\d)$/, '$3.$2.$1');
        row.push((Number(row[amount]) * Number(row[qty])).toFixed(2));
        return row;
      },
    };
  },
  answer: { numbers: ['amount', 'qty', 'total'], lenient: {} },
  limit: ['scan', 'write'],
};
