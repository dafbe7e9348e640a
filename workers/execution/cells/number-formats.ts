// Several ways to write numbers in one column: which of them contradict each other, and reading a text by more than one.
import { compareDecimals, type Decimal } from '../../values/decimal.ts';
import { type GroupSizes, type NumberFormat, parseNumberText } from '../../values/number-text.ts';
import { CellFault } from './value-cells.ts';

/** What tells the formats of one operation apart. */
export interface NumberMarks {
  readonly decimal?: string;
  readonly grouping?: string;
  readonly groups?: GroupSizes;
}

/** A text that two formats read as different numbers, or null where there is none. */
export function ambiguousNumberText(one: NumberMarks, other: NumberMarks): string | null {
  // A mark between three digits and others is all that two formats can see differently: `1.234`, `1.234.567`, `1.234,5`.
  const marks = [one, other]
    .flatMap(({ decimal = '.', grouping = '' }) => [decimal, grouping])
    .filter((mark) => mark !== '');
  const texts = marks.flatMap((mark) => [`1${mark}234`, ...marks.map((next) => `1${mark}234${next}567`)]);
  return texts.find((text) => areDifferent(parseNumberText(text, one), parseNumberText(text, other))) ?? null;
}

/**
 * Reads a text by the first format that does.
 * @param onlySure a text that another format reads as another number is AMBIGUOUS_NUMBER
 */
export function readByFormats(text: string, formats: readonly NumberFormat[], onlySure: boolean): Decimal | CellFault {
  let found: Decimal | null = null;
  for (const format of formats) {
    const number = parseNumberText(text, format);
    if (number === null) continue;
    if (areDifferent(found, number)) return new CellFault('AMBIGUOUS_NUMBER');
    found ??= number;
    if (!onlySure) break;
  }
  return found ?? new CellFault('NOT_A_NUMBER');
}

function areDifferent(one: Decimal | null, other: Decimal | null): boolean {
  return one !== null && other !== null && compareDecimals(one, other) !== 0;
}
