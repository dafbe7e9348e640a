// Where a Template names a column, for messages about what becomes known only when all of it has been read.
import { pointerSegment } from './pointer.ts';
import type { Template } from './template.ts';

/** JSON pointer of where a column's name stands: its declaration, else the first operation that spells it, else one that has it in a longer text. */
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
