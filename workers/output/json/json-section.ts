// What a Template sets of json and ndjson: the section `output.json`.
import { Type } from '../../bundled/type-box.ts';
import { nullable } from '../../template/setting-schemas.ts';
import { defineOutputSection } from '../format.ts';
import { nestConflicts } from './nest.ts';

export interface JsonSettings {
  readonly layout: 'array' | 'ndjson';
  readonly decimals: 'number' | 'string';
  readonly nulls: 'include' | 'omit';
  /** Separator at which names are nested into objects, null = flat. */
  readonly nest: string | null;
}

const written = Type.Object({
  layout: nullable(Type.Enum(['array', 'ndjson']), 'null = as the format says.'),
  decimals: Type.Enum(['number', 'string'], {
    default: 'number',
    description: 'Exact decimals as numbers or as texts.',
  }),
  nulls: Type.Enum(['include', 'omit'], { default: 'include', description: 'Keys whose value is null.' }),
  nest: nullable(
    Type.String({ minLength: 1 }),
    'Separator at which names become nested objects, such as "."; null = flat.',
  ),
});

export const jsonSection = defineOutputSection({
  name: 'json',
  schema: written,
  settings: (json, format): JsonSettings => ({
    layout: json.layout ?? (format === 'ndjson' ? 'ndjson' : 'array'),
    decimals: json.decimals,
    nulls: json.nulls,
    nest: json.nest,
  }),
  check(json, format, report) {
    if (format === 'ndjson' && json.layout === 'array') {
      report('/layout', 'BAD_VALUE', 'The format ndjson has the layout ndjson. Write format: json for an array.');
    }
  },
  checkColumns(json, columns, report) {
    const names = columns.map(({ name }) => name);
    for (const [first, second] of nestConflicts(names, json.nest)) {
      const message = `The columns ${JSON.stringify(names[first])} and ${JSON.stringify(names[second])} claim the same place when names are nested. Rename one of them.`;
      report('/nest', 'NAME_CONFLICT', message);
    }
  },
});
