// Owns the day numbers of workbooks.
import { DAY_MAX, DAY_MIN } from './calendar.ts';
import type { DateFields } from './date-fields.ts';

const DAY_SECONDS = 86_400;

/** Day numbers of Excel's day 0; in the system of 1900 days count from 1, and 1900 is taken for a leap year. */
const EXCEL_1900_ZERO = -25_569;
const EXCEL_1904_ZERO = -24_107;

/** In the system of 1900: serials below are one day behind, 60 is a day that never was. */
const EXCEL_LEAP_SERIAL = 60;

/** The day and time of a number such as `45000.5`; null for what is none, and for day 60 of 1900, which never was. */
export function excelFields(text: string, system: '1900' | '1904'): DateFields | null {
  if (!/^[0-9]{1,7}(?:\.[0-9]{1,12})?$/.test(text)) return null;
  const serial = Number(text);
  const day = Math.floor(serial);
  if (system === '1900' && (day === EXCEL_LEAP_SERIAL || day === 0)) return null;
  const early = system === '1900' && day < EXCEL_LEAP_SERIAL ? 1 : 0;
  const days = day + early + (system === '1900' ? EXCEL_1900_ZERO : EXCEL_1904_ZERO);
  if (days < DAY_MIN || days > DAY_MAX) return null;
  return {
    days,
    second: Math.min(DAY_SECONDS - 1, Math.round((serial - day) * DAY_SECONDS)),
    nanos: 0,
    offsetSeconds: null,
  };
}
