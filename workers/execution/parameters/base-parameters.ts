// The parameters that every operation has beside its own. The schema of the Template adds
// them to each operation; the checker takes them off again, so that an operation sees its own parameters only.
import { Type } from '../../bundled/type-box.ts';

/**
 * Characters of a text that an operation puts into cells or looks for in them: far more than a separator, a prefix or a
 * label takes, and little enough that a row of them stays small.
 */
export const PARAMETER_LENGTH_MAX = 1000;

/** Of all operations. */
export const baseParameters = {
  id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Names the operation in reports and messages.' }),
  ),
  note: Type.Optional(Type.String({ description: 'For the reader; without effect.' })),
  enabled: Type.Boolean({ default: true, description: '`false` leaves the operation out.' }),
  // In YAML a bare `null` is no text: both are taken.
  if_missing: Type.Union([Type.Enum(['fail', 'null', 'skip']), Type.Null()], {
    default: 'fail',
    description:
      'When the file lacks a column that the operation reads: `fail` refuses the file, `null` takes the column as one ' +
      'of nulls, `skip` leaves the column out of this operation.',
  }),
  on_error: Type.Optional(
    Type.Enum(['fail', 'drop_row', 'reject', 'blank', 'keep', 'flag'], {
      description: "What becomes of a row in trouble; without it the Template's `defaults.on_error`.",
    }),
  ),
};

/** Of operations on cells. */
export const cellParameters = {
  where: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'An expression: only rows for which it is true are edited. `value` in it is the cell itself, so that each column is asked for its own.',
    }),
  ),
};

/**
 * Options of `Type.Object` for parameters of which exactly one group is given, such as
 * `exactlyOne(['columns'], ['pattern', 'replace'], ['style'])`.
 */
export function exactlyOne(...groups: readonly (readonly string[])[]): { oneOf: { required: string[] }[] } {
  return { oneOf: groups.map((group) => ({ required: [...group] })) };
}
