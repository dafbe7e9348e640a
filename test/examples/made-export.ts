// Files like the exports of other programs: random values, with the requested line ends, encoding and order of columns. The other
// files of this folder describe the contents of each export, and the output that its recipe makes of it. The output is computed
// from the written values, never by the engine.
import type { Noise } from '../random.ts';

export type Encoding = 'utf-8' | 'windows-1252' | 'utf-16le';

export interface MadeExport {
  readonly delimiter: string;
  /** Quoted fields. `never`: the source does not quote, and its texts contain no delimiter. */
  readonly quotes: 'all' | 'needed' | 'never';
  /** Lines above the header, unchanged, and lines below the last row. */
  readonly above?: readonly string[];
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly below?: readonly string[];
  /** Text at the end of each row. */
  readonly rowEnd?: string;
  /** The recipe identifies columns by their order. */
  readonly isOrderFixed?: boolean;
  /** Encodings that the source may write; UTF-8 by default. */
  readonly encodings?: readonly Encoding[];
  /** Numbers of the rows that have fewer fields than the header, which the report counts. By default, there are no such rows. */
  readonly shortRows?: readonly number[];
  /** Number of rows that the recipe outputs. */
  readonly expected: number;
  /** The text of each cell that the recipe outputs: by column of the output, in the order of its rows. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

/** A row of the file, and the output row that the recipe makes of it; null if the recipe drops it. */
export interface MadeRow {
  readonly cells: readonly string[];
  readonly output: OutputRow | null;
}

/** Texts by column. */
export type OutputRow = Readonly<Record<string, string>>;

/** Makes an export with `count` rows, including rows that the recipe drops because of their values. */
export type Maker = (values: Values, count: number) => MadeExport;

export interface FileForm {
  readonly lineEnd: '\n' | '\r\n';
  /** A byte order mark before UTF-8; UTF-16 always has one. */
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
  // The texts contain only characters that windows-1252 shares with Latin-1.
  if (form.encoding === 'windows-1252') return Buffer.from(text, 'latin1');
  return Buffer.from((form.hasMark ? MARK : '') + text);
}

function field(text: string, { delimiter, quotes }: MadeExport): string {
  if (quotes === 'never') return text;
  const isQuoted = quotes === 'all' || text.includes(delimiter) || /["\r\n]/.test(text);
  return isQuoted ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The part of an export that follows from its rows. The recipe sorts by the columns of `sortedBy`, whose texts sort like their
 * values.
 */
export function contents(
  rows: readonly MadeRow[],
  sortedBy: readonly string[] = [],
): Pick<MadeExport, 'rows' | 'values'> {
  const outputs = rows.flatMap(({ output }) => (output === null ? [] : [output]));
  const sorted = outputs.toSorted((one, other) => {
    const column = sortedBy.find((name) => one[name] !== other[name]);
    return column === undefined ? 0 : one[column]! < other[column]! ? -1 : 1;
  });
  return { rows: rows.map(({ cells }) => cells), values: columnsOf(sorted) };
}

export function columnsOf(rows: readonly OutputRow[]): Record<string, readonly string[]> {
  return Object.fromEntries(Object.keys(rows[0] ?? {}).map((name) => [name, rows.map((row) => row[name]!)]));
}

/**
 * Texts that start with a sign but that no spreadsheet evaluates: dashes, telephone numbers, and quantities followed by words.
 */
const HARMLESS = [/^-+$/, /^\+\d[\d ()./-]*$/, /^[+-] ?\d(?:(?<![A-Za-z])\d|[A-Za-z.% \u0080-\uffff]|[,;] )*$/];

/** The text in an output: with a `'` before a text that a spreadsheet could evaluate as a formula. */
export function written(text: string): string {
  return /^[=+-]/.test(text) && !HARMLESS.some((pattern) => pattern.test(text)) ? `'${text}` : text;
}

/** Replaces each run of white space with one space, and removes it at both ends. */
export function collapsed(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
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
/** Texts that must be quoted. */
const TEXTS_QUOTED = ['a, b', 'a; b', 'Mug "blue"', 'tab\there'];
const DAY_MILLISECONDS = 86_400_000;
const DAYS_FROM = Date.UTC(2025, 0, 1);

export function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Random values of cells. */
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

  /** A date within two years. */
  date(): Date {
    return new Date(DAYS_FROM + this.below(730) * DAY_MILLISECONDS);
  }

  /** A date in a format such as `dd.MM.yyyy`. */
  day(format: string): string {
    return dayText(this.date(), format);
  }

  /** HH:mm:ss, in the daytime. */
  time(): string {
    const two = (value: number): string => String(value).padStart(2, '0');
    return `${two(6 + this.below(17))}:${two(this.below(60))}:${two(this.below(60))}`;
  }

  /** Never zero; of any magnitude up to millions. */
  cents(): number {
    return 1 + this.below(this.of([100, 10_000, 1_000_000, 1_000_000_000]));
  }

  signedCents(): number {
    return this.of([1, -1]) * this.cents();
  }

  text(): string {
    return this.below(4) === 0 ? this.of(TEXTS_QUOTED) : this.of(TEXTS);
  }

  /** A text that needs no quotes. */
  plainText(): string {
    return this.of(TEXTS);
  }

  iban(): string {
    return `DE${this.digits(20)}`;
  }
}

export function isoDay(day: Date): string {
  return day.toISOString().slice(0, 10);
}

/** The instant at which clocks with this offset from UTC (`+02:00`) show a day and a time, in the format of outputs. */
export function instantText(day: Date, time: string, offset = '+00:00'): string {
  return new Date(`${isoDay(day)}T${time}${offset}`).toISOString().replace('.000Z', 'Z');
}

export function dayText(day: Date, format: string): string {
  const [year, month, date] = isoDay(day).split('-') as [string, string, string];
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

/** An amount in the format of outputs: 123456 is 1234.56. */
export function points(cents: number): string {
  return amountText(cents, '.', '');
}

/** 123456 is 1,234.56 in American notation; without thousands separators if `grouping` is empty. */
export function amountText(cents: number, decimal: '.' | ',', grouping: '' | '.' | ','): string {
  const [whole, rest] = (Math.abs(cents) / 100).toFixed(2).split('.') as [string, string];
  return `${cents < 0 ? '-' : ''}${whole.replaceAll(/\B(?=(?:\d{3})+$)/g, grouping)}${decimal}${rest}`;
}
