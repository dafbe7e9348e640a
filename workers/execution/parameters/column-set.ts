// The parameter that names columns: one definition of its shape for all operations. Its meaning is in Scope.resolve.
import { Type } from '../../bundled/type-box.ts';
import type { ColumnSet } from '../../template/scope.ts';

/** The static types of columns, as a Template writes them. */
export const COLUMN_TYPES = ['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'datetime', 'json'] as const;

export const columnType = Type.Enum([...COLUMN_TYPES], { description: 'A static type of columns.' });

/** The name of one column. */
export const columnName = Type.String({ minLength: 1, description: 'The name of a column.' });

/** `"a"`, `["a","b"]`, `{pattern}`, `{type}`, `{except: [...]}` or `"*"`; resolved by `scope.resolve`. */
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
