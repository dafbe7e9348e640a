// Owns the checksums and shapes of identifiers: card numbers, EAN, ISIN, LEI, BIC. IBANs are in iban.ts. None of them
// looks a number up anywhere: they say that it could exist.

/** Luhn's checksum (ISO/IEC 7812-1) over digits; spaces and hyphens between them are allowed. */
export function isLuhn(text: string): boolean {
  if (text.length > LONGEST) return false;
  const digits = text.replace(/[ -]/g, '');
  return /^[0-9]{2,}$/.test(digits) && luhnRemainder(digits) === 0;
}

/** GTIN-8, GTIN-12 (UPC), GTIN-13 (EAN) or GTIN-14: digits with weights 3 and 1 from the right (GS1). */
export function isEan(text: string): boolean {
  if (!/^(?:[0-9]{8}|[0-9]{12,14})$/.test(text)) return false;
  let sum = 0;
  for (let index = 0; index < text.length; index++) {
    const weight = (text.length - index) % 2 === 0 ? 3 : 1;
    sum += weight * (text.charCodeAt(index) - 48);
  }
  return sum % 10 === 0;
}

/** ISO 6166: country, nine characters, a check digit by Luhn over the characters as numbers. Capital letters. */
export function isIsin(text: string): boolean {
  return /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/.test(text) && luhnRemainder(lettersAsNumbers(text)) === 0;
}

/** ISO 17442: eighteen characters and two check digits by ISO 7064 (mod 97-10). Capital letters. */
export function isLei(text: string): boolean {
  return /^[A-Z0-9]{18}[0-9]{2}$/.test(text) && remainder97(lettersAsNumbers(text)) === 1;
}

/** ISO 9362: four letters or digits, a country, two and, for branches, three more. Capital letters. */
export function isBic(text: string, isCountry: (code: string) => boolean): boolean {
  return /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(text) && isCountry(text.slice(4, 6));
}

/** Longest text that is looked at: no identifier is longer, with generous spaces. */
const LONGEST = 64;

/** A is 10, Z is 35. */
function lettersAsNumbers(text: string): string {
  let digits = '';
  for (const character of text) digits += Number.parseInt(character, 36);
  return digits;
}

function luhnRemainder(digits: string): number {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(index) - 48;
    const doubled = (digits.length - index) % 2 === 0 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10;
}

function remainder97(digits: string): number {
  let remainder = 0;
  for (let index = 0; index < digits.length; index++) remainder = (remainder * 10 + digits.charCodeAt(index) - 48) % 97;
  return remainder;
}
