// Finds the Template's columns among the headers of a file: by name and aliases on up to three levels, then by place
// Never a guess: two headers that fit on one level are reported, not chosen from.
import { PAUSE, type Sliced, type Slices } from '../run/time-slices.ts';
import { type ColumnPatterns, MATCHED_NAME_LENGTH_MAX } from '../template/column-pattern.ts';
import type { FileColumn, HeaderMatch } from '../template/template.ts';
import { normalise } from '../values/normalise.ts';
import { foldCase, stripAccents } from '../values/text-edits.ts';

export interface MatchedHeaders {
  /** For each column looked for: index of its header, or null when the file lacks it. */
  readonly fields: readonly (number | null)[];
  readonly ambiguous: readonly AmbiguousColumn[];
}

/** More than one header fits. */
export interface AmbiguousColumn {
  readonly name: string;
  /** Of the first such headers, from 1. */
  readonly positions: readonly number[];
  /** Of all of them. */
  readonly count: number;
}

/** What an error names of the headers that fit one column: a pattern may fit all 16,384. */
const POSITIONS_MAX = 10;

const SPACE = 0x20;
const LAST_VISIBLE = 0x7e;

/** Headers that are looked at between two pauses: usual ones take 100 µs. */
const HEADERS_AT_ONCE = 64;

const LEVELS: readonly HeaderMatch[] = ['exact', 'normal', 'loose'];

/**
 * Level by level over all columns in their order; a header that is taken is out of the search.
 *
 * @param headers by position; null = a header that is left out
 */
export function* matchHeaders(
  headers: readonly (string | null)[],
  columns: readonly FileColumn[],
  headerMatch: HeaderMatch,
  patterns: ColumnPatterns,
): Sliced<MatchedHeaders> {
  const fields: (number | null)[] = columns.map(() => null);
  const ambiguous = new Map<number, AmbiguousColumn>();
  const taken = new Set<number>();
  const take = (column: number, hits: readonly number[]): void => {
    if (hits.length > 1) {
      const positions = hits.slice(0, POSITIONS_MAX).map((hit) => hit + 1);
      ambiguous.set(column, { name: columns[column]!.name, positions, count: hits.length });
    }
    if (hits.length !== 1) return;
    fields[column] = hits[0]!;
    taken.add(hits[0]!);
  };
  const open = (column: number) => fields[column] === null && !ambiguous.has(column);
  for (const level of LEVELS.slice(0, LEVELS.indexOf(headerMatch) + 1)) {
    if (taken.size === headers.length || !columns.some((_, column) => open(column))) break;
    const index = new HeaderIndex(headers, level, patterns);
    yield* index.build();
    for (const [column, { name, match }] of columns.entries()) {
      if (!open(column)) continue;
      const hits = yield* index.hits(name, match);
      take(
        column,
        hits.filter((hit) => !taken.has(hit)),
      );
    }
  }
  for (const [column, { match }] of columns.entries()) {
    if (!open(column)) continue;
    const places = match.flatMap((form) => (typeof form === 'object' && 'position' in form ? [form.position - 1] : []));
    take(
      column,
      [...new Set(places)].filter((at) => at < headers.length && headers[at] !== null && !taken.has(at)),
    );
  }
  const sorted = [...ambiguous].sort(([a], [b]) => a - b);
  return { fields, ambiguous: sorted.map(([, column]) => column) };
}

/** What two headers have in common that are equal on a level; of what is longer than MATCHED_NAME_LENGTH_MAX, all of it. */
export function headerKey(text: string, level: HeaderMatch): string {
  if (level === 'exact' || text.length > MATCHED_NAME_LENGTH_MAX) return text;
  // Most headers are plain ASCII, for which all but the case is settled already.
  const plain = isPlain(text);
  const folded = plain ? text.toLowerCase() : foldCase(cleaned(text));
  if (level === 'normal') return folded;
  const bare = folded.replace(/[\s_\-./:#()]/g, '');
  return plain ? bare : stripAccents(bare);
}

/** True for words of visible ASCII with one space between them. */
export function isPlain(text: string): boolean {
  let before = SPACE;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < SPACE || unit > LAST_VISIBLE || (unit === SPACE && before === SPACE)) return false;
    before = unit;
  }
  return before !== SPACE;
}

/** Headers of one level by what they have in common. */
class HeaderIndex {
  readonly #headers: readonly (string | null)[];
  readonly #level: HeaderMatch;
  readonly #patterns: ColumnPatterns;
  readonly #byKey = new Map<string, number[]>();
  readonly #byPattern = new Map<string, readonly number[]>();

  constructor(headers: readonly (string | null)[], level: HeaderMatch, patterns: ColumnPatterns) {
    this.#headers = headers;
    this.#patterns = patterns;
    this.#level = level;
  }

  *build(): Slices {
    for (const [at, header] of this.#headers.entries()) {
      if (at % HEADERS_AT_ONCE === 0) yield PAUSE;
      if (header === null) continue;
      const key = headerKey(header, this.#level);
      const known = this.#byKey.get(key);
      if (known === undefined) this.#byKey.set(key, [at]);
      else known.push(at);
    }
  }

  *hits(name: string, match: FileColumn['match']): Sliced<readonly number[]> {
    const found = [this.#named(name)];
    for (const form of match) {
      if (typeof form === 'string') found.push(this.#named(form));
      else if ('pattern' in form) found.push(yield* this.#matches(form.pattern));
    }
    const some = found.filter(({ length }) => length > 0);
    // Each is in order: many columns may have one pattern that many headers fit.
    if (some.length <= 1) return some[0] ?? [];
    return [...new Set(some.flat())].sort((a, b) => a - b);
  }

  #named(name: string): readonly number[] {
    return this.#byKey.get(headerKey(name, this.#level)) ?? [];
  }

  /** A pattern sees the header as it stands, on the second level cleaned of what cannot be seen. */
  *#matches(source: string): Sliced<readonly number[]> {
    if (this.#level === 'loose') return [];
    const known = this.#byPattern.get(source);
    if (known !== undefined) return known;
    const pattern = this.#patterns.checked(source);
    const matches: number[] = [];
    for (const [at, header] of this.#headers.entries()) {
      if (at % HEADERS_AT_ONCE === 0) yield PAUSE;
      if (header === null || header.length > MATCHED_NAME_LENGTH_MAX) continue;
      if (pattern.test(this.#level === 'exact' ? header : cleaned(header))) matches.push(at);
    }
    this.#byPattern.set(source, matches);
    return matches;
  }
}

/** NFKC, without marks that cannot be seen, trimmed, every run of spaces one space. */
export function cleaned(text: string): string {
  return normalise(text, 'NFKC')
    .replace(/[\u00AD\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
