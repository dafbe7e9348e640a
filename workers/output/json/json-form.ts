// What all JSON outputs of one Template and one schema have in common, whatever the file.
import { Failed } from '../../protocol/failure.ts';
import type { OutputForm } from '../format.ts';
import type { JsonRules } from './json-program.ts';
import type { JsonSettings } from './json-section.ts';
import { nestConflicts, nestMembers } from './nest.ts';

export interface JsonForm {
  readonly rules: JsonRules;
  /** Rows of an array, else lines. */
  readonly isArray: boolean;
}

/** Throws Failed (TEMPLATE_CHECK_FAILED) when names that the file brought cannot be nested side by side. */
export function jsonForm({ settings, schema, nullValues }: OutputForm<JsonSettings>): JsonForm {
  const names = schema.map(({ name }) => name);
  const conflict = nestConflicts(names, settings.nest)[0];
  if (conflict !== undefined) {
    const [first, second] = conflict.map((column) => column + 1);
    throw new Failed(
      'TEMPLATE_CHECK_FAILED',
      `Columns ${first} and ${second} of the output claim the same place when their names are nested (output.json.nest). Rename one of them.`,
    );
  }
  const isArray = settings.layout === 'array';
  const rules = {
    members: nestMembers(names, settings.nest),
    schema,
    decimalsAsText: settings.decimals === 'string',
    omitNulls: settings.nulls === 'omit',
    before: isArray ? ',\n' : '',
    behind: isArray ? '' : '\n',
    nullValues: nullValues.filter((text) => text !== '').map((text) => Buffer.from(text)),
    emptyIsNull: nullValues.includes(''),
  };
  return { rules, isArray };
}
