// The columns of a batch as the Template sees them: names and static types, known before the first row.

export type ColumnType = 'text' | 'integer' | 'decimal' | 'number' | 'boolean' | 'date' | 'datetime' | 'json';

/** One column at one step. `id` stays the same through rename, reorder and edits in place; a new column gets a new id. */
export interface Column {
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
}

/** Columns in their order; names are unique. */
export type Schema = readonly Column[];
