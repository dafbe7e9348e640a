// What a scope begins with: the columns of the file, or those that a Template names of it.
import type { ColumnPatterns } from '../template/column-pattern.ts';
import type { Scope } from '../template/scope.ts';
import type { FirstColumn } from './first-column.ts';

export interface ScopeStart {
  readonly columns: readonly FirstColumn[];
  /** Name of the flag column, which is the last one from the start, or null when no operation flags. */
  readonly flagColumn: string | null;
  /** True while a Template is checked: the file may bring more columns. */
  readonly open: boolean;
  /** Those of the Template; fresh ones where there is none. */
  readonly patterns?: ColumnPatterns;
  /** See Scope; none where there is none. */
  readonly tables?: Scope['tables'];
  /** See Scope; nothing is done with notes where there is none. */
  note?(pointer: string, message: string): void;
  readonly variables?: Scope['variables'];
  /** See Scope.columnsOfRows; null or absent: nobody knows them. */
  readonly rowNames?: readonly string[] | null;
  /** `pointer` is inside the operation at hand; `name` is the column's that two would have. */
  problem(pointer: string, code: string, message: string, name?: string): void;
}
