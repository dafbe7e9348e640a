// What the schema cannot say of a Template's sections: names given twice, patterns, encodings, settings that exclude
// each other, formats that this version lacks.
import { isKnownEncoding } from '../input/encoding.ts';
import { outputEncoding, outputEncodings } from '../output/encoded-sink.ts';
import { outputFormats } from '../output/index.ts';
import { nestConflicts } from '../output/nest.ts';
import type { Column } from '../schema.ts';
import { compileDatePattern } from '../values/date-pattern.ts';
import type { ColumnPatterns } from './column-pattern.ts';
import type { Report } from './operation-forms.ts';
import type { TemplateSections } from './sections.ts';
import { suggestion } from './suggestion.ts';
import type { TemplateInput, TemplateOutput } from './template.ts';

export function checkSections(
  sections: TemplateSections,
  source: Readonly<Record<string, unknown>>,
  patterns: ColumnPatterns,
  report: Report,
): void {
  checkInput(sections.input, patterns, report);
  checkOutput(sections.output, source, report);
}

/** @param columns of the output, as far as the Template alone tells them */
export function checkNesting({ format, json }: TemplateOutput, columns: readonly Column[], report: Report): void {
  if (format !== 'json' && format !== 'ndjson') return;
  const names = columns.map(({ name }) => name);
  for (const [first, second] of nestConflicts(names, json.nest)) {
    const message = `The columns ${JSON.stringify(names[first])} and ${JSON.stringify(names[second])} claim the same place when names are nested. Rename one of them.`;
    report('/output/json/nest', 'NAME_CONFLICT', message);
  }
}

function checkInput({ columns, csv }: TemplateInput, patterns: ColumnPatterns, report: Report): void {
  const names = new Map<string, number>();
  for (const [index, { name, match }] of columns.entries()) {
    const pointer = `/input/columns/${index}`;
    const first = names.get(name);
    if (first !== undefined) {
      const message = `The column ${JSON.stringify(name)} is declared twice, first at /input/columns/${first}.`;
      report(`${pointer}/name`, 'DUPLICATE_COLUMN', message);
    } else names.set(name, index);
    for (const [at, form] of match.entries()) {
      if (typeof form === 'string' || !('pattern' in form)) continue;
      const pattern = patterns.compile(form.pattern);
      if ('problem' in pattern) report(`${pointer}/match/${at}/pattern`, 'BAD_PATTERN', pattern.problem);
    }
  }
  if (csv.encoding !== null && !isKnownEncoding(csv.encoding)) {
    report(
      '/input/csv/encoding',
      'BAD_VALUE',
      'Unknown encoding. Write a WHATWG name such as "utf-8" or "windows-1252".',
    );
  }
  if (csv.delimiter !== null && csv.delimiter === (csv.quote ?? '"')) {
    report('/input/csv/delimiter', 'BAD_VALUE', 'The delimiter and the quote are the same character.');
  }
}

function checkOutput(output: TemplateOutput, source: Readonly<Record<string, unknown>>, report: Report): void {
  const written = (source['output'] ?? {}) as Readonly<Record<string, unknown>>;
  if (!outputFormats.has(output.format)) {
    report('/output/format', 'NOT_AVAILABLE', `The output format ${output.format} is not available in this version.`);
  } else if ('xlsx' in written) {
    report('/output/xlsx', 'NOT_AVAILABLE', 'Settings of XLSX are not available in this version.');
  }
  checkCsvOutput(output, report);
  if (output.format === 'ndjson' && output.json.layout === 'array') {
    report(
      '/output/json/layout',
      'BAD_VALUE',
      'The format ndjson has the layout ndjson. Write format: json for an array.',
    );
  }
}

function checkCsvOutput({ csv, format }: TemplateOutput, report: Report): void {
  if (csv.delimiter === '"') report('/output/csv/delimiter', 'BAD_VALUE', 'The quote cannot be the delimiter.');
  if (format === 'tsv' && csv.delimiter !== '\t') {
    report('/output/csv/delimiter', 'BAD_VALUE', 'The format tsv has tabs. Write format: csv for another delimiter.');
  }
  const encoding = outputEncoding(csv.encoding);
  if (encoding === null) {
    const hint = suggestion(csv.encoding, outputEncodings) || ` Known: ${outputEncodings.join(', ')}.`;
    report('/output/csv/encoding', 'BAD_VALUE', `${JSON.stringify(csv.encoding)} is no encoding of the output.${hint}`);
  } else if (csv.bom && !encoding.startsWith('utf-')) {
    report('/output/csv/bom', 'BAD_VALUE', `The encoding ${csv.encoding} has no byte order mark. Write bom: false.`);
  }
  if (csv.dateFormat === null) return;
  const pattern = compileDatePattern(csv.dateFormat);
  if ('problem' in pattern) report('/output/csv/date_format', 'BAD_VALUE', String(pattern.problem));
}
