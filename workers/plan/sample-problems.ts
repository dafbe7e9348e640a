// What a Template reads that a sample file does not have: problems with their places, where a check without the file can only
// take a misspelt name for a column that files must have.
import { Failed } from '../protocol/failure.ts';
import { pointerSegment } from '../template/pointer.ts';
import { nearestName } from '../template/suggestion.ts';
import type { Problem, Template } from '../template/template.ts';
import type { ParsedTemplate } from '../template/template-text.ts';
import { planInSlices } from './plan.ts';
import { HINTED_COLUMNS_MAX } from './undeclared-columns.ts';

export interface Sample {
  /** Header texts by position; blank for columns without one. */
  readonly headers: readonly string[];
  /** See FileHead. */
  readonly hasKinds?: readonly boolean[];
}

/** Nothing where the Template fits the file's columns. */
export function sampleProblems(
  template: Template,
  text: Pick<ParsedTemplate, 'root' | 'problem'>,
  { headers, hasKinds }: Sample,
): readonly Problem[] {
  // Columns of reference tables are known in a Run alone.
  if (template.usesTables && headers.length === 0) return [];
  try {
    const work = planInSlices(template, headers, hasKinds === undefined ? {} : { hasKinds });
    while (work.next().done !== true);
    return [];
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const { code, message, columns = [] } = error.failure;
    if (columns.length === 0) return [text.problem('/input', code, message)];
    const known = [...new Set([...headers.filter((header) => header !== ''), ...declaredNames(template)])];
    return columns.map((name, index) => {
      const candidates = known.filter((other) => other !== name);
      const nearest = index < HINTED_COLUMNS_MAX ? nearestName(name, candidates) : null;
      const hint = nearest === null ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
      const problem = `${JSON.stringify(name)} is not in the sample, or not clear there.${hint}`;
      return text.problem(placeOfName(template, text.root.value, name), 'NOT_IN_SAMPLE', problem);
    });
  }
}

function declaredNames({ fileColumns }: Template): string[] {
  return fileColumns.filter(({ declared }) => declared).map(({ name }) => name);
}

/** Where a name stands: its declaration, else the first operation that spells it, else one that has it in a longer text. */
function placeOfName(template: Template, root: unknown, name: string): string {
  const declared = template.input.columns.findIndex((column) => column.name === name);
  if (declared >= 0) return `/input/columns/${declared}`;
  const { operations, output } = root as { readonly operations?: unknown; readonly output?: unknown };
  const parts: readonly [string, unknown][] = [
    ['/operations', operations],
    ['/output', output],
  ];
  for (const fits of [(text: string) => text === name, (text: string) => text.includes(name)]) {
    for (const [pointer, part] of parts) {
      const found = textAt(part, pointer, fits);
      if (found !== null) return found;
    }
  }
  return '/operations';
}

/** Keys count as texts: `rename` has columns there. */
function textAt(value: unknown, pointer: string, fits: (text: string) => boolean): string | null {
  if (typeof value === 'string') return fits(value) ? pointer : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, part] of Object.entries(value)) {
    const inner = `${pointer}/${pointerSegment(key)}`;
    if (!Array.isArray(value) && fits(key)) return inner;
    const found = textAt(part, inner, fits);
    if (found !== null) return found;
  }
  return null;
}
