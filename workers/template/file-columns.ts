// Finds the Template's columns among the headers of a file, maps the headers to the columns at the first step, and
// gives hints about columns that are not declared.

import type { Column } from '../batch/schema.ts';
import { Failed } from '../protocol/failure.ts';
import { done, PAUSE, type Sliced, type Slices } from '../scheduling/time-slices.ts';
import { normalise } from '../values/normalise.ts';
import { nearestName } from '../values/suggestion.ts';
import { foldCase, stripAccents } from '../values/text-edits.ts';
import { type ColumnPatterns, MATCHED_NAME_LENGTH_MAX } from './column-pattern.ts';
import type { FileColumn, HeaderMatch, Template } from './template.ts';

// Finds the Template's columns among the headers of a file: by name and aliases on up to three levels of exactness,
// then by position. Never guesses: if two headers match on the same level, both are reported.

export interface MatchedHeaders {
  /** For each column, the index of its header; null if the file lacks the column. */
  readonly fields: readonly (number | null)[];
  readonly ambiguous: readonly AmbiguousColumn[];
}

/** A column that matches more than one header. */
interface AmbiguousColumn {
  readonly name: string;
  /** Positions of the first matching headers, starting at 1. */
  readonly positions: readonly number[];
  /** Number of all matching headers. */
  readonly count: number;
}

/** Maximum number of positions that an error lists for one column: a pattern may match all 16,384 headers. */
const POSITIONS_MAX = 10;

const SPACE = 0x20;
const LAST_VISIBLE = 0x7e;

/** Headers examined between two pauses; usually they take 100 µs. */
const HEADERS_MATCHED_AT_ONCE = 64;

const LEVELS: readonly HeaderMatch[] = ['exact', 'normal', 'loose'];

/**
 * Matches all columns on one level before the next level. A header that a column has taken cannot match another
 * column.
 *
 * @param headers headers by position; null = the header is ignored
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

/**
 * Key of a header: headers with the same key are equal on this level. A text longer than MATCHED_NAME_LENGTH_MAX is
 * its own key.
 */
export function headerKey(text: string, level: HeaderMatch): string {
  if (level === 'exact' || text.length > MATCHED_NAME_LENGTH_MAX) return text;
  // Most headers are plain ASCII, which needs only lower-casing.
  const plain = isPlain(text);
  const folded = plain ? text.toLowerCase() : foldCase(cleaned(text));
  if (level === 'normal') return folded;
  const bare = folded.replace(/[\s_\-./:#()]/g, '');
  return plain ? bare : stripAccents(bare);
}

/** True for words of visible ASCII characters that are separated by single spaces. */
export function isPlain(text: string): boolean {
  let before = SPACE;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < SPACE || unit > LAST_VISIBLE || (unit === SPACE && before === SPACE)) return false;
    before = unit;
  }
  return before !== SPACE;
}

