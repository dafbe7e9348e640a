// What is known of a column before the first operation.
import type { Column } from '../batch/schema.ts';

/** A column before the first operation. */
export interface FirstColumn extends Pick<Column, 'name' | 'hasKinds'> {
  /** Not in the file: a column of nulls, which an operation with `if_missing: skip` passes over. */
  readonly absent: boolean;
}
