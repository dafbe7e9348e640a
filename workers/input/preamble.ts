// Values above a table (input.preamble) that are not in records above a header: comments at the beginning of the file,
// and the first rows of a file without a header, where nothing shows where the table begins.
import { META_RECORDS_MAX } from '../template/section-schemas.ts';
import type { TemplateInput } from '../template/template.ts';
import { sampleText } from './detect/detect-form.ts';
import type { Dialect } from './detect/sample.ts';
import { TextSample } from './detect/text-sample.ts';
import { MetaSearch } from './meta-values.ts';
import type { MetaValues } from './reader.ts';
import { leadingComments } from './source/uncommented-source.ts';

/** @param text first part of the file as UTF-8, including comments */
export function preambleSearch(text: Uint8Array, { preamble, nullValues, csv }: TemplateInput): MetaSearch {
  const search = new MetaSearch(preamble, nullValues);
  if (csv.comment !== null && preamble.length > 0) search.takeComments(leadingComments(text, csv.comment));
  return search;
}

/**
 * For a file without a header, whose first records are also rows.
 * @param sample first part of the file as UTF-8, without comments
 * @param isWhole whether the sample is the whole file. Otherwise its last record may be cut off and is left out.
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
