// How the cells of a column write dates: which patterns read them, and how many of them exclude a pattern's rival, in which day
// and month change places.
import { compileDatePattern, type DatePattern } from '../../workers/values/date-pattern.ts';

export interface DateForm {
  readonly pattern: string;
  /** With day and month in each other's place; null: no program writes it so. */
  readonly rival: string | null;
  /** Language of its names of months. */
  readonly locale: string | null;
  /** What else is guessed: a century, the zone of a time, or that digits are a date at all. */
  readonly guess: 'century' | 'zone' | 'digits' | null;
}

export interface DateReading {
  readonly form: DateForm;
  readonly reads: number;
  /** Cells that the rival does not read. */
  readonly proofs: number;
}

/** Cells after which a pattern is given up that reads less than half of them. */
const TRIED_CELLS = 40;
const LENGTH_MAX = 40;

interface Candidate {
  readonly form: DateForm;
  readonly pattern: DatePattern;
  readonly rival: DatePattern | null;
  reads: number;
  proofs: number;
}

export class DateCells {
  #seen = 0;
  #candidates: readonly Candidate[];

  constructor(forms: readonly CompiledForm[]) {
    this.#candidates = forms.map((form) => ({ ...form, reads: 0, proofs: 0 }));
  }

  add(text: string): void {
    this.#seen++;
    if (this.#seen === TRIED_CELLS) this.#candidates = this.#candidates.filter(({ reads }) => reads * 2 > TRIED_CELLS);
    if (this.#candidates.length === 0 || text.length > LENGTH_MAX || !mayBeDate(text)) return;
    for (const candidate of this.#candidates) {
      if (candidate.pattern.parse(text) === null) continue;
      candidate.reads++;
      if (candidate.rival === null || candidate.rival.parse(text) === null) candidate.proofs++;
    }
  }

  /** Those that read anything, the one that reads most first; of equal ones as in the table. */
  get readings(): readonly DateReading[] {
    return this.#candidates.filter(({ reads }) => reads > 0).sort((a, b) => b.reads - a.reads || b.proofs - a.proofs);
  }
}

/** Three groups of digits, two beside the name of a month, or eight digits: what is none of them is tried by no pattern. */
function mayBeDate(text: string): boolean {
  const groups = text.match(/\d+/g)?.length ?? 0;
  return groups >= 3 || (groups === 2 && /\p{L}{3}/u.test(text)) || /^\d{8}$/.test(text);
}

export interface CompiledForm {
  readonly form: DateForm;
  readonly pattern: DatePattern;
  readonly rival: DatePattern | null;
}

export function compiledForms(): readonly CompiledForm[] {
  return dateForms().map((form) => ({
    form,
    pattern: compiled(form.pattern, form.locale),
    rival: form.rival === null ? null : compiled(form.rival, form.locale),
  }));
}

function compiled(source: string, locale: string | null): DatePattern {
  const pattern = compileDatePattern(source, locale === null ? {} : { locale });
  if ('problem' in pattern) throw new Error(`${source}: ${pattern.problem}`);
  return pattern;
}

/** Times that follow a day; the empty one is none. */
const TIMES = ['', ' HH:mm', ' HH:mm:ss', ', HH:mm:ss', ', HH:mm', ' h:mm a', ' h:mm:ss a', ', h:mm:ss a', ', h:mm a'];
const ISO_TIMES = ["'T'HH:mm:ss", "'T'HH:mm", ' HH:mm:ss XX', ' HH:mm:ss.SSS', "'T'HH:mm:ss.SSS", "'T'HH:mm:ssXXX"];

/** Strict patterns before lax ones: `dd` reads two digits, `d` one or two. */
function dateForms(): DateForm[] {
  const forms: DateForm[] = [];
  for (const time of [...TIMES, ...ISO_TIMES]) {
    for (const separator of ['-', '/', '.']) forms.push(form(`yyyy${separator}MM${separator}dd${time}`, null, time));
  }
  for (const time of TIMES) {
    for (const [day, month] of [
      ['dd', 'MM'],
      ['d', 'M'],
    ] as const) {
      for (const separator of ['.', '/', '-']) {
        for (const year of ['yyyy', 'yy']) {
          const [dayFirst, monthFirst] = [[day, month, year].join(separator), [month, day, year].join(separator)];
          forms.push(form(dayFirst + time, monthFirst + time, time), form(monthFirst + time, dayFirst + time, time));
        }
      }
    }
  }
  for (const locale of ['en', 'de', 'fr', 'es', 'it', 'nl']) {
    for (const day of [
      'dd MMM yyyy',
      'd MMM yyyy',
      'dd-MMM-yyyy',
      'd-MMM-yyyy',
      'MMM d, yyyy',
      'd MMMM yyyy',
      'MMMM d, yyyy',
      'd. MMM yyyy',
      'd. MMMM yyyy',
      'dd-MMM-yy',
    ]) {
      for (const time of locale === 'en' ? ['', ' HH:mm:ss', ' h:mm:ss a', ', h:mm:ss a'] : ['']) {
        forms.push({ ...form(day + time, null, time), locale: locale === 'en' ? null : locale });
      }
    }
  }
  forms.push({ pattern: 'yyyyMMdd', rival: 'ddMMyyyy', locale: null, guess: 'digits' });
  return forms;
}

function form(pattern: string, rival: string | null, time: string): DateForm {
  const isShort = /(?<!y)yy(?!y)/.test(pattern);
  return { pattern, rival, locale: null, guess: time !== '' ? 'zone' : isShort ? 'century' : null };
}
