// The two entries of a list of operations that are not operations themselves: `use` and `comment`.
import { Type } from '../bundled/type-box.ts';

/** `use` is replaced by the operations of a fragment. */
const useParameters = Type.Object({
  fragment: Type.String({ minLength: 1, description: 'Name of a list under `fragments`.' }),
  with: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.Unknown(), {
      description: 'Values by name; in the fragment they are written as a dollar sign and the name in braces.',
    }),
  ),
});

/** `comment` is a remark for readers. */
const commentParameters = Type.Object({
  text: Type.Optional(Type.String({ description: 'Anything.' })),
});

export interface StructureOperation {
  readonly name: string;
  readonly summary: string;
  readonly parameters: object;
}

/** In the order of the reference. */
export const structureOperations: readonly StructureOperation[] = [
  { name: 'use', summary: 'The operations of a fragment, in this place.', parameters: useParameters },
  { name: 'comment', summary: 'A remark; does nothing.', parameters: commentParameters },
];
