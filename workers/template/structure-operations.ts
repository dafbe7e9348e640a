// The two entries of a list of operations that are no operations themselves, and the names of operations to come.
import { Type } from '../bundled/type-box.ts';

/** `use`: the operations of a fragment stand in its place. */
export const useParameters = Type.Object({
  fragment: Type.String({ minLength: 1, description: 'Name of a list under `fragments`.' }),
  with: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.Unknown(), {
      description: 'Values by name; in the fragment they are written as a dollar sign and the name in braces.',
    }),
  ),
});

/** `comment`: for the reader. */
export const commentParameters = Type.Object({
  text: Type.Optional(Type.String({ description: 'Anything.' })),
});

/** Operations of the language. Those that the table of this version lacks are refused by name. */
export const languageOperations: readonly string[] = [
  ...['select', 'drop', 'rename', 'reorder', 'copy', 'set', 'merge_columns', 'split_column', 'extract', 'flatten_json'],
  ...['parse_json', 'to_json', 'text', 'replace', 'map_values', 'fill_empty', 'fill_down', 'fill_up', 'blank_if'],
  ...['blank_down', 'parse_number', 'format_number', 'round', 'parse_date', 'format_date', 'cast', 'filter'],
  ...['drop_blank_rows', 'drop_repeated_headers', 'slice', 'stop_when', 'dedupe', 'sort', 'top', 'sample', 'explode'],
  ...['unpivot', 'pivot', 'transpose', 'aggregate', 'window', 'append_rows', 'join', 'lookup_range', 'validate'],
  ...['check_totals', 'expect_columns', 'mask', 'hash', 'redact', 'generalize'],
];
