// Shapes of single settings, for the sections of a Template and those of the output formats.
import { Type } from '../bundled/type-box.ts';

/** A setting that may be left out or be null. */
export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { default: null, description });

/** One character: no line break, no half of a surrogate pair. */
export const character = (description: string) =>
  Type.String({ pattern: '^[^\\r\\n]$', title: 'one character', description });

/** Names and descriptions travel in answers and headers. */
export const line = (description: string) =>
  Type.String({ pattern: '^[^\\u0000-\\u001F\\u007F]*$', title: 'one line of text', description });
