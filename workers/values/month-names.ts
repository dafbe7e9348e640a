// Month and weekday names of the languages that date patterns support. They are defined here so that results do not
// depend on the locale data of the runtime.
import { normalise } from './normalise.ts';

/** A name as it is read: folded (see foldName), and its number starting at 0. */
export interface Spelling {
  readonly folded: string;
  readonly index: number;
}

/**
 * Names of one language. `months` and `weekdays` (Monday first) are full names, the others are abbreviations without
 * a dot.
 */
export interface DateNames {
  readonly months: readonly string[];
  readonly monthsShort: readonly string[];
  readonly weekdays: readonly string[];
  readonly weekdaysShort: readonly string[];
  /** Endings of ordinal numbers of days, folded, the longest first: `1st`, `1er`, `1º`. */
  readonly ordinals: readonly string[];
  /** The ending with which a day is written. */
  readonly ordinalOf: (day: number) => string;
  /** All accepted spellings: these names and the forms that people and banks use. The longest come first. */
  readonly spellings: {
    readonly months: readonly Spelling[];
    readonly monthsShort: readonly Spelling[];
    readonly weekdays: readonly Spelling[];
    readonly weekdaysShort: readonly Spelling[];
  };
}

/** Other forms, each with the number of its month. */
interface OtherForms {
  readonly months?: Readonly<Record<string, number>>;
  readonly monthsShort?: Readonly<Record<string, number>>;
}

/**
 * Converts to lower case without accents, one UTF-16 unit at a time, so that positions in the text are preserved:
 * `FÉVR` and `fevr` become the same.
 */
export function foldName(text: string): string {
  return text.replace(/[^a-z]/g, (unit) => {
    const small = unit.toLowerCase();
    return (small.charCodeAt(0) < 0x80 ? small : normalise(small, 'NFD')).charAt(0);
  });
}

/** Forms of the months that are used without a day. */
const POLISH_NOMINATIVES = Object.fromEntries(
  'styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień'
    .split(' ')
    .map((name, index) => [name, index + 1]),
);

/** Endings by kind of language. In some languages, only the first day of a month has a written ending. */
const ORDINALS = {
  en: { read: ['st', 'nd', 'rd', 'th'], first: 'st', other: 'th' },
  dot: { read: ['.'], first: '.', other: '.' },
  fr: { read: ['er', 'eme', 're', 'e'], first: 'er', other: '' },
  nl: { read: ['ste', 'de', 'e'], first: 'e', other: 'e' },
  sign: { read: ['º', '°', 'ª', 'o', 'a'], first: 'º', other: '' },
} as const;

/** The English days from 4 to this one end in `th`. */
const LAST_TEEN = 20;

/** Names by language code. A Map, so that no code can reach properties of Object. */
export const DATE_NAMES: ReadonlyMap<string, DateNames> = new Map([
  [
    'en',
    names(
      'en',
      'January February March April May June July August September October November December',
      'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec',
      'Monday Tuesday Wednesday Thursday Friday Saturday Sunday',
      'Mon Tue Wed Thu Fri Sat Sun',
      { monthsShort: { june: 6, july: 7, sept: 9 } },
    ),
  ],
  [
    'de',
    names(
      'dot',
      'Januar Februar März April Mai Juni Juli August September Oktober November Dezember',
      'Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez',
      'Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag',
      'Mo Di Mi Do Fr Sa So',
      {
        months: { jänner: 1, feber: 2, maerz: 3 },
        monthsShort: { jän: 1, mrz: 3, märz: 3, juni: 6, juli: 7, sept: 9 },
      },
    ),
  ],
  [
    'fr',
    names(
      'fr',
      'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
      'janv févr mars avr mai juin juil août sept oct nov déc',
      'lundi mardi mercredi jeudi vendredi samedi dimanche',
      'lun mar mer jeu ven sam dim',
      { monthsShort: { jan: 1, fév: 2, mar: 3, jun: 6, juill: 7, jul: 7, aoû: 8, sep: 9 } },
    ),
  ],
  [
    'es',
    names(
      'sign',
      'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
      'ene feb mar abr may jun jul ago sept oct nov dic',
      'lunes martes miércoles jueves viernes sábado domingo',
      'lun mar mié jue vie sáb dom',
      { months: { setiembre: 9 }, monthsShort: { sep: 9, set: 9 } },
    ),
  ],
  [
    'it',
    names(
      'sign',
      'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
      'gen feb mar apr mag giu lug ago set ott nov dic',
      'lunedì martedì mercoledì giovedì venerdì sabato domenica',
      'lun mar mer gio ven sab dom',
      { monthsShort: { sett: 9 } },
    ),
  ],
  [
    'nl',
    names(
      'nl',
      'januari februari maart april mei juni juli augustus september oktober november december',
      'jan feb mrt apr mei jun jul aug sep okt nov dec',
      'maandag dinsdag woensdag donderdag vrijdag zaterdag zondag',
      'ma di wo do vr za zo',
      { monthsShort: { maart: 3, mar: 3, juni: 6, juli: 7, sept: 9 } },
    ),
  ],
  [
    'pt',
    names(
      'sign',
      'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
      'jan fev mar abr mai jun jul ago set out nov dez',
      'segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo',
      'seg ter qua qui sex sáb dom',
    ),
  ],
  [
    'pl',
    names(
      'dot',
      'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia',
      'sty lut mar kwi maj cze lip sie wrz paź lis gru',
      'poniedziałek wtorek środa czwartek piątek sobota niedziela',
      'pon wt śr czw pt sob niedz',
      { months: POLISH_NOMINATIVES },
    ),
  ],
]);

/** Returns what is wrong with a locale, or null. */
export function localeProblem(locale: string): string | null {
  const known = [...DATE_NAMES.keys()];
  return known.includes(locale) ? null : `Write the language as ${known.slice(0, -1).join(', ')} or ${known.at(-1)}.`;
}

function ordinalOf(kind: keyof typeof ORDINALS): (day: number) => string {
  const { first, other } = ORDINALS[kind];
  if (kind !== 'en') return (day) => (day === 1 ? first : other);
  return (day) => (day > 3 && day <= LAST_TEEN ? 'th' : (['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'));
}

function names(
  kind: keyof typeof ORDINALS,
  months: string,
  monthsShort: string,
  weekdays: string,
  weekdaysShort: string,
  others: OtherForms = {},
): DateNames {
  const own = {
    months: months.split(' '),
    monthsShort: monthsShort.split(' '),
    weekdays: weekdays.split(' '),
    weekdaysShort: weekdaysShort.split(' '),
  };
  const spellings = {
    months: spellingsOf(own.months, others.months),
    monthsShort: spellingsOf(own.monthsShort, others.monthsShort),
    weekdays: spellingsOf(own.weekdays),
    weekdaysShort: spellingsOf(own.weekdaysShort),
  };
  return { ...own, ordinals: ORDINALS[kind].read.map(foldName), ordinalOf: ordinalOf(kind), spellings };
}

function spellingsOf(own: readonly string[], others: Readonly<Record<string, number>> = {}): Spelling[] {
  const forms = [
    ...own.map((name, index): [string, number] => [name, index]),
    ...Object.entries(others).map(([name, month]): [string, number] => [name, month - 1]),
  ];
  const spellings = forms.map(([name, index]) => ({ folded: foldName(name), index }));
  return spellings.sort((a, b) => b.folded.length - a.folded.length);
}
