// The output of one plan: its file, and its writers, which share what follows from the plan alone. The first of them makes it.
import type { Schema } from '../batch/schema.ts';
import type { TemplateOutput } from '../template/template.ts';
import type { CreateWriter, OutputFile, OutputFormat, OutputFormatTable } from './format.ts';
import { plainCells } from './plain-cells.ts';
import type { RowWriter, WriterTools } from './writer.ts';

export interface OutputParts {
  readonly output: TemplateOutput;
  readonly schema: Schema;
  readonly nullValues: readonly string[];
}

export class PlannedOutput {
  readonly file: OutputFile;
  readonly #format: OutputFormat;
  readonly #parts: OutputParts;
  #create: CreateWriter | null = null;

  constructor(formats: OutputFormatTable, parts: OutputParts) {
    this.#format = formatOf(formats, parts.output);
    this.file = this.#format.file(parts.output.settings);
    this.#parts = parts;
  }

  /**
   * Null when writers can be created, else it resolves when they can.
   *
   * @throws Failed TEMPLATE_CHECK_FAILED for column names of the file (OutputFormat.prepare), as the promise may
   */
  ready(): Promise<void> | null {
    if (this.#create !== null) return null;
    const { output, schema, nullValues } = this.#parts;
    const { settings, formulaGuard } = output;
    const prepared = this.#format.prepare({ settings, formulaGuard, schema, nullValues });
    if (!('then' in prepared)) {
      this.#create = prepared;
      return null;
    }
    return prepared.then((create) => {
      this.#create = create;
    });
  }

  /** After `ready`, whose promise must have resolved. */
  createWriter(tools: WriterTools): RowWriter {
    if (this.ready() !== null || this.#create === null) throw new Error('the output is not ready');
    return plainCells(this.#create(tools), this.#format);
  }
}

/** The file that a checked Template's output becomes. */
export function outputFile(formats: OutputFormatTable, output: TemplateOutput): OutputFile {
  return formatOf(formats, output).file(output.settings);
}

function formatOf(formats: OutputFormatTable, { format }: TemplateOutput): OutputFormat {
  const found = formats.get(format);
  if (found === undefined) throw new Error('the output format of a checked Template is not in the table');
  return found;
}
