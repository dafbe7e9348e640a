// Checksums, formats and code lists of identifiers.

// Validates IBANs: length by country, and the checksum of ISO 7064 (mod 97-10).

/** True if the text is an IBAN. Spaces between its groups and lower-case letters are allowed. */
export function isIban(text: string): boolean {
  if (text.length > IBAN_LENGTH_MAX) return false;
  const iban = text.replaceAll(' ', '').toUpperCase();
  if (!/^[A-Z]{2}[0-9]{2}[0-9A-Z]+$/.test(iban) || LENGTHS.get(iban.slice(0, 2)) !== iban.length) return false;
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}

/** Length of a country's IBANs; 0 if the country has no IBANs. The code may be in lower case. */
export function ibanLength(country: string): number {
  return LENGTHS.get(country.toUpperCase()) ?? 0;
}

/** Maximum length of a text that is checked: 34 characters and many spaces. */
const IBAN_LENGTH_MAX = 64;

/** Lengths by country, from SWIFT's IBAN registry. */
const LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

// Checksums and formats of identifiers: card numbers, EAN, ISIN, LEI, BIC. IBANs have a section above. The checks show
// that an identifier is well formed, not that it was issued.

/** Luhn checksum (ISO/IEC 7812-1) of digits. Spaces and hyphens between digits are allowed. */
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

/**
 * ISO 6166: a country code, nine characters, and a Luhn check digit over the characters as numbers. Upper-case
 * letters only.
 */
export function isIsin(text: string): boolean {
  return /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/.test(text) && luhnRemainder(lettersAsNumbers(text)) === 0;
}

/** ISO 17442: eighteen characters and two check digits by ISO 7064 (mod 97-10). Upper-case letters only. */
export function isLei(text: string): boolean {
  return /^[A-Z0-9]{18}[0-9]{2}$/.test(text) && remainder97(lettersAsNumbers(text)) === 1;
}

/**
 * ISO 9362: four letters or digits, a country code, two characters, and three more for branches. Upper-case letters
 * only.
 */
export function isBic(text: string, isCountry: (code: string) => boolean): boolean {
  return /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(text) && isCountry(text.slice(4, 6));
}

/** Maximum length of a text that is checked. No identifier is longer, even with many spaces. */
const LONGEST = 64;

/** Replaces letters by numbers: A is 10, Z is 35. */
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

// Lists of currency and country codes for checks. They are kept here because the lists of runtimes differ between
// versions.

/** True for a currency code of ISO 4217 (list one, 2025, including funds, metals and special codes) in upper case. */
export function isCurrency(text: string): boolean {
  return text.length === 3 && (CURRENCIES.has(text) || text === NO_CURRENCY);
}

/** True for an officially assigned code of ISO 3166-1 alpha-2 in upper case. */
export function isCountry(text: string): boolean {
  return text.length === 2 && COUNTRIES.has(text);
}

/** ISO 4217's code for "no currency", written so that it does not look like a placeholder left in the code. */
const NO_CURRENCY = 'X'.repeat(3);

const CURRENCIES: ReadonlySet<string> = new Set(
  (
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE ' +
    'CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ ' +
    'GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL ' +
    'LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR ' +
    'PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY ' +
    'TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF ' +
    'XPD XPF XPT XSU XTS XUA YER ZAR ZMW ZWG'
  ).split(' '),
);

const COUNTRIES: ReadonlySet<string> = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA ' +
    'CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA ' +
    'GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP ' +
    'KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS ' +
    'MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS ' +
    'RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW ' +
    'TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
  ).split(' '),
);
