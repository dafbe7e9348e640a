// Settings of an output with their defaults, and a sink that keeps its bytes, for tests of the writers.
import type { CsvSettings } from '../../../workers/output/csv/csv-section.ts';
import { outputFormats } from '../../../workers/output/index.ts';
import type { JsonSettings } from '../../../workers/output/json/json-writer.ts';
import { type OutputParts, PlannedOutput } from '../../../workers/output/planned-output.ts';
import type { OutputSink } from '../../../workers/output/sink/output-sink.ts';
import type { RowWriter, WriterTools } from '../../../workers/output/writer.ts';
import { Failed, type Failure } from '../../../workers/protocol/failure.ts';
import type { TemplateOutput } from '../../../workers/template/template.ts';

export interface OutputSettings {
  readonly delimiter: string;
  readonly quoting: CsvSettings['quoting'];
  readonly lineEnding: CsvSettings['lineEnding'];
  readonly null: string;
  readonly formulaGuard: TemplateOutput['formulaGuard'];
  readonly decimal: string;
  readonly nullValues: readonly string[];
}

type CsvChoices = Partial<CsvSettings & Pick<TemplateOutput, 'formulaGuard'>> & { readonly format?: 'csv' | 'tsv' };

export function csvOutput({ format = 'csv', formulaGuard = 'auto', ...chosen }: CsvChoices): TemplateOutput {
  const settings: CsvSettings = {
    delimiter: format === 'tsv' ? '\t' : ',',
    quoting: 'minimal',
    lineEnding: 'lf',
    bom: false,
    encoding: 'utf-8',
    unmappable: 'fail',
    header: true,
    preamble: [],
    decimal: '.',
    dateFormat: null,
    boolean: ['true', 'false'],
    null: '',
    ...chosen,
  };
  return outputOf(format, formulaGuard, settings);
}

export function jsonOutput(format: 'json' | 'ndjson', chosen: Partial<JsonSettings> = {}): TemplateOutput {
  const layout = format === 'json' ? 'array' : 'ndjson';
  const settings: JsonSettings = { layout, decimals: 'number', nulls: 'include', nest: null, ...chosen };
  return outputOf(format, 'auto', settings);
}

function outputOf(
  format: string,
  formulaGuard: TemplateOutput['formulaGuard'],
  settings: CsvSettings | JsonSettings,
): TemplateOutput {
  return { format, columns: null, settings, formulaGuard, name: '{template}-{run}', splitBy: [], fileName: null };
}

/** A writer as in a Run, of a format that loads nothing first. */
export function createRowWriter({ output, schema, nullValues, ...tools }: OutputParts & WriterTools): RowWriter {
  return new PlannedOutput(outputFormats, { output, schema, nullValues }).createWriter(tools);
}

export interface KeepingSink extends OutputSink {
  bytes(): Buffer;
  text(): string;
}

export function keepingSink(): KeepingSink {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  return {
    write(bytes) {
      pieces.push(Buffer.from(bytes));
      sizeBytes += bytes.length;
    },
    get sizeBytes() {
      return sizeBytes;
    },
    bytes: () => Buffer.concat(pieces),
    text: () => Buffer.concat(pieces).toString(),
  };
}

/** The failure of `work`; null if it succeeds. */
export function failureOf(work: () => unknown): Failure | null {
  try {
    work();
  } catch (error) {
    if (error instanceof Failed) return error.failure;
    throw error;
  }
  return null;
}
