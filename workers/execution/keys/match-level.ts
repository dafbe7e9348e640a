// When two texts count as the same: the levels of the parameter `match` and the steps that make equal texts identical.
import { Type } from '../../bundled/type-box.ts';
import type { Heap } from '../../memory/heap.ts';
import { withoutInvisibles } from '../../values/invisible-characters.ts';
import { normalise } from '../../values/normalise.ts';
import * as edits from '../../values/text-edits.ts';
import type { TextStep } from '../cells/text-chain.ts';
import * as steps from '../cells/text-steps.ts';

export type MatchLevel = 'exact' | 'case_insensitive' | 'normal' | 'loose';

export const matchParameter = Type.Optional(
  Type.Enum(['exact', 'case_insensitive', 'normal', 'loose'], {
    default: 'exact',
    description:
      'Which texts count as equal: `exact`; `case_insensitive`; `normal` (Unicode NFKC, without invisible characters, ' +
      'trimmed, runs of white space as one space, any case); `loose` (also without accents, white space and `_ - . / : # ( )`).',
  }),
);

const LOOSE_CHARACTERS = ' _-./:#()';

/** Steps after which equal texts have equal bytes. */
export function matchSteps(heap: Heap, level: MatchLevel): TextStep[] {
  if (level === 'exact') return [];
  const fold = steps.caseStep(heap, 'fold');
  if (level === 'case_insensitive') return [fold];
  const compose = (text: string): string => withoutInvisibles(normalise(text, 'NFKC'));
  const normal = [steps.stringStep(heap, 'not_ascii', compose), steps.trimStep(), steps.collapseStep(), fold];
  if (level === 'normal') return normal;
  return [
    ...normal,
    steps.stringStep(heap, 'not_ascii', edits.stripAccents),
    steps.characterStep(heap, LOOSE_CHARACTERS, 'remove'),
  ];
}

/** The same of one text of the Template. */
export function matchText(steps: readonly TextStep[], text: string): string {
  return steps.reduce((edited, step) => step.edit(edited), text);
}
