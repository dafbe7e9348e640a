// Finds the position of a column name in a Template, for messages about problems that are detected only after the
// whole Template was read.
import { pointerSegment } from './source-node.ts';
import type { Template } from './template.ts';

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
