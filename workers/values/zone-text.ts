// Texts of zones that stand behind times in exports: `GMT+2`, `UTC-03:00`, `CEST`. Only such as name one offset everywhere.

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The largest offsets that clocks have had, in hours. */
const HOURS_MAX = 15;

/**
 * Hours from UTC. Those of the United States are RFC 2822's. What two countries use for two offsets is left out, such as BST, IST
 * and CST of China beside that of America, which the RFC settles.
 */
const ABBREVIATIONS: ReadonlyMap<string, number> = new Map([
  ...Object.entries({
    Z: 0,
    UTC: 0,
    GMT: 0,
    UT: 0,
    WET: 0,
    WEST: 1,
    CET: 1,
    MEZ: 1,
    CEST: 2,
    MESZ: 2,
    EET: 2,
    EEST: 3,
    MSK: 3,
  }),
  ...Object.entries({
    EST: -5,
    EDT: -4,
    CST: -6,
    CDT: -5,
    MST: -7,
    MDT: -6,
    PST: -8,
    PDT: -7,
    AKST: -9,
    AKDT: -8,
    HST: -10,
  }),
  ...Object.entries({ BRT: -3, ART: -3, SAST: 2, JST: 9, KST: 9, AWST: 8, AEST: 10, AEDT: 11, NZST: 12, NZDT: 13 }),
]);

/** A name, with or without an offset behind it; a minus may be U+2212. */
const ZONE = /([A-Za-z]{1,4})?(?:([+\-\u2212])(\d{1,2})(?::?([0-5]\d))?)?(?![A-Za-z\d:])/y;

/** Names that an offset may follow. */
const BASES: ReadonlySet<string> = new Set(['UTC', 'GMT', 'UT']);

/** The zone that a text names at a place: its offset and the place behind it; null: none, or one that nobody can tell. */
export function zoneTextAt(text: string, at: number): { readonly offsetSeconds: number; readonly end: number } | null {
  ZONE.lastIndex = at;
  const match = ZONE.exec(text);
  if (match === null || match[0] === '') return null;
  const [whole, written, sign, hours, minutes = '0'] = match;
  const end = at + whole.length;
  const name = written?.toUpperCase();
  if (sign === undefined) {
    const offset = ABBREVIATIONS.get(name!);
    return offset === undefined ? null : { offsetSeconds: offset * HOUR, end };
  }
  if ((name !== undefined && !BASES.has(name)) || Number(hours) > HOURS_MAX) return null;
  const offset = Number(hours) * HOUR + Number(minutes) * MINUTE;
  return { offsetSeconds: sign === '+' ? offset : 0 - offset, end };
}

/** `UTC`, `UTC+02:00`. */
export function zoneTextOf(offsetSeconds: number): string {
  const minutes = Math.round(Math.abs(offsetSeconds) / MINUTE);
  if (minutes === 0) return 'UTC';
  const digits = (value: number) => String(value).padStart(2, '0');
  return `UTC${offsetSeconds < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}:${digits(minutes % 60)}`;
}
