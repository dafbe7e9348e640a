// Owns the month and weekday names of the languages that date patterns know. They are ours, so that no result depends on
// the locale data of the runtime.

/** Names of one language; `months` and `weekdays` (Monday first) in full, then as abbreviated without a dot. */
export interface DateNames {
  readonly months: readonly string[];
  readonly monthsShort: readonly string[];
  readonly weekdays: readonly string[];
  readonly weekdaysShort: readonly string[];
}

/** The names by the language's code. A Map, so that no code can reach Object's own properties. */
export const DATE_NAMES: ReadonlyMap<string, DateNames> = new Map([
  [
    'en',
    names(
      'January February March April May June July August September October November December',
      'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec',
      'Monday Tuesday Wednesday Thursday Friday Saturday Sunday',
      'Mon Tue Wed Thu Fri Sat Sun',
    ),
  ],
  [
    'de',
    names(
      'Januar Februar März April Mai Juni Juli August September Oktober November Dezember',
      'Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez',
      'Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag',
      'Mo Di Mi Do Fr Sa So',
    ),
  ],
  [
    'fr',
    names(
      'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
      'janv févr mars avr mai juin juil août sept oct nov déc',
      'lundi mardi mercredi jeudi vendredi samedi dimanche',
      'lun mar mer jeu ven sam dim',
    ),
  ],
  [
    'es',
    names(
      'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
      'ene feb mar abr may jun jul ago sept oct nov dic',
      'lunes martes miércoles jueves viernes sábado domingo',
      'lun mar mié jue vie sáb dom',
    ),
  ],
  [
    'it',
    names(
      'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
      'gen feb mar apr mag giu lug ago set ott nov dic',
      'lunedì martedì mercoledì giovedì venerdì sabato domenica',
      'lun mar mer gio ven sab dom',
    ),
  ],
  [
    'nl',
    names(
      'januari februari maart april mei juni juli augustus september oktober november december',
      'jan feb mrt apr mei jun jul aug sep okt nov dec',
      'maandag dinsdag woensdag donderdag vrijdag zaterdag zondag',
      'ma di wo do vr za zo',
    ),
  ],
  [
    'pt',
    names(
      'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
      'jan fev mar abr mai jun jul ago set out nov dez',
      'segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo',
      'seg ter qua qui sex sáb dom',
    ),
  ],
]);

function names(months: string, monthsShort: string, weekdays: string, weekdaysShort: string): DateNames {
  return {
    months: months.split(' '),
    monthsShort: monthsShort.split(' '),
    weekdays: weekdays.split(' '),
    weekdaysShort: weekdaysShort.split(' '),
  };
}
