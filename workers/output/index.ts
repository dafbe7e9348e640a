// The table of output formats. A format that is not here is refused when a Template is checked.
import type { OutputFormat } from '../template/template.ts';
import { createCsvWriter } from './csv.ts';
import { createJsonWriter } from './json.ts';
import type { RowWriter, WriterOptions } from './writer.ts';

type CreateWriter = (options: WriterOptions) => RowWriter;

/** Writers by format. */
export const outputFormats: ReadonlyMap<OutputFormat, CreateWriter> = new Map<OutputFormat, CreateWriter>([
  ['csv', createCsvWriter],
  ['tsv', createCsvWriter],
  ['json', createJsonWriter],
  ['ndjson', createJsonWriter],
]);

/** The writer of an output. The Template's check has refused formats without one. Throws Failed (see the writers). */
export function createRowWriter(options: WriterOptions): RowWriter {
  const create = outputFormats.get(options.output.format);
  if (create === undefined) throw new Error('no writer for this output format');
  return create(options);
}
