// The table of output formats. A format that is not here is refused when a Template is checked.
import type { OutputFormat } from '../template/template.ts';
import { createCsvWriter } from './csv.ts';
import { typedFormat } from './csv-format.ts';
import { encodedSink } from './encoded-sink.ts';
import { createJsonWriter } from './json.ts';
import type { RowWriter, WriterOptions } from './writer.ts';

type CreateWriter = (options: WriterOptions) => RowWriter;

const csv: CreateWriter = (options) =>
  createCsvWriter({ ...options, sink: encodedSink(options.sink, options.output.csv) }, typedFormat(options.output.csv));

/** Writers by format. */
export const outputFormats: ReadonlyMap<OutputFormat, CreateWriter> = new Map<OutputFormat, CreateWriter>([
  ['csv', csv],
  ['tsv', csv],
  ['json', createJsonWriter],
  ['ndjson', createJsonWriter],
]);

/** The writer of an output. The Template's check has refused formats without one. Throws Failed (see the writers). */
export function createRowWriter(options: WriterOptions): RowWriter {
  const create = outputFormats.get(options.output.format);
  if (create === undefined) throw new Error('no writer for this output format');
  return create(options);
}
