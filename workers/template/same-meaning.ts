// Owns words of parameters and values that mean the same in other languages (SQL, pandas, spreadsheets): hints for messages,
// never a meaning. What operations are called there stands at each operation (`knownAs`).
import { suggestion } from './suggestion.ts';

/** The known name that means the same as a foreign one, or null. Case and the mark between words do not count. */
export function sameMeaning(name: string, known: Iterable<string>): string | null {
  const group = MEANINGS.get(plain(name));
  if (group === undefined) return null;
  for (const candidate of known) if (candidate !== name && group.has(plain(candidate))) return candidate;
  return null;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Each line holds words for one thing; of one line a section of the language knows one word. */
const MEANINGS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [
    'by columns column group_by partition_by key keys fields subset',
    'order_by sort_by',
    'where when condition filter if',
    'pattern regex regexp',
    'find from old search',
    'replace with to new replacement',
    'as name alias into',
    'fn function func agg',
    'mean avg average',
    'previous lag shift prior',
    'next lead following',
    'running_sum cumsum cumulative_sum running_total',
    'count_distinct nunique count_unique distinct_count',
    'join concat string_agg group_concat listagg',
    'stdev std stddev',
    'variance var',
    'trim strip',
    'collapse_spaces squeeze squish normalize_spaces',
    'lower lowercase downcase',
    'upper uppercase upcase',
    'title proper capitalize titlecase',
    'asc ascending rising up',
    'desc descending falling down',
    'text string str varchar char',
    'integer int long bigint',
    'number float double real',
    'decimal numeric money currency',
    'boolean bool logical',
    'datetime timestamp',
    'delimiter separator sep',
    'formats format',
    'metrics aggregations aggregates aggs',
    'type how kind',
    'map mapping dictionary dict',
    'match alias aliases synonyms header headers',
    'names_to var_name variable_name key_name',
    'values_to value_name',
    'required not_null notnull non_null not_blank not_empty notempty mandatory',
    'xlsx excel xls workbook',
    'operations steps transforms transformations pipeline',
    'header_row skip_rows skip_lines',
  ].flatMap((line) => {
    const words = line.split(' ').map(plain);
    return words.map((word) => [word, new Set(words)] as const);
  }),
);

/** A word of other languages for the same comes before one that looks alike. */
export function meantName(name: string, known: readonly string[]): string {
  const same = sameMeaning(name, known);
  return same === null ? suggestion(name, known) : ` Did you mean ${JSON.stringify(same)}?`;
}
