// What a file that does not fit its Template is told beside the names: how it was read, which is often the reason.
import type { FileHead, MetaValues } from '../input/reader.ts';
import type { Failure } from '../protocol/failure.ts';
import type { TemplateInput } from '../template/template.ts';

/** Where a value is missing that has to stand above or below the table; null: none is. */
export function lackOfMeta({ preamble, footer }: TemplateInput, meta: MetaValues = {}): Failure | null {
  if (preamble.length === 0 && footer.length === 0) return null;
  for (const [section, values] of Object.entries({ preamble, footer })) {
    for (const { name, required } of values) {
      if (!required || (meta[name] ?? null) !== null) continue;
      return { code: 'TEMPLATE_CHECK_FAILED', message: `The file has no value for input.${section}.${name}.` };
    }
  }
  return null;
}

/** Where names are missing or ambiguous; the form of the file, and nothing that stands in it. */
export function withReading(failure: Failure, { delimiter, headerRow, headers }: FileHead): Failure {
  if (failure.code !== 'TEMPLATE_COLUMNS_MISSING' || failure.columns?.length === 0) return failure;
  const parts = [
    ...(delimiter === null ? [] : [`delimiter ${JSON.stringify(delimiter)}`]),
    headerRow === null ? 'no header row' : `header row ${headerRow}`,
    headers.length === 1 ? '1 column' : `${headers.length} columns`,
  ];
  return { ...failure, message: `${failure.message} The file was read with ${parts.join(', ')}.` };
}
