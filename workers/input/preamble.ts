// The values above a table (input.preamble) that are no records above its header: comments at the head of the file, and the first
// rows of a file without a header, where nothing tells where its table begins.
import { META_RECORDS_MAX } from '../template/section-schemas.ts';
import type { TemplateInput } from '../template/template.ts';
import { sampleText } from './detect/detect-form.ts';
import type { Dialect } from './detect/sample.ts';
import { TextSample } from './detect/text-sample.ts';
import { MetaSearch } from './meta-values.ts';
import type { MetaValues } from './reader.ts';
import { leadingComments } from './source/uncommented-source.ts';

/** @param text the first part of the file with its comments, UTF-8 */
export function preambleSearch(text: Uint8Array, { preamble, nullValues, csv }: TemplateInput): MetaSearch {
  const search = new MetaSearch(preamble, nullValues);
  if (csv.comment !== null && preamble.length > 0) search.takeComments(leadingComments(text, csv.comment));
  return search;
}

/**
 * Of a file without a header, whose first records are rows as well.
 * @param sample the first part of the file without comments, UTF-8
 * @param isWhole it is all of it: else its last record may be cut off, and is left out
 */
export function valuesOfFirstRows(
  search: MetaSearch,
  sample: Uint8Array,
  isWhole: boolean,
  dialect: Dialect,
): MetaValues {
  const records = new TextSample(sampleText(sample), dialect, isWhole);
  for (let record = 0; record < META_RECORDS_MAX && search.wants(record) && records.has(record); record++)
    search.take(record, records.at(record), dialect.delimiter);
  return search.values;
}
