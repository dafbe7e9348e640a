// Parameters of operations: those that all operations have, and the selection of columns.
import { Type } from '../bundled/type-box.ts';
import type { ColumnSet } from './scope.ts';

// The parameter that selects columns, with the same form in all operations. Scope.resolve defines its meaning.

/** Static types of columns, as written in a Template. */
export const COLUMN_TYPES = ['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'datetime', 'json'] as const;

export const columnType = Type.Enum([...COLUMN_TYPES], { description: 'A static type of columns.' });

/** The name of one column. */
export const columnName = Type.String({ minLength: 1, description: 'The name of a column.' });

/** `"a"`, `["a","b"]`, `{pattern}`, `{type}`, `{except: [...]}` or `"*"`. Resolved by `scope.resolve`. */
export const columnSet = Type.Unsafe<ColumnSet>({
  title: 'a column set: "a", ["a", "b"], {pattern: "^a"}, {type: text}, {except: ["a"]} or "*"',
  description: 'Columns: one name, a list of names, `{pattern}` (RE2), `{type}`, `{except: [...]}`, or `"*"` for all.',
  anyOf: [
    columnName,
    Type.Array(columnName, { minItems: 1 }),
    Type.Object({ pattern: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
    Type.Object({ type: columnType }, { additionalProperties: false }),
    Type.Object({ except: Type.Array(columnName) }, { additionalProperties: false }),
  ],
});

// Parameters that all operations have in addition to their own. The schema of the Template adds them to each operation;
// the checker removes them again, so that an operation only sees its own parameters.

/**
 * Maximum length of a text that an operation writes into cells or searches for. Far more than a separator, prefix or
 * label needs, and short enough that a row of such texts stays small.
 */
export const PARAMETER_LENGTH_MAX = 1000;

/** Parameters of all operations. */
export const baseParameters = {
  id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Name of the operation in reports and messages.' }),
  ),
  note: Type.Optional(Type.String({ description: 'A comment for readers, without effect.' })),
  enabled: Type.Boolean({ default: true, description: '`false` disables the operation.' }),
  // A bare `null` in YAML is not a text, so both forms are accepted.
  if_missing: Type.Union([Type.Enum(['fail', 'null', 'skip']), Type.Null()], {
    default: 'fail',
    description:
      'If the file lacks a column that the operation reads: `fail` refuses the file, `null` treats the column as nulls, `skip` ignores the column in this operation.',
  }),
  on_error: Type.Optional(
    Type.Enum(['fail', 'drop_row', 'reject', 'blank', 'keep', 'flag'], {
      description: "What happens to a row with an error; by default the Template's `defaults.on_error`.",
    }),
  ),
};

/** Parameters of operations on cells. */
export const cellParameters = {
  where: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'An expression: only rows for which it is true are edited. `value` in it is the cell, so the expression is evaluated for each column.',
    }),
  ),
};

/**
 * Options of `Type.Object` that require exactly one of several groups of parameters, such as `exactlyOne(['columns'],
 * ['pattern', 'replace'], ['style'])`.
 */
export function exactlyOne(...groups: readonly (readonly string[])[]): { oneOf: { required: string[] }[] } {
  return { oneOf: groups.map((group) => ({ required: [...group] })) };
}
