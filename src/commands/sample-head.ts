// Reads the head of a sample file, so that Templates can be checked against its columns.
import { inputFormats } from '../../workers/input/index.ts';
import type { Sample } from '../../workers/plan/sample-problems.ts';
import { Failed } from '../../workers/protocol/failure.ts';
import { inspectFile } from '../../workers/run/inspect.ts';
import type { Template } from '../../workers/template/template.ts';
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
