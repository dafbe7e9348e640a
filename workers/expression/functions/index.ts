// The table of all functions by name.
import { CONVERSIONS } from './conversion.ts';
import type { FunctionDefinition } from './definition.ts';
import { FORMAT_FUNCTIONS } from './format.ts';
import { MATH_FUNCTIONS } from './math.ts';
import { OPTIONAL_FUNCTIONS } from './optional.ts';
import { ROW_FUNCTIONS } from './row.ts';
import { ROW_DATE_FUNCTIONS } from './row-date.ts';
import { ROW_NUMBER_FUNCTIONS } from './row-number.ts';
import { ROW_TEXT_FUNCTIONS } from './row-text.ts';
import { TEXT_FUNCTIONS } from './text.ts';
import { TIME_FUNCTIONS } from './time.ts';

/** Every function of the language. A Map, so that `constructor` and the like name nothing. */
export const FUNCTIONS: ReadonlyMap<string, FunctionDefinition> = new Map(
  [
    CONVERSIONS,
    TEXT_FUNCTIONS,
    FORMAT_FUNCTIONS,
    MATH_FUNCTIONS,
    TIME_FUNCTIONS,
    OPTIONAL_FUNCTIONS,
    ROW_TEXT_FUNCTIONS,
    ROW_NUMBER_FUNCTIONS,
    ROW_DATE_FUNCTIONS,
    ROW_FUNCTIONS,
  ]
    .flat()
    .map((definition) => [definition.name, definition]),
);
