// W8: converts a bank statement to a ledger with twelve operations, as in the bank statement of the examples.
import { type Cells, positions } from './javascript-program.ts';
import { SAME_SET } from './job.ts';
import type { Workload } from './workload.ts';

const IBAN = '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$';
const INVOICE = 'R-\\d{4}-\\d+';
const IBAN_PATTERN = new RegExp(IBAN);
const INVOICE_PATTERN = new RegExp(INVOICE);
const COLUMNS = ['booked_on', 'value_date', 'party', 'purpose', 'iban', 'amount', 'invoice', 'direction', '_issues'];
const FILE_COLUMNS = [
  'Buchungstag',
  'Wertstellung',
  'Auftraggeber / Empfänger',
  'Verwendungszweck',
  'IBAN',
  'Betrag (EUR)',
];

export const w8: Workload = {
  name: 'W8',
  title: "twelve operations on a bank's statement",
  input: 'statement',
  ending: 'csv',
  template: {
    format: 1,
    input: {
      columns: [
        { name: 'booked_on', match: ['Buchungstag', 'Buchungsdatum'] },
        { name: 'value_date', match: ['Wertstellung', 'Valuta'] },
        { name: 'party', match: [{ pattern: '^Auftraggeber' }, 'Empfänger', 'Name'] },
        { name: 'purpose', match: ['Verwendungszweck', 'Buchungstext'] },
        { name: 'iban', match: ['IBAN', 'Kontonummer'], required: false },
        { name: 'amount', match: ['Betrag', 'Umsatz', { pattern: '^Betrag \\(' }] },
      ],
      other_columns: 'drop',
    },
    operations: [
      { op: 'stop_when', where: 'booked_on == "Summe"' },
      { op: 'filter', where: 'booked_on == "Buchungstag"', mode: 'drop' },
      { op: 'drop_blank_rows' },
      { op: 'fill_empty', columns: 'booked_on', from: ['value_date'] },
      { op: 'text', columns: ['party', 'purpose'], steps: ['trim', 'collapse_spaces'] },
      { op: 'text', columns: 'iban', steps: [{ remove_chars: ' ' }, 'upper'] },
      { op: 'parse_date', columns: ['booked_on', 'value_date'], formats: ['dd.MM.yyyy'] },
      { op: 'parse_number', columns: 'amount', decimal: ',', grouping: '.' },
      { op: 'dedupe', by: ['value_date', 'party', 'purpose', 'amount'] },
      { op: 'extract', column: 'purpose', pattern: `(?P<invoice>${INVOICE})`, into: { invoice: 'invoice' } },
      { op: 'set', columns: { direction: 'amount < 0d ? "out" : "in"' } },
      { op: 'validate', rules: [{ column: 'iban', check: 'pattern', pattern: IBAN, on_error: 'flag' }] },
    ],
    output: { format: 'csv' },
  },
  duckdb: `WITH tidy AS (
      SELECT
        CAST(strptime(coalesce("Buchungstag", "Wertstellung"), '%d.%m.%Y') AS DATE) AS booked_on,
        CAST(strptime("Wertstellung", '%d.%m.%Y') AS DATE) AS value_date,
        regexp_replace(trim("Auftraggeber / Empfänger"), '\\s+', ' ', 'g') AS party,
        regexp_replace(trim("Verwendungszweck"), '\\s+', ' ', 'g') AS purpose,
        upper(replace("IBAN", ' ', '')) AS iban,
        CAST(replace(replace("Betrag (EUR)", '.', ''), ',', '.') AS DECIMAL(14, 2)) AS amount
      FROM input
      WHERE "Wertstellung" IS NOT NULL AND "Buchungstag" IS DISTINCT FROM 'Buchungstag'),
    bookings AS (SELECT DISTINCT ON (value_date, party, purpose, amount) * FROM tidy)
    SELECT * REPLACE (CASE WHEN regexp_matches(iban, '${IBAN}') THEN iban END AS iban),
      nullif(regexp_extract(purpose, '${INVOICE}'), '') AS invoice,
      CASE WHEN amount < 0 THEN 'out' ELSE 'in' END AS direction,
      CASE WHEN NOT regexp_matches(iban, '${IBAN}') THEN 'iban:PATTERN_MISMATCH' END AS _issues
    FROM bookings`,
  polars: (rows, { col, lit, when, Date: day, Float64 }) => {
    const [bookedOn, valueDate, party, purpose, iban, amount] = FILE_COLUMNS as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const tidied = (name: string) => col(name).str.strip().str.replaceAll('\\s+', ' ');
    return rows
      .filter(
        col(valueDate)
          .isNotNull()
          .and(col(valueDate).neq(lit('Wertstellung'))),
      )
      .select(
        col(bookedOn).fillNull(col(valueDate)).str.strptime(day, '%d.%m.%Y').alias('booked_on'),
        col(valueDate).str.strptime(day, '%d.%m.%Y').alias('value_date'),
        tidied(party).alias('party'),
        tidied(purpose).alias('purpose'),
        col(iban).str.replaceAll(' ', '').str.toUpperCase().alias('iban'),
        col(amount).str.replaceAll('[.]', '').str.replace(',', '.').cast(Float64).alias('amount'),
      )
      .unique({ subset: ['value_date', 'party', 'purpose', 'amount'], keep: 'any', maintainOrder: false })
      .withColumns(
        col('purpose').str.extract(`(${INVOICE})`, 1).alias('invoice'),
        when(col('amount').lt(0)).then(lit('out')).otherwise(lit('in')).alias('direction'),
        when(col('iban').str.contains(IBAN)).then(col('iban')).otherwise(lit(null)).alias('iban'),
        when(col('iban').str.contains(IBAN).not())
          .then(lit('iban:PATTERN_MISMATCH'))
          .otherwise(lit(null))
          .alias('_issues'),
      );
  },
  miller: {
    flags: ['-S', '--ifs', ';'],
    verbs: [
      'filter',
      '$Buchungstag != "Buchungstag" && $Wertstellung != ""',
      ...['then', 'rename', 'Auftraggeber / Empfänger,party', 'then', 'put'],
      `booked_on = is_empty($Buchungstag) ? $Wertstellung : $Buchungstag;
       amount = gsub(\${Betrag (EUR)}, "[.]", "");
       amount = sub(amount, ",", ".");
       purpose = clean_whitespace($Verwendungszweck);
       iban = toupper(gsub($IBAN, " ", ""));
       issues = (iban == "" || iban =~ "${IBAN}") ? "" : "iban:PATTERN_MISMATCH";
       invoice = "";
       if (purpose =~ "(R-[0-9]{4}-[0-9]+)") { invoice = "\\1" }
       $* = {
         "booked_on": strftime(strptime(booked_on, "%d.%m.%Y"), "%Y-%m-%d"),
         "value_date": strftime(strptime($Wertstellung, "%d.%m.%Y"), "%Y-%m-%d"),
         "party": clean_whitespace($party),
         "purpose": purpose,
         "iban": issues == "" ? iban : "",
         "amount": amount,
         "invoice": invoice,
         "direction": amount =~ "^-" ? "out" : "in",
         "_issues": issues}`,
      ...['then', 'head', '-n', '1', '-g', 'value_date,party,purpose,amount'],
    ],
  },
  javascript: (header) => {
    const places = positions(header, FILE_COLUMNS) as [number, number, number, number, number, number];
    const seen = new Set<string>();
    let over = false;
    return {
      columns: COLUMNS,
      row: (cells) => {
        over ||= cells[places[0]] === 'Summe';
        if (over || cells[places[0]] === 'Buchungstag' || places.every((place) => cells[place] === '')) return null;
        const [a, b, c, d, e, f] = places;
        const booking = ledgerRow([cells[a]!, cells[b]!, cells[c]!, cells[d]!, cells[e]!, cells[f]!]);
        const [, valueDate, party, purpose, , amount] = booking;
        const key = [valueDate, party, purpose, amount].join('\n');
        if (seen.has(key)) return null;
        seen.add(key);
        return booking;
      },
    };
  },
  // These systems may choose which of equal bookings stays, and its position.
  answer: { numbers: ['amount'], lenient: { duckdb: [SAME_SET], polars: [SAME_SET] } },
  limit: ['scan', 'memcpy', 'write'],
};

type Six = readonly [string, string, string, string, string, string];

function ledgerRow([bookedOn, valueDate, party, purpose, iban, amount]: Six): Cells {
  const tidied = (text: string): string => text.trim().replace(/\s+/g, ' ');
  const isoDate = (text: string): string => text.replace(/^(\d\d)\.(\d\d)\.(\d{4})$/, '$3-$2-$1');
  const account = iban.replaceAll(' ', '').toUpperCase();
  const sound = account === '' || IBAN_PATTERN.test(account);
  const exact = amount.replaceAll('.', '').replace(',', '.');
  return [
    isoDate(bookedOn === '' ? valueDate : bookedOn),
    isoDate(valueDate),
    tidied(party),
    tidied(purpose),
    sound ? account : '',
    exact,
    INVOICE_PATTERN.exec(purpose)?.[0] ?? '',
    exact.startsWith('-') ? 'out' : 'in',
    sound ? '' : 'iban:PATTERN_MISMATCH',
  ];
}
