// A bank statement as banks export it: semicolons, `-1.234,56`, `01.10.2026`, blank lines, the header repeated on every
// page, bookings pasted twice, a total in the footer.
import { FIRST_NAMES, LAST_NAMES } from './orders.ts';
import { pick, type Random, two, writeSeededFile } from './seeded-file.ts';

const SEED = 45;

/** Number of bookings per page, each with the header. */
const PAGE_ROWS = 5_000;

const HEADER = 'Buchungstag;Wertstellung;Auftraggeber / Empfänger;Verwendungszweck;IBAN;Betrag (EUR);Saldo';
const BLANK_LINE = ';;;;;;\n';
const FOOTER = 'Summe;;;;;1.192,35;\n';
const COUNTRIES = ['DE', 'AT', 'NL', 'FR'];
const PURPOSES = ['Rechnung', 'Abschlag Oktober', 'Miete', 'Gutschrift', 'Kartenzahlung', 'Lastschrift'];

/** Writes about `bytes` bytes unless a file of that size exists. */
export function makeStatement(path: string, bytes: number): void {
  writeSeededFile({ path, bytes, seed: SEED, header: HEADER, line: statementLines, footer: FOOTER });
}

/** A booking, preceded by any lines that interrupt the bookings. */
function statementLines(id: number, random: Random): string {
  const booking = bookingCells(id, random);
  const kind = random(100);
  const page = id % PAGE_ROWS === 0 ? `${HEADER}\n` : '';
  const blank = kind === 0 ? BLANK_LINE : '';
  // The second copy was written by another program, with different spaces.
  const again = kind >= 1 && kind < 4 ? line({ ...booking, party: ` ${booking.party}` }) : '';
  return `${page}${blank}${line(booking)}${again}`;
}

interface Booking {
  readonly bookedOn: string;
  readonly valueDate: string;
  readonly party: string;
  readonly purpose: string;
  readonly iban: string;
  readonly amount: string;
  readonly balance: string;
}

function bookingCells(id: number, random: Random): Booking {
  const day = `${two(1 + random(28))}.${two(1 + random(12))}.${2019 + random(7)}`;
  return {
    bookedOn: random(50) === 0 ? '' : day,
    valueDate: day,
    party: `${pick(FIRST_NAMES, random)} ${random(20) === 0 ? '  ' : ''}${pick(LAST_NAMES, random)}`,
    purpose: purpose(id, random),
    iban: iban(random),
    amount: germanNumber(random(3) === 0 ? '-' : '', random),
    balance: germanNumber('', random),
  };
}

/** Identifies the booking, so that two rows are equal only if one was pasted twice. */
function purpose(id: number, random: Random): string {
  const kind = random(20);
  const text = `${pick(PURPOSES, random)} ${random(2) === 0 ? `R-${2019 + random(7)}-` : 'Nr '}${id}`;
  if (kind === 0) return `"${text}; Teil ${1 + random(3)}"`;
  if (kind === 1) return `"${text.replace(' ', ' ""Eilt"" ')}"`;
  return text;
}

/** In groups of four or in one piece. One in twenty bookings has no IBAN, one in fifty only an account number. */
function iban(random: Random): string {
  const kind = random(100);
  if (kind < 5) return '';
  const digits = `${1_000_000_000 + random(1_000_000_000)}${10_000_000 + random(10_000_000)}`;
  if (kind < 7) return digits;
  const text = `${pick(COUNTRIES, random)}${two(random(97))}${digits}`;
  return kind < 50 ? text.replace(/.{4}/g, '$& ').trim() : text;
}

function germanNumber(sign: string, random: Random): string {
  const whole = random(3) === 0 ? `${1 + random(99)}.${String(random(1000)).padStart(3, '0')}` : String(random(1000));
  return `${sign}${whole},${two(random(100))}`;
}

function line({ bookedOn, valueDate, party, purpose, iban, amount, balance }: Booking): string {
  return `${[bookedOn, valueDate, party, purpose, iban, amount, balance].join(';')}\n`;
}
