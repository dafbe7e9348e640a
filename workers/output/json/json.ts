// The formats json (an array of objects, or by its layout a line each) and ndjson.
import { defineOutputFormat } from '../format.ts';
import { jsonForm } from './json-form.ts';
import { jsonSection } from './json-section.ts';
import { JsonWriter } from './json-writer.ts';

export const json = defineOutputFormat({
  name: 'json',
  section: jsonSection,
  keepsBytes: true,
  needsTypes: true,
  // The brackets of an array are nobody's part, and a comma stands before each of its rows but the first.
  file: ({ layout }) =>
    layout === 'array'
      ? { mimeType: 'application/json', extension: 'json', splittable: false }
      : { mimeType: 'application/x-ndjson', extension: 'ndjson', splittable: true },
  prepare(form) {
    const shared = jsonForm(form);
    return (tools) => new JsonWriter(shared, tools);
  },
});

/** Its section knows one layout for it. */
export const ndjson = defineOutputFormat({ ...json, name: 'ndjson' });
