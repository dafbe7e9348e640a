// How expressions name the values above and below a file's table.
import { STRING, type Type } from '../expression/check/type.ts';
import type { TemplateInput } from './template.ts';

/** Before the name that the Template gives the value. */
export const META_PREFIX = 'run.meta.';

const NONE: ReadonlyMap<string, Type> = new Map();

/** The variables of expressions, all texts: the values that `input.preamble` and `input.footer` declare. */
export function metaVariables({ preamble, footer }: TemplateInput): ReadonlyMap<string, Type> {
  if (preamble.length + footer.length === 0) return NONE;
  return new Map([...preamble, ...footer].map(({ name }) => [META_PREFIX + name, STRING]));
}
