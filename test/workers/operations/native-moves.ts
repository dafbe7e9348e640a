// A reference model of operations that move cells: the result of each over rows of known cells ("kind:text").

import { KIND_NAMES } from '../../fixtures/kinds-format.ts';
import type { TypedCell } from '../../fixtures/typed-table.ts';
import { fc } from '../../random.ts';

export const HEADERS = ['id', 'group', 'a', 'b', 'plain'];

/** Short texts, so that cells of several kinds often have the same text. */
export const cell: fc.Arbitrary<TypedCell> = fc.option(
  fc.tuple(fc.nat({ max: KIND_NAMES.length - 1 }), fc.constantFrom('', '1', '2', '3', 'a long text '.repeat(8))),
  { freq: 3 },
);

export interface Row {
  readonly [name: string]: string | null;
}

interface Move {
  readonly step: Readonly<Record<string, unknown>>;
  apply(rows: readonly Row[]): Row[];
}

export const textOf = (cell: string | null | undefined): string | null => cell?.slice(cell.indexOf(':') + 1) ?? null;
const isEmpty = (cell: string | null | undefined): boolean => (textOf(cell) ?? '') === '';
const groupOf = (row: Row): string => JSON.stringify(textOf(row.group));

function filled(rows: readonly Row[], column: string, groups: boolean): Row[] {
  const last = new Map<string, string>();
  return rows.map((row) => {
    const key = groups ? groupOf(row) : '';
    if (!isEmpty(row[column])) last.set(key, row[column]!);
    else if (last.has(key)) return { ...row, [column]: last.get(key)! };
    return row;
  });
}

export const byId = (a: Row, b: Row): number => Number(textOf(a.id)) - Number(textOf(b.id));

/** Orders by code point, nulls last; stable. */
export function compareTexts(a: string | null, b: string | null): number {
  if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function withPrevious(rows: readonly Row[], name: string): Row[] {
  const last = new Map<string, string | null>();
  return rows.map((row) => {
    const moved = last.get(groupOf(row)) ?? null;
    last.set(groupOf(row), row[name]!);
    return { ...row, moved };
  });
}

function firstOfKeys(rows: readonly Row[], name: string): Row[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = JSON.stringify([groupOf(row), textOf(row[name])]);
    return !seen.has(key) && seen.add(key);
  });
}

function aggregated(rows: readonly Row[]): Row[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(groupOf(row), [...(groups.get(groupOf(row)) ?? []), row]);
  return [...groups.values()].map((group) => {
    const as = group.map(({ a }) => a!).filter((cell) => cell !== null);
    const bs = group.map(({ b }) => b!).filter((cell) => cell !== null);
    const max = as.reduce<string | null>(
      (best, cell) => (best === null || compareTexts(textOf(cell), textOf(best)) > 0 ? cell : best),
      null,
    );
    return { group: group[0]!.group!, first: as[0] ?? null, last: bs.at(-1) ?? null, max };
  });
}

const column = fc.constantFrom('a', 'b');

export const move: fc.Arbitrary<Move> = fc.oneof(
  column.map(
    (name): Move => ({ step: { op: 'fill_down', columns: name }, apply: (rows) => filled(rows, name, false) }),
  ),
  column.map(
    (name): Move => ({
      step: { op: 'fill_down', columns: name, group_by: ['group'] },
      apply: (rows) => filled(rows, name, true),
    }),
  ),
  column.map(
    (name): Move => ({
      step: { op: 'fill_up', columns: name, group_by: ['group'] },
      apply: (rows) => filled(rows.toReversed(), name, true).toReversed(),
    }),
  ),
  column.map(
    (name): Move => ({
      step: { op: 'sort', by: [name, 'id'] },
      apply: (rows) =>
        rows.toSorted(
          (a, b) => compareTexts(textOf(a[name]), textOf(b[name])) || compareTexts(textOf(a.id), textOf(b.id)),
        ),
    }),
  ),
  column.map(
    (name): Move => ({
      step: { op: 'filter', where: `row.${name} == null || row.${name} != "1"` },
      apply: (rows) => rows.filter((row) => textOf(row[name]) !== '1'),
    }),
  ),
  column.map(
    (name): Move => ({
      step: { op: 'fill_empty', columns: name, from: [name === 'a' ? 'b' : 'a'] },
      apply: (rows) =>
        rows.map((row) => {
          const other = row[name === 'a' ? 'b' : 'a']!;
          return isEmpty(row[name]) ? { ...row, [name]: isEmpty(other) ? null : other } : row;
        }),
    }),
  ),
  column.map(
    (name): Move => ({
      step: { op: 'window', partition_by: ['group'], columns: [{ fn: 'previous', column: name, as: 'moved' }] },
      apply: (rows) => withPrevious(rows, name),
    }),
  ),
  column.map(
    (name): Move => ({
      step: { op: 'dedupe', by: ['group', name] },
      apply: (rows) => firstOfKeys(rows, name),
    }),
  ),
  column.map(
    (name): Move => ({
      step: { op: 'dedupe', by: [name], keep: 'last' },
      apply: (rows) =>
        rows.filter((row, at) => !rows.slice(at + 1).some((other) => textOf(other[name]) === textOf(row[name]))),
    }),
  ),
  column.map(
    (name): Move => ({
      step: { op: 'text', columns: name, steps: ['trim'], where: 'row.id != "3"' },
      apply: (rows) =>
        rows.map((row) => {
          const text = textOf(row[name]);
          if (text === null || textOf(row.id) === '3' || text === text.trim()) return row;
          return { ...row, [name]: `text:${text.trim()}` };
        }),
    }),
  ),
  fc.constant<Move>({ step: { op: 'slice', skip: 1, skip_last: 1 }, apply: (rows) => rows.slice(1, -1) }),
  fc.constant<Move>({
    step: { op: 'append_rows', rows: [{ id: '9999', a: '1' }] },
    apply: (rows) => [
      ...rows,
      { ...Object.fromEntries(HEADERS.map((name) => [name, null])), id: 'text:9999', a: 'text:1' },
    ],
  }),
);

/** The last operation of a sequence, which may change the columns. */
export const last: fc.Arbitrary<Move> = fc.oneof(
  fc.constant<Move>({
    step: { op: 'select', columns: ['b', 'a', 'id'] },
    apply: (rows) => rows.map(({ a, b, id }) => ({ b: b!, a: a!, id: id! })),
  }),
  fc.constant<Move>({
    step: {
      op: 'aggregate',
      group_by: ['group'],
      metrics: [
        { fn: 'first', column: 'a', as: 'first' },
        { fn: 'last', column: 'b', as: 'last' },
        { fn: 'max', column: 'a', as: 'max' },
      ],
    },
    apply: (rows) => aggregated(rows),
  }),
  fc.constant<Move>({
    step: { op: 'unpivot', columns: ['a', 'b', 'plain'] },
    apply: (rows) =>
      rows.flatMap(({ a, b, plain, ...rest }) =>
        Object.entries({ a, b, plain }).map(([name, value]) => ({ ...rest, name: `text:${name}`, value: value! })),
      ),
  }),
);
