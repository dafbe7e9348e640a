// Problems with names that a Template reads and a sample file does not have, with their positions. Without a sample,
// the check must assume that a misspelt name is a column that files will have.

import { Failed } from '../protocol/failure.ts';
import { HINTED_COLUMNS_MAX, headerKey } from '../template/file-columns.ts';
import { pointerSegment } from '../template/source-node.ts';
import type { Problem, Template } from '../template/template.ts';
import type { ParsedTemplate } from '../template/template-text.ts';
import { nearestName } from '../values/suggestion.ts';
import { planInSlices } from './plan.ts';

export interface Sample {
  /** Header texts by position; blank if a column has no header. */
  readonly headers: readonly string[];
  /** See FileHead. */
  readonly hasKinds?: readonly boolean[];
}

/** Returns an empty list if the Template fits the file's columns. */
export function sampleProblems(
  template: Template,
  text: Pick<ParsedTemplate, 'root' | 'problem'>,
  { headers, hasKinds }: Sample,
): readonly Problem[] {
  // Columns of reference tables are known only during a Run.
  if (template.usesTables && headers.length === 0) return [];
  try {
    const work = planInSlices(template, headers, hasKinds === undefined ? {} : { hasKinds });
    while (work.next().done !== true);
    return [];
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const { code, message, columns = [] } = error.failure;
    if (columns.length === 0) return [text.problem('/input', code, message)];
    const known = knownNames(template, headers);
    return columns.map((name, index) => {
      const candidates = [...known].flatMap(([text, meant]) => (meant === name ? [] : [text]));
      const nearest = index < HINTED_COLUMNS_MAX ? nearestName(name, candidates) : null;
      const hint = nearest === null ? '' : ` Did you mean ${JSON.stringify(known.get(nearest))}?`;
      const problem = `${JSON.stringify(name)} is missing in the sample, or matches several of its columns.${hint}`;
      return text.problem(placeOfName(template, text.root.value, name), 'NOT_IN_SAMPLE', problem);
    });
  }
}

/** The names that a column may be called by mistake, each with its name in the Template: a renamed column has only the new one. */
function knownNames({ fileColumns, input }: Template, headers: readonly string[]): ReadonlyMap<string, string> {
  const declared = fileColumns.filter((column) => column.declared);
  const key = (text: string): string => headerKey(text, input.headerMatch);
  const owners = new Map(
    declared.flatMap(({ name, match }) =>
      [name, ...match].flatMap((form) => (typeof form === 'string' ? [[key(form), name] as const] : [])),
    ),
  );
  return new Map([
    ...headers.flatMap((header) => (header === '' ? [] : [[header, owners.get(key(header)) ?? header] as const])),
    ...declared.map(({ name }) => [name, name] as const),
  ]);
}

// Finds the position of a column name in a Template, for messages about problems that are detected only after the
// whole Template was read.

/**
 * JSON pointer of a column's name: its declaration, else the first operation with exactly this text, else one with a
 * text that contains it.
 */
export function placeOfName(template: Pick<Template, 'input'>, root: unknown, name: string): string {
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

/** Finds a text that fits. Keys count as texts, because the keys of `rename` are columns. */
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
