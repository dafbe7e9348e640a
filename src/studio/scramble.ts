// Puts other letters and digits in the place of those of a cell, so that a test has the shape of real rows and nothing of what
// they said. Numbers with check digits stay valid; dates stay dates; equal cells stay equal.
import { randomInt } from 'node:crypto';

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();

/** Two groups of one or two digits and a year, or a year first, with what stands between them. */
const DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/;
const DATE_YEAR_FIRST = /^(\d{4})([./-])(\d{2})\2(\d{2})(?!\d)/;

const MONTHS = 12;
/** Every month has these days. */
const DAYS_MAX = 28;

/** By chance a short cell comes out as it went in. */
const TRIES_MAX = 20;

const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/;
const CARD = /^\d{13,19}$/;

export class Scrambler {
  readonly #kept: ReadonlySet<string>;
  readonly #known = new Map<string, string>();

  /** @param kept texts that the Template spells itself: they are no secret, and operations ask for them */
  constructor(kept: ReadonlySet<string>) {
    this.#kept = kept;
  }

  scramble(text: string): string {
    if (this.#kept.has(text) || this.#kept.has(text.trim())) return text;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    let made = scrambled(text);
    for (let tries = 0; made === text && tries < TRIES_MAX; tries++) made = scrambled(text);
    this.#known.set(text, made);
    return made;
  }
}

function scrambled(text: string): string {
  const date = scrambledDate(text);
  if (date !== null) return date;
  const bare = text.replaceAll(' ', '');
  if (IBAN.test(bare) && remainderOf97(bare) === 1) return respaced(text, withIbanDigits(letters(bare.slice(4)), bare));
  if (CARD.test(bare) && luhnSum(bare) % 10 === 0) return respaced(text, withLuhnDigit(letters(bare)));
  return letters(text);
}

/** Zeros at the front stay: they tell an id from a number. Letters outside ASCII become ASCII, which every encoding has. */
function letters(text: string): string {
  let isFront = true;
  return text.replace(/[\p{L}\p{Nd}]/gu, (character) => {
    if (/\p{Nd}/u.test(character)) {
      if (isFront && character === '0') return character;
      const made = isFront ? randomInt(1, 10) : randomInt(10);
      isFront = false;
      return String(made);
    }
    isFront = true;
    const alphabet = /\p{Lu}/u.test(character) ? UPPER : LOWER;
    return alphabet[randomInt(alphabet.length)]!;
  });
}

/** What was above twelve stays so, and so does the year: nothing else tells days from months. */
function scrambledDate(text: string): string | null {
  const part = (digits: string): string => {
    const value = Number(digits) > MONTHS ? randomInt(MONTHS + 1, DAYS_MAX + 1) : randomInt(1, MONTHS + 1);
    // One digit may have stood for one that is written without a zero.
    return digits.length === 1 ? String(((value - 1) % 9) + 1) : String(value).padStart(2, '0');
  };
  const found = DATE.exec(text);
  if (found !== null) {
    const [whole, first, mark, second, year] = found;
    return `${part(first!)}${mark}${part(second!)}${mark}${year}${time(text.slice(whole.length))}`;
  }
  const other = DATE_YEAR_FIRST.exec(text);
  if (other === null) return null;
  const [whole, year, mark, month, day] = other;
  return `${year}${mark}${part(month!)}${mark}${part(day!)}${time(text.slice(whole.length))}`;
}

/** Behind a date: digits stay below what hours, minutes and seconds allow. */
function time(text: string): string {
  return text.replace(/\d\d/g, () => String(randomInt(MONTHS)).padStart(2, '0'));
}

/** The spaces of a text between the signs of another one. */
function respaced(text: string, signs: string): string {
  let at = 0;
  return text.replace(/[^ ]/g, () => signs[at++]!);
}

function withIbanDigits(account: string, before: string): string {
  const country = before.slice(0, 2);
  const check = 98 - remainderOf97(`${country}00${account}`);
  return `${country}${String(check).padStart(2, '0')}${account}`;
}

/** ISO 7064: the first four signs behind the others, letters as two digits. */
function remainderOf97(iban: string): number {
  const digits = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return Number(BigInt(digits) % 97n);
}

function withLuhnDigit(digits: string): string {
  const front = digits.slice(0, -1);
  return front + String((10 - (luhnSum(`${front}0`) % 10)) % 10);
}

function luhnSum(digits: string): number {
  return [...digits].reverse().reduce((sum, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return sum + (value > 9 ? value - 9 : value);
  }, 0);
}
