// The columns of a batch as the Template sees them: names and static types, known before the first row.

export type ColumnType = 'text' | 'integer' | 'decimal' | 'number' | 'boolean' | 'date' | 'datetime' | 'json';

/**
 * One column at one step. `id` stays the same through rename, reorder and edits in place. A new column gets a new id.
 */
export interface Column {
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
  /**
   * True if cells may have native kinds (ViewsColumn.kinds): columns of typed files, until an operation changes their
   * type.
   */
  readonly hasKinds?: true;
  /**
   * Zone whose clock an output shows if its cells are times without a zone, such as those of a workbook. The cells
   * themselves are instants. Absent = UTC. Only for datetime.
   */
  readonly clock?: string;
}

/** Columns in order, with unique names. */
export type Schema = readonly Column[];

/** Type of cells that are stored outside a batch: their column type, or texts with a native kind each. */
export type StoredType = ColumnType | 'text_with_kind';

export function storedTypes(schema: Schema): StoredType[] {
  return schema.map(storedType);
}

export function storedType({ type, hasKinds }: Pick<Column, 'type' | 'hasKinds'>): StoredType {
  return hasKinds === true && type === 'text' ? 'text_with_kind' : type;
}

/** The column type of the cells, without the native kinds. */
export function columnTypeOf(type: StoredType): ColumnType {
  return type === 'text_with_kind' ? 'text' : type;
}

/** Returns a function that finds the index of a column in the schema. The map is built on the first call only. */
export function finderIn(schema: Schema): (column: Column) => number {
  let indexes: ReadonlyMap<number, number> | null = null;
  return ({ id }) => {
    indexes ??= new Map(schema.map((column, index) => [column.id, index]));
    return indexes.get(id) ?? -1;
  };
}

// Column names in messages. Headers of a file are shown only to the owner of the file (Failure.localMessage). Other
// messages contain names from the Template, or positions.

/**
 * Maximum number of columns that a message lists, and the maximum length of a name that is shown in full, in UTF-16
 * units.
 */
const COLUMNS_MAX = 20;
const NAME_LENGTH_MAX = 60;

/** A sentence such as `The columns there: "id", "name" and 3 more.` */
export function columnsShown(columns: readonly { readonly name: string }[], what: string): string {
  const shown = columns.slice(0, COLUMNS_MAX).map(({ name }) => nameShown(name));
  const more = columns.length - shown.length;
  return `${what}: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** The name in quotes, without characters that control a terminal. */
export function nameShown(name: string): string {
  const cut = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}...` : name;
  return JSON.stringify(cut).replace(/[\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '');
}
