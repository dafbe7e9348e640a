// The columns of a batch as the Template sees them: names and static types, known before the first row.

export type ColumnType = 'text' | 'integer' | 'decimal' | 'number' | 'boolean' | 'date' | 'datetime' | 'json';

/** One column at one step. `id` stays the same through rename, reorder and edits in place; a new column gets a new id. */
export interface Column {
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
  /** Its cells may have native kinds (ViewsColumn.kinds): those of a file that knows types, until they get another type. */
  readonly hasKinds?: true;
}

/** Columns in their order; names are unique. */
export type Schema = readonly Column[];

/** How cells are held outside a batch: by their type, or as texts with a kind each. */
export type StoredType = ColumnType | 'text_with_kind';

export function storedTypes(schema: Schema): StoredType[] {
  return schema.map(storedType);
}

export function storedType({ type, hasKinds }: Pick<Column, 'type' | 'hasKinds'>): StoredType {
  return hasKinds === true && type === 'text' ? 'text_with_kind' : type;
}

/** Of the cells, whatever is stored beside them. */
export function columnTypeOf(type: StoredType): ColumnType {
  return type === 'text_with_kind' ? 'text' : type;
}

/** Where a column stands in a schema: found once for all, and only if somebody asks. */
export function finderIn(schema: Schema): (column: Column) => number {
  let indexes: ReadonlyMap<number, number> | null = null;
  return ({ id }) => {
    indexes ??= new Map(schema.map((column, index) => [column.id, index]));
    return indexes.get(id) ?? -1;
  };
}
