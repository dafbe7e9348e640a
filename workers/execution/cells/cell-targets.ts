// Determines which columns an operation on cells reads, and where its results go: the parameters `columns` and `into`.
import type { Column, ColumnType } from '../../batch/schema.ts';
import { Type } from '../../bundled/type-box.ts';
import type { ColumnSet, Scope } from '../../template/scope.ts';
import type { CellTarget } from './cell-operator.ts';

/** Writes to new columns instead of editing in place. */
export const intoParameter = Type.Optional(
  Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })], {
    description:
      'Writes the result to a new column (a list of names for several columns), which is null in rows that `where` excludes. By default the cells change in place.',
  }),
);

export interface TargetRequest {
  readonly columns: ColumnSet;
  readonly into?: string | readonly string[] | undefined;
  /**
   * Types that the operation accepts. Columns of other types are skipped in a pattern or "*", and are an error if
   * named.
   */
  readonly takes: readonly ColumnType[];
  /** Type of the result, or null for the type of the source. */
  readonly makes: ColumnType | null;
  /** Set if new columns contain unchanged cells of their sources, with their native kinds. */
  readonly moves?: true;
  /** Set if the operation creates texts with kinds. */
  readonly makesKinds?: true;
}

export function cellTargets(scope: Scope, request: TargetRequest): CellTarget[] {
  const sources = columnsOfTypes(scope, request.columns, '/columns', request.takes);
  if (request.into === undefined) return sources.map((source) => inPlace(scope, source, request));
  const names = typeof request.into === 'string' ? [request.into] : request.into;
  const wanted = listOf(request.columns) ?? sources.map(({ name }) => name);
  if (names.length !== wanted.length && (scope.closed || isList(request.columns))) {
    scope.problem(
      '/into',
      'INTO_COUNT',
      `"into" names ${names.length} new columns for ${wanted.length} columns. Give one name for each.`,
    );
    return [];
  }
  const byName = new Map(sources.map((source) => [source.name, source]));
  return names.flatMap((name, index) => {
    const source = byName.get(wanted[index] ?? '');
    // A skipped column in a list creates no new column. While a Template is checked, a pattern or "*" may match no
    // column yet, but the new columns exist nevertheless.
    if (source === undefined && isList(request.columns)) return [];
    const pointer = typeof request.into === 'string' ? '/into' : `/into/${index}`;
    const hasKinds = request.moves === true ? source?.hasKinds : request.makesKinds;
    const target = scope.add(name, request.makes ?? source?.type ?? 'text', pointer, undefined, hasKinds);
    if (source === undefined) return [];
    if (request.makes === null) scope.setClock(target, source.clock);
    return [{ source, target }];
  });
}

/** Returns the columns of a set that have one of these types. */
function columnsOfTypes(
  scope: Scope,
  set: ColumnSet,
  pointer: string,
  takes: readonly ColumnType[],
): readonly Column[] {
  const found = scope.resolve(set, pointer);
  const fitting = found.filter(({ type }) => takes.includes(type));
  if (fitting.length === 0 && found.length > 0) scope.noneFits(set, pointer);
  if (fitting.length < found.length && isList(set)) {
    for (const { name, type } of found) {
      if (takes.includes(type)) continue;
      scope.problem(
        pointer,
        'WRONG_TYPE',
        `The column ${JSON.stringify(name)} is ${type} at this step; this operation takes ${takes.join(' or ')}.`,
      );
    }
  }
  return fitting;
}

function inPlace(scope: Scope, source: Column, { makes, makesKinds }: TargetRequest): CellTarget {
  if (makesKinds === true) {
    scope.retype(source, 'text', true);
    return { source, target: { ...source, hasKinds: true } };
  }
  if (makes === null || makes === source.type) return { source, target: source };
  scope.retype(source, makes);
  return { source, target: { ...source, type: makes } };
}

function isList(set: ColumnSet): boolean {
  return listOf(set) !== null;
}

/** Returns the names of a set that lists them, without duplicates, otherwise null. */
function listOf(set: ColumnSet): readonly string[] | null {
  if (typeof set === 'string') return set === '*' ? null : [set];
  return Array.isArray(set) ? [...new Set(set as readonly string[])] : null;
}
