// The formats csv and tsv: rows of fields, one line each.
import { defineOutputFormat } from '../format.ts';
import { csvForm } from './csv-form.ts';
import { csvSection } from './csv-section.ts';
import { CsvWriter } from './csv-writer.ts';

export const csv = defineOutputFormat({
  name: 'csv',
  section: csvSection,
  keepsBytes: true,
  needsTypes: true,
  file: ({ delimiter }) => ({
    mimeType: 'text/csv',
    extension: 'csv',
    ...(delimiter === '\t' && { otherExtensions: ['tsv'] }),
    splittable: true,
  }),
  prepare(form) {
    const shared = csvForm(form);
    return (tools) => new CsvWriter(form, shared, tools);
  },
});

/** Its section puts the tab in the place of the delimiter. */
export const tsv = defineOutputFormat({
  ...csv,
  name: 'tsv',
  file: () => ({ mimeType: 'text/tab-separated-values', extension: 'tsv', splittable: true }),
});
