// Files as exports of other programs are: made of values by chance, with the line ends, the encoding and the order of columns
// that one asks for. What stands in a source's export say bank-exports.ts, shop-exports.ts and list-exports.ts.
import type { Noise } from '../random.ts';

export type Encoding = 'utf-8' | 'windows-1252' | 'utf-16le';

export interface MadeExport {
  readonly delimiter: string;
  /** Which fields stand in quotes; `never`: the source has none, and its texts hold no delimiter. */
  readonly quotes: 'all' | 'needed' | 'never';
  /** Lines above the header as they stand, and below the last row. */
  readonly above?: readonly string[];
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly below?: readonly string[];
  /** Stands at the end of each row. */
  readonly rowEnd?: string;
  /** The source's order of columns tells them apart. */
  readonly isOrderFixed?: boolean;
  /** In which the source may write; UTF-8 unless said otherwise. */
  readonly encodings?: readonly Encoding[];
  /** Rows that the recipe makes of it. */
  readonly expected: number;
}

/** Makes an export with so many rows that are rows of the recipe, or would be but for what they say. */
export type Maker = (values: Values, count: number) => MadeExport;

export interface FileForm {
  readonly lineEnd: '\n' | '\r\n';
  /** In front of UTF-8; UTF-16 always has one. */
  readonly hasMark: boolean;
  readonly isShuffled: boolean;
  readonly encoding: Encoding;
}

const MARK = '\ufeff';

export function fileOf(made: MadeExport, form: FileForm, values: Values): Buffer {
  const order = made.header.map((_, index) => index);
  if (form.isShuffled && made.isOrderFixed !== true) values.shuffle(order);
  const line = (fields: readonly string[]): string =>
    order.map((index) => field(fields[index]!, made)).join(made.delimiter);
  const lines = [
    ...(made.above ?? []),
    line(made.header),
    ...made.rows.map((row) => line(row) + (made.rowEnd ?? '')),
    ...(made.below ?? []),
  ];
  const text = lines.map((each) => each + form.lineEnd).join('');
  if (form.encoding === 'utf-16le') return Buffer.from(MARK + text, 'utf16le');
  // Of windows-1252 the texts hold what it shares with Latin-1.
  if (form.encoding === 'windows-1252') return Buffer.from(text, 'latin1');
  return Buffer.from((form.hasMark ? MARK : '') + text);
}

function field(text: string, { delimiter, quotes }: MadeExport): string {
  if (quotes === 'never') return text;
  const isQuoted = quotes === 'all' || text.includes(delimiter) || /["\r\n]/.test(text);
  return isQuoted ? `"${text.replaceAll('"', '""')}"` : text;
}

const TEXTS = [
  'Stadtwerke Köln',
  'Café René',
  'Bäckerei Krume',
  'ACME GmbH & Co. KG',
  'Ada Lovelace',
  'Invoice no. 0017',
  '  two   blanks ',
  '=1+1',
  '+49 30 1234567',
  '-',
  '00420',
  '100 %',
];
/** With what has to stand in quotes. */
const TEXTS_QUOTED = ['a, b', 'a; b', 'Mug "blue"', 'tab\there'];
const DAY_MILLISECONDS = 86_400_000;
const DAYS_FROM = Date.UTC(2025, 0, 1);

export function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Values of cells, by chance. */
export class Values {
  readonly #noise: Noise;

  constructor(noise: Noise) {
    this.#noise = noise;
  }

  below(limit: number): number {
    return this.#noise(limit);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  shuffle(list: number[]): void {
    for (let at = list.length - 1; at > 0; at -= 1) {
      const other = this.below(at + 1);
      [list[at], list[other]] = [list[other]!, list[at]!];
    }
  }

  digits(count: number): string {
    return Array.from({ length: count }, () => this.below(10)).join('');
  }

  /** Of two years, as `dd.MM.yyyy` and the like write it. */
  day(format: string): string {
    return dayText(new Date(DAYS_FROM + this.below(730) * DAY_MILLISECONDS), format);
  }

  /** HH:mm:ss, by day. */
  time(): string {
    const two = (value: number): string => String(value).padStart(2, '0');
    return `${two(6 + this.below(17))}:${two(this.below(60))}:${two(this.below(60))}`;
  }

  /** Never zero, of any size up to millions. */
  cents(): number {
    return 1 + this.below(this.of([100, 10_000, 1_000_000, 1_000_000_000]));
  }

  signedCents(): number {
    return this.of([1, -1]) * this.cents();
  }

  text(): string {
    return this.below(4) === 0 ? this.of(TEXTS_QUOTED) : this.of(TEXTS);
  }

  /** Without what only quotes can hold. */
  plainText(): string {
    return this.of(TEXTS);
  }

  iban(): string {
    return `DE${this.digits(20)}`;
  }
}

export function dayText(day: Date, format: string): string {
  const [year, month, date] = day.toISOString().slice(0, 10).split('-') as [string, string, string];
  const name = day.toLocaleString('en-US', { month: 'long', timeZone: 'UTC' });
  const parts: Readonly<Record<string, string>> = {
    yyyy: year,
    yy: year.slice(2),
    MMMM: name,
    MMM: name.slice(0, 3),
    MM: month,
    dd: date,
    d: String(Number(date)),
  };
  return format.replaceAll(/yyyy|yy|MMMM|MMM|MM|dd|d/g, (part) => parts[part]!);
}

/** 123456 is 1,234.56 in American notation; without signs between the thousands where `grouping` is empty. */
export function amountText(cents: number, decimal: '.' | ',', grouping: '' | '.' | ','): string {
  const [whole, rest] = (Math.abs(cents) / 100).toFixed(2).split('.') as [string, string];
  return `${cents < 0 ? '-' : ''}${whole.replaceAll(/\B(?=(?:\d{3})+$)/g, grouping)}${decimal}${rest}`;
}
