// Reads the head of a file, so that Templates can be checked against its columns.

import { columnsShown } from '../../workers/batch/schema.ts';
import { inputFormats } from '../../workers/input/index.ts';
import { planInSlices } from '../../workers/plan/plan.ts';
import type { Sample } from '../../workers/plan/sample-problems.ts';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import { Failed } from '../../workers/protocol/failure.ts';
import type { TaskOverrides } from '../../workers/protocol/messages.ts';
import { inspectFile } from '../../workers/run/inspect.ts';
import type { Template } from '../../workers/template/template.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { UsageError } from './command.ts';

/** The head as a Run of this Template would read it. Throws UsageError if the file cannot be read. */
export async function sampleHead(path: string, template: Template): Promise<Sample> {
  try {
    const { head } = await inspectFile(path, { formats: inputFormats, template });
    return { headers: head.headers, ...(head.hasKinds === undefined ? {} : { hasKinds: head.hasKinds }) };
  } catch (error) {
    const isSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
    if (!(error instanceof Failed || isSystem)) throw error;
    throw new UsageError(`The sample cannot be read: ${(error as Error).message}`, false);
  }
}

/**
 * Describes how a refused file would be read if its delimiter and header row were detected instead of declared. Null if
 * that changes nothing, or if the file would still lack as many columns.
 * @param missing number of columns that the file lacks as it was read; null if the columns were never read
 */
export async function detectedReading(
  path: string,
  text: TemplateText,
  { overrides, missing }: { readonly overrides: TaskOverrides; readonly missing: number | null },
): Promise<string | null> {
  const checked = checkTemplate(text.source, text.format, { schemaChecked: true });
  // Reference tables are read only by a Run.
  if (!('template' in checked) || checked.template.usesTables) return null;
  const { template } = checked;
  const { csv } = template.input;
  const delimiterRead = overrides.delimiter ?? csv.delimiter;
  const headerRowRead = overrides.headerRow ?? csv.headerRow;
  const input = { ...template.input, csv: { ...csv, delimiter: null, headerRow: null, headerRows: null } };
  try {
    const options = { formats: inputFormats, template: { ...template, input }, headOnly: true };
    const { headers, delimiter, headerRow } = (await inspectFile(path, options)).head;
    if (delimiter === null || headerRow === null) return null;
    const isOther = delimiter !== (delimiterRead ?? delimiter) || headerRow !== (headerRowRead ?? headerRow);
    if (!isOther || columnsLacking(template, headers) >= (missing ?? Number.POSITIVE_INFINITY)) return null;
    const reading = `With delimiter ${JSON.stringify(delimiter)} and header row ${headerRow}`;
    const columns = headers.map((name) => ({ name }));
    return columnsShown(columns, `${reading}, the file has the columns`);
  } catch (error) {
    // Errors are ignored, because the hint is optional. For example, the file may have been removed in the meantime.
    const isSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
    if (error instanceof Failed || isSystem) return null;
    throw error;
  }
}

/** Number of columns that the Template needs and the file lacks. Infinity if planning fails for another reason. */
function columnsLacking(template: Template, headers: readonly string[]): number {
  try {
    const work = planInSlices(template, headers, {});
    while (work.next().done !== true);
    return 0;
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return error.failure.columns?.length ?? Number.POSITIVE_INFINITY;
  }
}
