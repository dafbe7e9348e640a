// Settings of an output with their defaults, and a sink that keeps what it gets, for tests of the writers.
import { Failed, type Failure } from '../../workers/failure.ts';
import type { OutputSink } from '../../workers/output/output-sink.ts';
import type { CsvOutput, JsonOutput, OutputFormat, TemplateOutput } from '../../workers/template/template.ts';

export interface OutputSettings {
  readonly delimiter: string;
  readonly quoting: CsvOutput['quoting'];
  readonly lineEnding: CsvOutput['lineEnding'];
  readonly null: string;
  readonly formulaGuard: TemplateOutput['formulaGuard'];
  readonly decimal: string;
  readonly nullValues: readonly string[];
}

type CsvSettings = Partial<CsvOutput & Pick<TemplateOutput, 'format' | 'formulaGuard'>>;

export function csvOutput({ format = 'csv', formulaGuard = 'auto', ...csv }: CsvSettings): TemplateOutput {
  return outputOf(format, formulaGuard, csv, {});
}

export function jsonOutput(format: 'json' | 'ndjson', json: Partial<JsonOutput> = {}): TemplateOutput {
  return outputOf(format, 'auto', {}, json);
}

function outputOf(
  format: OutputFormat,
  formulaGuard: TemplateOutput['formulaGuard'],
  csv: Partial<CsvOutput>,
  json: Partial<JsonOutput>,
): TemplateOutput {
  const defaults: CsvOutput = {
    delimiter: ',',
    quoting: 'minimal',
    lineEnding: 'lf',
    bom: false,
    encoding: 'utf-8',
    unmappable: 'fail',
    header: true,
    decimal: '.',
    dateFormat: null,
    boolean: ['true', 'false'],
    null: '',
  };
  return {
    format,
    columns: null,
    csv: { ...defaults, ...csv },
    json: { layout: format === 'json' ? 'array' : 'ndjson', decimals: 'number', nulls: 'include', nest: null, ...json },
    formulaGuard,
    name: '{template}-{run}',
  };
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

/** What a piece of work failed with, null when it went well. */
export function failureOf(work: () => unknown): Failure | null {
  try {
    work();
  } catch (error) {
    if (error instanceof Failed) return error.failure;
    throw error;
  }
  return null;
}
