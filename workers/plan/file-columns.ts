// From the headers of a file to the columns at a Template's first step: unique names, the Template's own names where a
// header was found, columns of nulls where one may be missing.
import { Failed } from '../protocol/failure.ts';
import type { Sliced } from '../run/time-slices.ts';
import type { FileColumn, Template } from '../template/template.ts';
import type { FirstColumn } from './first-column.ts';
import { type AmbiguousColumn, matchHeaders } from './headers.ts';
import { declaredHint, HINTED_COLUMNS_MAX } from './undeclared-columns.ts';

export interface FileColumns {
  readonly columns: readonly FirstColumn[];
  /** For each column the field of the file, from 0, or null for one of nulls. */
  readonly fields: readonly (number | null)[];
}

/**
 * With `other_columns: keep` the file's columns in its order, then the columns of nulls; with `drop` the declared columns in
 * their declared order, then those that are read undeclared, columns of nulls in their place.
 *
 * @param headers header texts by position; blank where there is none
 * @param nullColumns names that are columns of nulls when the file lacks them, beside those of the Template
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
  const names = uniqueNames(headers, template.input.duplicateHeaders);
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
  }
  for (const [index, { name, ifMissing }] of wanted.entries()) {
    const field = fields[index]!;
    if (field === null ? ifMissing === 'null' : !keepsOthers) add(name, field);
  }
  return made;
}

/**
 * The names of all columns of a table from its headers: as they stand, equal ones told apart by a number.
 * @param others names that none of them may have
 */
export function headerNames(headers: readonly string[], others: readonly string[] = []): string[] {
  return uniqueNames(headers, 'suffix', others).filter((name) => name !== null);
}

/** Blank headers become column_<n>; of equal ones the policy keeps one, or tells them apart by a number. */
function uniqueNames(
  headers: readonly string[],
  policy: Template['input']['duplicateHeaders'],
  others: readonly string[] = [],
): (string | null)[] {
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
  }
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

/** Names that are taken, and the number that the next equal one gets. */
class NamePool {
  readonly #taken: Set<string>;
  readonly #numbers = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** The name, or with the first of _2, _3, ... that makes it free; it is taken then. */
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
  return new Failed('TEMPLATE_COLUMNS_MISSING', parts.join(' '), names);
}
