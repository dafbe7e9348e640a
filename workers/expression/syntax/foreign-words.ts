// Hints for words of other languages (SQL, spreadsheets, Python): what to write instead. Used in messages only, never
// accepted.

/** Hint for an operator of another language, or null. Ignores case. */
export function foreignOperator(text: string): string | null {
  return OPERATORS.get(text.toLowerCase()) ?? null;
}

/** Hint for a function of another language, or null. Ignores case. */
export function foreignFunction(name: string): string | null {
  return FUNCTIONS.get(name.toLowerCase()) ?? null;
}

function table(entries: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  return new Map(entries.flatMap(([words, hint]) => words.split(' ').map((word) => [word, hint] as const)));
}

const OPERATORS = table([
  ['and und', 'Write && for and.'],
  ['or oder', 'Write || for or.'],
  ['not nicht', 'Write !(...) for not.'],
  ['is ist', 'Write == null to ask for an empty cell, != null for one that is not, == for anything else.'],
  [
    'like ilike',
    'Write x.startsWith("..."), x.endsWith("..."), x.contains("...") or x.matches("a regular expression").',
  ],
  ['between', 'Write x >= a && x <= b.'],
  ['then else elif if when case end', 'Write condition ? a : b.'],
  ['mod', 'Write a % b.'],
  ['equals eq', 'Write == to compare.'],
]);

const OVER_ROWS =
  'An expression sees one row: sums and counts over rows are made by the operations aggregate and window.';
const NO_CLOCK = 'Expressions do not look at the clock. Write run.started_at for the start of the Run.';
const TO_NUMBER = 'Write decimal(x) for a plain number, or parse_number(x, ",", ".") for 1.234,56.';

const FUNCTIONS = table([
  ['if iif ifs wenn wenns case when switch decode', 'Write condition ? a : b.'],
  ['and und', 'Write a && b.'],
  ['or oder', 'Write a || b.'],
  ['not nicht', 'Write !(...).'],
  ['sum summe avg average mean mittelwert count counta countif sumif sumifs summewenn zählenwenn anzahl', OVER_ROWS],
  ['lag lead previous next row_number rank dense_rank cumsum running_sum row zeile', OVER_ROWS],
  ['today now heute jetzt current_date current_timestamp getdate sysdate', NO_CLOCK],
  [
    'concat concatenate verketten textkette textverketten',
    'Write a + b, or concat_ws("", a, b) where a cell may be empty.',
  ],
  ['textjoin string_join', 'Write concat_ws(separator, a, b).'],
  ['ifnull nvl nvl2 ifna isnull nullif coalesce_blank', 'Write coalesce(a, b), or a == null.'],
  ['isblank isempty is_empty is_null istleer empty', 'Write is_blank(x), or x == null.'],
  ['len length länge char_length strlen', 'Write size(x).'],
  ['substr mid teil slice', 'Write x.substring(from, to), left(x, n) or right(x, n).'],
  ['links', 'Write left(x, n).'],
  ['rechts', 'Write right(x, n).'],
  ['uppercase ucase toupper touppercase gross groß', 'Write upper(x).'],
  ['lowercase lcase tolower tolowercase klein', 'Write lower(x).'],
  ['proper capitalize initcap', 'Write title(x).'],
  ['strip clean glätten ltrim rtrim lstrip rstrip', 'Write x.trim().'],
  ['iferror iserror is_error wennfehler try', 'Write if_error(x, other).'],
  [
    'to_number tonumber number numeric float real value wert value_of cast convert zahlenwert parsefloat parseint',
    TO_NUMBER,
  ],
  ['integer to_int toint', 'Write int(x).'],
  ['str text to_string tostring to_char', 'Write string(x), or format_date(d, pattern) for a date.'],
  ['to_date todate strptime cdate datwert datevalue', 'Write parse_date(x, "dd.MM.yyyy").'],
  ['strftime date_format dateformat', 'Write format_date(d, "dd.MM.yyyy").'],
  ['substitute wechseln ersetzen', 'Write x.replace(old, new).'],
  ['regexp_replace regex_replace regexreplace', 'Write replace_re(x, pattern, new).'],
  ['regexp_extract regex_extract regexextract', 'Write extract(x, pattern).'],
  ['regexp_matches regexp_like regex_match regexmatch match regex', 'Write x.matches(pattern).'],
  ['includes find search instr position finden suchen', 'Write x.contains(t), or x.indexOf(t).'],
  ['vlookup xlookup hlookup sverweis xverweis index', 'Write lookup(table, key, column), or use the operation join.'],
  ['starts_with startswith beginswith', 'Write x.startsWith(t).'],
  ['ends_with endswith', 'Write x.endsWith(t).'],
  ['datediff date_diff datedif timestampdiff tage days', 'Write days_between(a, b) or months_between(a, b).'],
  [
    'networkdays workday nettoarbeitstage',
    'There are no working days: write weekday(d) to ask for the day of the week.',
  ],
  ['dateadd date_add edate edatum plusdays', 'Write add_days(d, n) or add_months(d, n).'],
  ['eomonth last_day monatsende', 'Write end_of_month(d).'],
  ['date_trunc datetrunc', 'Write start_of_month(d), or date(d) for the day of an instant.'],
  ['date_part datepart', 'Write year(d), month(d), day(d), weekday(d), iso_week(d) or quarter(d).'],
  ['weeknum week isoweeknum weekofyear kalenderwoche', 'Write iso_week(d).'],
  ['dayofweek dow wochentag', 'Write weekday(d).'],
  [
    'datetime to_timestamp totimestamp',
    'Write timestamp(x), or the operation parse_date with a pattern that has a time.',
  ],
  ['runden roundto tofixed', 'Write round(x, 2).'],
  ['ceiling roundup aufrunden', 'Write ceil(x).'],
  ['trunc truncate rounddown abrunden ganzzahl fix', 'Write round(x, 0, "down").'],
  ['sqrt wurzel', 'Write math.sqrt(double(x)).'],
  ['sign signum vorzeichen', 'Write math.sign(double(x)).'],
  ['greatest', 'Write max(a, b).'],
  ['least', 'Write min(a, b).'],
  ['exp log ln log10', 'There are no logarithms and no powers of e.'],
  [
    'rand random uuid guid zufallszahl',
    'The same file gives the same output: write hash_key(a, b) for a key made of cells.',
  ],
  ['md5 sha sha1 sha256 hash crc32', 'Write hash_key(a, b) for a key, or the operation hash for a pseudonym.'],
  ['replaceall replace_all', 'Write x.replace(old, new).'],
  ['rept repeat wiederholen', 'Write pad_left("", n, "x").'],
  ['char chr zeichen', 'Write the character itself in quotes; "\\n" is a line break.'],
  ['exact identisch', 'Write a == b.'],
  [
    'isnumber is_number isnumeric isdigit istzahl',
    'Write x.matches("^[0-9]+$"), or !is_blank(if_error(decimal(x), null)).',
  ],
  ['jsonpath json_extract json_value get_json_object', 'Use the operation flatten_json.'],
  ['soundex metaphone levenshtein jaro_winkler', 'Write similarity(a, b), or fingerprint(x).'],
  ['base64', 'Write base64.encode(bytes(x)), or base64.decode(x).'],
  ['pow power potenz', 'There are no powers: write x * x.'],
]);
