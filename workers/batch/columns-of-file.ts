// Columns whose cells are identical to a field of the file, so that a writer may copy the file's bytes instead of the
// cells. The field is private to the column object: a copy of the column, by a spread or as a new object, does not have
// it. An operation that changes cells needs such a copy, so it cannot keep the bytes from before the change.
import type { ColumnData, TypedColumn, ViewsColumn } from './batch.ts';

/** The clean texts of a field. */
export class ViewsOfField implements ViewsColumn {
  readonly kind = 'views';
  readonly at: number;
  readonly #field: number;

  constructor(at: number, field: number) {
    this.at = at;
    this.#field = field;
  }

  static fieldOf(column: ColumnData): number | undefined {
    return #field in column ? column.#field : undefined;
  }
}

/** The values of a field whose text, in all live rows, equals what a writer with this decimal mark would write. */
export class ValuesOfField implements TypedColumn {
  readonly kind = 'typed';
  readonly type: TypedColumn['type'];
  readonly at: number;
  readonly meta: number;
  readonly big: TypedColumn['big'];
  readonly #field: number;
  readonly #decimalMark: number;

  constructor({ type, at, meta, big }: TypedColumn, field: number, decimalMark: number) {
    this.type = type;
    this.at = at;
    this.meta = meta;
    this.big = big;
    this.#field = field;
    this.#decimalMark = decimalMark;
  }

  /** The field, or undefined if a writer with this decimal mark would write other bytes than the file contains. */
  static fieldOf(column: TypedColumn, decimalMark: number): number | undefined {
    return #field in column && column.#decimalMark === decimalMark ? column.#field : undefined;
  }
}

/** The field of the file whose texts are those of this column, or undefined. */
export function textField(column: ColumnData): number | undefined {
  return column.kind === 'raw' ? column.field : ViewsOfField.fieldOf(column);
}