/** Index of the headers by their key on one level. */
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
      if (at % HEADERS_MATCHED_AT_ONCE === 0) yield PAUSE;
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
    // A single list is already in order. It is not copied, because many columns may share a pattern that matches many
    // headers.
    if (some.length <= 1) return some[0] ?? [];
    return [...new Set(some.flat())].sort((a, b) => a - b);
  }

  #named(name: string): readonly number[] {
    return this.#byKey.get(headerKey(name, this.#level)) ?? [];
  }

  /**
   * A pattern is matched against the original header; on the second level, against the header without invisible
   * characters.
   */
  *#matches(source: string): Sliced<readonly number[]> {
    if (this.#level === 'loose') return [];
    const known = this.#byPattern.get(source);
    if (known !== undefined) return known;
    const pattern = this.#patterns.checked(source);
    const matches: number[] = [];
    for (const [at, header] of this.#headers.entries()) {
      if (at % HEADERS_MATCHED_AT_ONCE === 0) yield PAUSE;
      if (header === null || header.length > MATCHED_NAME_LENGTH_MAX) continue;
      if (pattern.test(this.#level === 'exact' ? header : cleaned(header))) matches.push(at);
    }
    this.#byPattern.set(source, matches);
    return matches;
  }
}

/** NFKC, without invisible characters, trimmed, and with single spaces only. */
export function cleaned(text: string): string {
  return normalise(text, 'NFKC')
    .replace(/[\u00AD\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

// Properties of a column before the first operation.

/** A column before the first operation. */
export interface FirstColumn extends Pick<Column, 'name' | 'hasKinds'> {
  /** The column is not in the file: it consists of nulls, and an operation with `if_missing: skip` ignores it. */
  readonly absent: boolean;
}

// Hints about columns that operations read from the file without a declaration in `input.columns`. This is correct if
// the file has a header with exactly this name. It also happens with a misspelt name, an unquoted string, or the name
// of a header instead of the column's name.

/**
 * Maximum number of columns whose names are compared with all declared names and whose positions are searched:
 * without this limit, sixty thousand missing columns took fifteen seconds.
 */
export const HINTED_COLUMNS_MAX = 50;

type Declaring = Pick<Template, 'fileColumns' | 'input'>;

/** A sentence, with a leading space, about what an undeclared name probably means; '' if nothing is known. */
function declaredHint(name: string, { fileColumns, input }: Declaring): string {
  const declared = fileColumns.filter((column) => column.declared);
  const key = headerKey(name, input.headerMatch);
  const named = (text: unknown): boolean => typeof text === 'string' && headerKey(text, input.headerMatch) === key;
  const owner = declared.find(({ match }) => match.some(named));
  if (owner !== undefined) {
    return ` The Template calls the column of that header ${JSON.stringify(owner.name)}.`;
  }
  const nearest = nearestName(
    name,
    declared.map((column) => column.name),
  );
  return nearest === null ? formHint(name) : ` Did you mean ${JSON.stringify(nearest)}?`;
}

/** Hints for words that are rarely column names but have a meaning in other languages. */
function formHint(name: string): string {
  if (/^(?:none|null|nil|undefined|nan)$/i.test(name)) return ' An empty cell is null.';
  if (/^(?:true|false)$/i.test(name)) return ` Write ${name.toLowerCase()}.`;
  const order = /^(.+) (?:asc|desc)$/i.exec(name)?.[1] ?? /^-(.+)$/.exec(name)?.[1];
  if (order !== undefined) return ` To sort by it write {column: ${JSON.stringify(order)}, order: desc}.`;
  if (/[^,]+,[^,]+/.test(name)) return ' Several columns are a list, as in [a, b].';
  return name.includes('*') ? ` Write {pattern: '^...'} for all columns with similar names.` : '';
}

export interface UndeclaredNote {
  /** Name of the column. */
  readonly name: string;
  readonly message: string;
}

/**
 * One sentence for each column that is read without a declaration.
 * @param always also if the Template declares no columns at all; by default such a Template gets no notes
 */
export function undeclaredNotes(template: Declaring, always = false): UndeclaredNote[] {
  const { fileColumns } = template;
  if (!always && !fileColumns.some(({ declared }) => declared)) return [];
  const read = fileColumns.filter(({ declared, ifMissing }) => !declared && ifMissing === 'fail');
  return read.map(({ name }: FileColumn, index) => {
    const quoted = JSON.stringify(name);
    const message =
      `The file must have a column ${quoted}: an operation reads it and input.columns does not declare it.` +
      `${index < HINTED_COLUMNS_MAX ? declaredHint(name, template) : ''} Write a text in an expression in quotes.`;
    return { name, message };
  });
}

// Maps the headers of a file to the columns at a Template's first step: unique names, the Template's own names for
// headers that it found, and columns of nulls for optional columns that are missing.

export interface FileColumns {
  readonly columns: readonly FirstColumn[];
  /** For each column, the index of the file's field, or null for a column of nulls. */
  readonly fields: readonly (number | null)[];
}

/** Headers examined between two pauses: 1 ms of work for equal headers. */
const HEADERS_AT_ONCE = 512;

/**
 * With `other_columns: keep`, returns the file's columns in file order, then the columns of nulls. With `drop`,
 * returns the declared columns in declared order, then the columns that are read without being declared; columns of
 * nulls keep their places.
 *
 * @param headers header texts by position; blank if a column has no header
 * @param nullColumns names, in addition to those of the Template, that become columns of nulls if the file lacks them
 * @param hasKinds see FileHead
 * @throws Failed TEMPLATE_COLUMNS_MISSING, or MALFORMED_FILE for equal headers that the Template refuses
 */
export function* fileColumns(
  template: Template,
  headers: readonly string[],
  nullColumns: readonly string[],
  hasKinds?: readonly boolean[],
): Sliced<FileColumns> {
  const extra = nullColumns.map((name): FileColumn => ({ name, match: [], ifMissing: 'null', declared: false }));
  const wanted = [...template.fileColumns, ...extra];
  const names = yield* uniqueNames(headers, template.input.duplicateHeaders);
  yield PAUSE;
  const { fields, ambiguous } = yield* matchHeaders(names, wanted, template.input.headerMatch, template.patterns);
  const unclear = new Set(ambiguous.map(({ name }) => name));
  const missing = wanted.filter(
    ({ name, ifMissing }, index) => ifMissing === 'fail' && fields[index] === null && !unclear.has(name),
  );
  if (missing.length > 0 || ambiguous.length > 0) throw columnsMissing(missing, ambiguous, template);
  const byField = new Map(fields.map((field, index) => [field, wanted[index]!.name]));
  const { flagColumn } = template;
  const pool = new NamePool([...wanted.map(({ name }) => name), ...(flagColumn === null ? [] : [flagColumn])]);
  const made: FileColumns & { columns: FirstColumn[]; fields: (number | null)[] } = { columns: [], fields: [] };
  const add = (name: string, field: number | null): void => {
    const kinds = field !== null && hasKinds?.[field] === true ? ({ hasKinds: true } as const) : null;
    made.columns.push({ name, absent: field === null, ...kinds });
    made.fields.push(field);
  };
  const keepsOthers = template.input.otherColumns === 'keep';
  for (const [field, header] of keepsOthers ? names.entries() : []) {
    if (header !== null) add(byField.get(field) ?? pool.take(header), field);
    if (field % HEADERS_AT_ONCE === HEADERS_AT_ONCE - 1) yield PAUSE;
  }
  for (const [index, { name, ifMissing }] of wanted.entries()) {
    const field = fields[index]!;
    if (field === null ? ifMissing === 'null' : !keepsOthers) add(name, field);
  }
  return made;
}

/**
 * The names of all columns of a table from its headers. Equal headers get a number as suffix.
 * @param others names that no column may get
 */
export function headerNames(headers: readonly string[], others: readonly string[] = []): string[] {
  return done(uniqueNames(headers, 'suffix', others)).filter((name) => name !== null);
}

/**
 * Makes names unique. Blank headers become column_<n>. Among equal headers, the policy keeps one or adds a number to
 * the others.
 */
function* uniqueNames(
  headers: readonly string[],
  policy: Template['input']['duplicateHeaders'],
  others: readonly string[] = [],
): Sliced<(string | null)[]> {
  const last = new Map<string, number>();
  const taken = new Set<string>();
  for (const [at, header] of headers.entries()) {
    if (isBlank(header)) continue;
    if (policy === 'fail' && taken.has(header)) {
      const message = `Columns ${last.get(header)! + 1} and ${at + 1} of the file have the same header.`;
      throw new Failed('MALFORMED_FILE', message);
    }
    taken.add(header);
    last.set(header, at);
    if (at % HEADERS_AT_ONCE === HEADERS_AT_ONCE - 1) yield PAUSE;
  }
  yield PAUSE;
  const seen = new Set(others);
  const pool = new NamePool([...taken, ...others]);
  return headers.map((header, at) => {
    if (isBlank(header)) return pool.take(`column_${at + 1}`);
    if (policy === 'last') return last.get(header) === at ? header : null;
    if (!seen.has(header)) {
      seen.add(header);
      return header;
    }
    return policy === 'first' ? null : pool.take(header);
  });
}

function isBlank(header: string): boolean {
  return /^[\s\u200B-\u200D\u2060\uFEFF]*$/.test(header);
}

/** The names in use, and the next number for each repeated name. */
class NamePool {
  readonly #taken: Set<string>;
  readonly #numbers = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** Returns the name, with the first suffix of _2, _3, ... that makes it unique, and marks the result as used. */
  take(name: string): string {
    let free = name;
    let number = this.#numbers.get(name) ?? 2;
    for (; this.#taken.has(free); number++) free = `${name}_${number}`;
    this.#numbers.set(name, number);
    this.#taken.add(free);
    return free;
  }
}

function columnsMissing(
  missing: readonly FileColumn[],
  ambiguous: readonly AmbiguousColumn[],
  template: Template,
): Failed {
  const parts: string[] = [];
  if (missing.length > 0) {
    const names = missing.map(({ name }) => JSON.stringify(name)).join(', ');
    parts.push(`The file lacks columns that the Template needs: ${names}.`);
    for (const { name, declared } of missing.slice(0, HINTED_COLUMNS_MAX)) {
      const hint = declared ? '' : declaredHint(name, template);
      if (hint !== '') parts.push(`${JSON.stringify(name)} is not declared in input.columns.${hint}`);
    }
  }
  for (const { name, positions, count } of ambiguous.slice(0, HINTED_COLUMNS_MAX)) {
    const more = count - positions.length;
    const places =
      more > 0
        ? `${positions.join(', ')} and ${more} more`
        : `${positions.slice(0, -1).join(', ')} and ${positions.at(-1)}`;
    parts.push(`The column ${JSON.stringify(name)} is ambiguous: columns ${places} of the file fit.`);
  }
  if (ambiguous.length > HINTED_COLUMNS_MAX)
    parts.push(`So are ${ambiguous.length - HINTED_COLUMNS_MAX} more columns of the Template.`);
  const names = [...missing, ...ambiguous].map(({ name }) => name);
  return new Failed('TEMPLATE_COLUMNS_MISSING', parts.join(' '), { columns: names });
}
