// The table of all functions, by theme (for the reference) and by name.
import { CONVERSIONS, FORMAT_FUNCTIONS } from './conversion.ts';
import type { DocumentedFunction } from './definition.ts';
import { EXTRA_DATE_FUNCTIONS, TIME_FUNCTIONS } from './extra-date.ts';
import { EXTRA_NUMBER_FUNCTIONS } from './extra-number.ts';
import { EXTRA_SIMILARITY_FUNCTIONS, EXTRA_TEXT_FUNCTIONS } from './extra-text.ts';
import { EXTRA_TIME_FUNCTIONS } from './extra-time.ts';
import { KEY_FUNCTIONS, MISSING_VALUE_FUNCTIONS } from './extra-value.ts';
import { MATH_FUNCTIONS } from './math.ts';
import { OPTIONAL_FUNCTIONS } from './optional.ts';
import { TEXT_FUNCTIONS } from './text.ts';

/** In the order of the reference. */
export const FUNCTIONS_BY_THEME: ReadonlyMap<string, readonly DocumentedFunction[]> = new Map([
  ['Missing values and errors', MISSING_VALUE_FUNCTIONS],
  ['Text', [...EXTRA_TEXT_FUNCTIONS, ...EXTRA_SIMILARITY_FUNCTIONS, ...TEXT_FUNCTIONS, ...FORMAT_FUNCTIONS]],
  ['Numbers', [...EXTRA_NUMBER_FUNCTIONS, ...MATH_FUNCTIONS]],
  ['Conversions and types', CONVERSIONS],
  ['Dates and times', [...EXTRA_DATE_FUNCTIONS, ...EXTRA_TIME_FUNCTIONS, ...TIME_FUNCTIONS]],
  ['Keys and tables', KEY_FUNCTIONS],
  ['Optional values and Base64', OPTIONAL_FUNCTIONS],
]);

/** All functions by name. A Map, so that names such as `constructor` are not found. */
export const FUNCTIONS: ReadonlyMap<string, DocumentedFunction> = new Map(
  [...FUNCTIONS_BY_THEME.values()].flat().map((definition) => [definition.name, definition]),
);
