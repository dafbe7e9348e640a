// The values of a file without a header (input.preamble): nothing tells where its table begins, so they are looked for among
// the records of its first part, which are rows as well.
import { META_RECORDS_MAX } from '../template/section-schemas.ts';
import type { TemplateInput } from '../template/template.ts';
import { sampleText } from './detect/detect-form.ts';
import type { Dialect } from './detect/sample.ts';
import { TextSample } from './detect/text-sample.ts';
import { MetaSearch } from './meta-values.ts';
import type { MetaValues } from './reader.ts';

/**
 * @param sample the first part of the file, UTF-8
 * @param isWhole it is all of it: else its last record may be cut off, and is left out
 */
export function valuesOfFirstRows(
  sample: Uint8Array,
  isWhole: boolean,
  dialect: Dialect,
  { preamble, nullValues }: TemplateInput,
): MetaValues {
  const search = new MetaSearch(preamble, nullValues);
  const records = new TextSample(sampleText(sample), dialect, isWhole);
  for (let record = 0; record < META_RECORDS_MAX && search.wants(record) && records.has(record); record++)
    search.take(record, records.at(record), dialect.delimiter);
  return search.values;
}
