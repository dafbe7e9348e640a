// What a unit of a text is, as the detectors ask of each one of a cell.

const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const NO_BREAK_SPACE = 0xa0;
const FIRST_OTHER_SPACE = 0x1680;
const WHITE_SPACE = /\s/;

/** Whether String.trim takes such a unit away. */
export function isSpace(unit: number): boolean {
  if (unit <= SPACE) return unit === SPACE || (unit >= 9 && unit <= 13);
  if (unit < NO_BREAK_SPACE) return false;
  return unit === NO_BREAK_SPACE || (unit >= FIRST_OTHER_SPACE && WHITE_SPACE.test(String.fromCharCode(unit)));
}

export function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

export function isPlus(unit: number): boolean {
  return unit === PLUS;
}

export function isSign(unit: number): boolean {
  return unit === PLUS || unit === MINUS;
}

export function isCapital(unit: number): boolean {
  return unit >= 0x41 && unit <= 0x5a;
}

export function isLatin(unit: number): boolean {
  return isCapital(unit & ~0x20) && unit < 0x80;
}

/** Behind the digits from `at` on. */
export function behindDigits(text: string, at: number, end: number): number {
  let behind = at;
  while (behind < end && isDigit(text.charCodeAt(behind))) behind++;
  return behind;
}
