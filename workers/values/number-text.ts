// Owns reading numbers as people write them (`1.234,56`, `(12)`, `7,5 %`, `120- `) into exact decimals. Which error a
// row gets, and the column's final type, are the caller's.
import { Decimal, parseDecimal } from './decimal.ts';

/** The ways in which a text may say "below zero". */
export type NegativeStyle = '-x' | 'x-' | '(x)' | 'x CR';

/** How numbers are written: one character each; `grouping` empty means none. `strip` holds texts that are dropped first (currency signs). */
export interface NumberFormat {
  decimal?: string;
  grouping?: string;
  negative?: readonly NegativeStyle[];
  strip?: readonly string[];
  /** Read `7,5 %` as 0.075. Without it a percent sign is no number. */
  percent?: boolean;
  /** Allow `1.5E3`. */
  exponent?: boolean;
}

/** The exact decimal of a whole text with the scale as written, or null: grouping is only taken where it groups by three. */
export function parseNumberText(text: string, format: NumberFormat = {}): Decimal | null {
  const decimal = format.decimal ?? '.';
  const grouping = format.grouping ?? '';
  const simple = readSimple(text, decimal, grouping);
  if (simple !== undefined) return simple;
  let body = text;
  for (const dropped of format.strip ?? []) if (dropped !== '') body = body.replaceAll(dropped, '');
  body = trimSpaces(body);
  let percent = false;
  if (format.percent === true && body.endsWith('%')) {
    percent = true;
    body = trimSpaces(body.slice(0, -1));
  }
  const signed = takeSign(body, format.negative ?? ['-x']);
  if (signed === null) return null;
  let exponent = '';
  if (format.exponent === true) {
    const at = signed.body.search(/[eE]/);
    if (at >= 0) {
      exponent = signed.body.slice(at);
      signed.body = signed.body.slice(0, at);
    }
  }
  const plain = plainDigits(signed.body, decimal, grouping);
  if (plain === null) return null;
  const value = parseDecimal(`${signed.negative ? '-' : ''}${plain}${exponent}`, exponent !== '');
  return value !== null && percent ? new Decimal(value.digits, value.scale + 2) : value;
}

/** Most digits that the loop below reads, so that they stay a safe integer. */
const SIMPLE_DIGITS_MAX = 15;

/** A number without sign, blanks and anything else in one pass over its characters; undefined when it is none of these. */
function readSimple(text: string, decimal: string, grouping: string): Decimal | undefined {
  const point = decimal.charCodeAt(0);
  const group = grouping === '' || grouping.trim() === '' ? -1 : grouping.charCodeAt(0);
  if (text.length > SIMPLE_DIGITS_MAX + 6 || decimal.length !== 1 || grouping.length > 1) return undefined;
  let digits = 0;
  let count = 0;
  let scale = -1;
  let sinceGroup = -1;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 48 && code <= 57) {
      digits = digits * 10 + (code - 48);
      count++;
      if (scale >= 0) scale++;
      else if (sinceGroup >= 0) sinceGroup++;
    } else if (code === point && scale < 0) {
      if (sinceGroup >= 0 && sinceGroup !== 3) return undefined;
      scale = 0;
    } else if (code === group && scale < 0) {
      if (count === 0 || (sinceGroup < 0 ? count > 3 : sinceGroup !== 3)) return undefined;
      sinceGroup = 0;
    } else return undefined;
  }
  if (count === 0 || count > SIMPLE_DIGITS_MAX || (scale < 0 && sinceGroup >= 0 && sinceGroup !== 3)) return undefined;
  return new Decimal(digits, Math.max(scale, 0));
}

function takeSign(text: string, styles: readonly NegativeStyle[]): { body: string; negative: boolean } | null {
  if (styles.includes('(x)') && text.startsWith('(') && text.endsWith(')')) {
    return { body: trimSpaces(text.slice(1, -1)), negative: true };
  }
  if (styles.includes('x CR') && /cr$/i.test(text)) return { body: trimSpaces(text.slice(0, -2)), negative: true };
  if (styles.includes('x CR') && /dr$/i.test(text)) return { body: trimSpaces(text.slice(0, -2)), negative: false };
  if (styles.includes('x-') && /[-−]$/.test(text)) return { body: trimSpaces(text.slice(0, -1)), negative: true };
  if (styles.includes('x-') && text.endsWith('+')) return { body: trimSpaces(text.slice(0, -1)), negative: false };
  const first = text.charAt(0);
  if (first === '-' || first === '−') {
    return styles.includes('-x') ? { body: trimSpaces(text.slice(1)), negative: true } : null;
  }
  return { body: first === '+' ? trimSpaces(text.slice(1)) : text, negative: false };
}

/** The number with a point and without grouping, when every character is where it may be. */
function plainDigits(body: string, decimal: string, grouping: string): string | null {
  const point = body.indexOf(decimal);
  const whole = point < 0 ? body : body.slice(0, point);
  const fraction = point < 0 ? '' : body.slice(point + decimal.length);
  if (!/^[0-9]*$/.test(fraction)) return null;
  const digits = ungroup(whole, grouping);
  if (digits === null || digits.length + fraction.length === 0) return null;
  return fraction === '' ? digits : `${digits}.${fraction}`;
}

function ungroup(whole: string, grouping: string): string | null {
  if (/^[0-9]*$/.test(whole)) return whole;
  if (grouping === '') return null;
  // A space groups however it is written: files mix the plain one with the narrow and the no-break one.
  const groups = /^\s$/.test(grouping) ? whole.split(/[\u0020\u00a0\u2009\u202f]/) : whole.split(grouping);
  const [first, ...rest] = groups;
  if (!/^[0-9]{1,3}$/.test(first!) || !rest.every((group) => /^[0-9]{3}$/.test(group))) return null;
  return groups.join('');
}

function trimSpaces(text: string): string {
  return text.trim();
}
