// Owns the check of IBANs: length by country and the checksum of ISO 7064 (mod 97-10).

/** Whether a text is an IBAN; spaces between its groups and small letters are allowed. */
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

/** Characters of the IBANs of a country, whose code may be in small letters; 0 where it has none. */
export function ibanLength(country: string): number {
  return LENGTHS.get(country.toUpperCase()) ?? 0;
}

/** Longest text that is looked at: 34 characters and generous spaces. */
const IBAN_LENGTH_MAX = 64;

/** Lengths by country: SWIFT's IBAN registry. */
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
