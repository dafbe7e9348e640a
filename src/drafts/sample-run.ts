// Runs of a sample while a draft is made: a Template's text goes in, rows and the report come out.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { RunOutcome } from '../../workers/protocol/messages.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';

/** What came of a Run; the file is read before the next Run. */
export interface SampleOutcome {
  readonly outcome: RunOutcome;
  /** Where the output is when it is not in `outcome.output.bytes`. */
  readonly outputPath: string;
}

/** Applies a Template to the sample. */
export type RunSample = (template: TemplateText) => Promise<SampleOutcome>;

export function templateText(source: string, format: 'json' | 'yaml'): TemplateText {
  return { source, format, sha256: createHash('sha256').update(source).digest('hex') };
}

/** Lines of an output, however large it is. */
export function outputLines({ outcome, outputPath }: SampleOutcome): AsyncIterable<string> {
  const bytes = outcome.output?.bytes ?? null;
  const input = bytes === null ? createReadStream(outputPath) : Readable.from([Buffer.from(bytes)]);
  return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
}
