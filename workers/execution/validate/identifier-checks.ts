// Checks of identifiers and addresses: the shape, and the checksum where there is one.
import { isBic, isEan, isIsin, isLei, isLuhn } from '../../values/check-digits.ts';
import { isIban } from '../../values/iban.ts';
import { isCountry, isCurrency } from '../../values/iso-codes.ts';
import { type Check, textCheck } from './rule.ts';

export const identifierChecks: Readonly<Record<string, Check>> = {
  email: textCheck('an e-mail address: PATTERN_MISMATCH', 'PATTERN_MISMATCH', isEmail),
  url: textCheck('an absolute http or https address: PATTERN_MISMATCH', 'PATTERN_MISMATCH', isUrl),
  phone_e164: textCheck('a number such as +4930123456 (E.164): PATTERN_MISMATCH', 'PATTERN_MISMATCH', isPhone),
  iban: textCheck('an IBAN: CHECKSUM', 'CHECKSUM', isIban),
  bic: textCheck('a BIC: PATTERN_MISMATCH', 'PATTERN_MISMATCH', (text) => isBic(text, isKnownToBanks)),
  luhn: textCheck("digits with Luhn's check digit, such as a card number: CHECKSUM", 'CHECKSUM', isLuhn),
  ean: textCheck('an EAN, UPC or GTIN of 8, 12, 13 or 14 digits: CHECKSUM', 'CHECKSUM', isEan),
  isin: textCheck('an ISIN: CHECKSUM', 'CHECKSUM', isIsin),
  lei: textCheck('an LEI: CHECKSUM', 'CHECKSUM', isLei),
  currency: textCheck('a currency code of ISO 4217: NOT_IN_SET', 'NOT_IN_SET', isCurrency),
  country: textCheck('a country code of ISO 3166-1 alpha-2: NOT_IN_SET', 'NOT_IN_SET', isCountry),
};

/** RFC 5321: 64 and 255 octets, 254 in all. */
const EMAIL_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;

/** Longest address that is looked at: what browsers and servers take. */
const URL_LENGTH_MAX = 2083;

/** A dot-atom, an at sign and a domain of at least two labels; letters beyond ASCII are allowed, quoted names are not. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > LOCAL_LENGTH_MAX || text.length > EMAIL_LENGTH_MAX) return false;
  if (!/^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u.test(text.slice(0, at)))
    return false;
  return isDomain(text.slice(at + 1));
}

function isDomain(text: string): boolean {
  const labels = text.split('.');
  const last = labels[labels.length - 1]!;
  if (labels.length < 2 || !/^(?:[\p{L}\p{M}]{2,}|xn--[a-zA-Z0-9-]+)$/u.test(last)) return false;
  return labels.every(
    (label) => label.length <= 63 && /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?$/u.test(label),
  );
}

function isUrl(text: string): boolean {
  if (text.length > URL_LENGTH_MAX || !/^https?:\/\/[^\s/?#]/i.test(text) || /[\s<>"{}|\\^`\p{Cc}]/u.test(text))
    return false;
  return URL.canParse(text);
}

function isPhone(text: string): boolean {
  return /^\+[1-9][0-9]{6,14}$/.test(text);
}

/** Kosovo has a code of its own among banks. */
function isKnownToBanks(code: string): boolean {
  return isCountry(code) || code === 'XK';
}
