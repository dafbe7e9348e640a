// Rows of twelve columns, as in typical workbooks.

export const WORKBOOK_COLUMNS = [
  'id',
  'customer',
  'email',
  'country',
  'status',
  'ordered_on',
  'amount',
  'quantity',
  'sku',
  'phone',
  'notes',
  'rank',
];

/** Seeded rows without characters that a CSV would quote: seven text columns, four number columns, one date column. */
export function workbookRows(count: number): string[][] {
  let seed = 7;
  const below = (most: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * most);
  };
  const two = (value: number): string => String(value).padStart(2, '0');
  const pick = (list: readonly string[]): string => list[below(list.length)]!;
  return Array.from({ length: count }, (_, row) => [
    String(row + 1),
    `${pick(['Anna', 'Günther', 'José', 'Zoë'])} ${pick(['Smith', 'Müller', "O'Neil", 'Brown & Co'])}`,
    `user${below(150_000)}@example.com`,
    pick(['US', 'DE', 'FR', 'GB', 'CZ']),
    pick(['paid', 'pending', 'refunded']),
    `${2019 + below(6)}-${two(1 + below(12))}-${two(1 + below(28))}`,
    (below(10_000_000) / 100).toFixed(2),
    String(1 + below(20)),
    `SKU-${below(100)}-${below(5000)}`,
    `+${1 + below(98)} ${1_000_000 + below(9_000_000)}`,
    Array.from({ length: 3 + below(6) }, () =>
      pick(['please', 'call', '<before>', 'delivery', '&', 'gift', 'wrap']),
    ).join(' '),
    String(below(2)),
  ]);
}
