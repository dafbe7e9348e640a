// What the schema cannot say of a Template's sections: names given twice, patterns, encodings, settings that exclude
// each other, formats that this version lacks.
import type { Column } from '../batch/schema.ts';
import type { OutputSection } from '../output/format.ts';
import type { ColumnPatterns } from './column-pattern.ts';
import type { EncodingLabels, TemplateLanguage } from './language.ts';
import { laterSection, sectionsOf, settingsOf } from './output-section.ts';
import { pointerSegment } from './pointer.ts';
import { FIXED_CHARACTERS_MAX } from './section-schemas.ts';
import type { TemplateSections } from './sections.ts';
import { suggestion } from './suggestion.ts';
import type {
  CsvInput,
  EncodingSetting,
  FixedColumn,
  MetaValue,
  ReportProblem,
  TemplateInput,
  TemplateOutput,
} from './template.ts';

export function checkSections(
  sections: TemplateSections,
  source: Readonly<Record<string, unknown>>,
  { patterns, language }: { readonly patterns: ColumnPatterns; readonly language: TemplateLanguage },
  report: ReportProblem,
): void {
  checkInput(sections.input, patterns, language, report);
  checkOutput(sections, source, language, report);
}

/** @param columns of the output, as far as the Template alone tells them */
export function checkOutputColumns(
  { format, settings }: TemplateOutput,
  columns: readonly Column[],
  { outputFormats }: TemplateLanguage,
  report: ReportProblem,
): void {
  const section = outputFormats.get(format)?.section;
  section?.checkColumns?.(settings, columns, reportIn(section, report));
}

function checkInput(
  { columns, format, csv, fixed, preamble, footer }: TemplateInput,
  patterns: ColumnPatterns,
  { encodings }: TemplateLanguage,
  report: ReportProblem,
): void {
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
  checkMeta(preamble, footer, patterns, report);
  checkEncoding(csv.encoding, encodings, report);
  if (fixed !== null) checkFixed(fixed.columns, csv, report);
  checkFormat(format, fixed !== null, csv, report);
  if (csv.delimiter !== null && csv.delimiter === (csv.quote ?? '"')) {
    report('/input/csv/delimiter', 'BAD_VALUE', 'The delimiter and the quote are the same character.');
  }
}

/** What an expression takes for a name behind `run.meta.`. */
const META_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkMeta(
  preamble: readonly MetaValue[],
  footer: readonly MetaValue[],
  patterns: ColumnPatterns,
  report: ReportProblem,
): void {
  const above = new Set(preamble.map(({ name }) => name));
  for (const [section, values] of Object.entries({ preamble, footer })) {
    for (const { name, record, field, pattern } of values) {
      const pointer = `/input/${section}/${pointerSegment(name)}`;
      if (!META_NAME.test(name)) {
        report(
          pointer,
          'BAD_VALUE',
          'The name of a value has letters, digits and _ alone, and no digit at its beginning.',
        );
      } else if (section === 'footer' && above.has(name)) {
        report(
          pointer,
          'BAD_VALUE',
          `The value ${JSON.stringify(name)} is declared twice, first at /input/preamble/${name}.`,
        );
      }
      if (pattern === null && (record === null || field === null)) {
        report(
          pointer,
          'BAD_VALUE',
          'Write where the value stands, {record: 0, field: 1}, or a pattern that finds it.',
        );
      }
      const compiled = pattern === null ? null : patterns.compile(pattern);
      if (compiled !== null && 'problem' in compiled) report(`${pointer}/pattern`, 'BAD_PATTERN', compiled.problem);
    }
  }
}

function checkFormat(
  format: TemplateInput['format'],
  hasFixed: boolean,
  { headerRow, headerRows, delimiter, quote }: CsvInput,
  report: ReportProblem,
): void {
  const problem = (pointer: string, message: string): void => report(pointer, 'BAD_VALUE', message);
  if (format === 'fixed' && !hasFixed)
    problem('/input/format', 'Write the columns too: fixed: {columns: [{name: id, start: 1, length: 8}]}.');
  if (format === 'lines' && hasFixed)
    problem('/input/format', 'A file is read as lines or as fixed columns: leave "fixed" out, or write format: fixed.');
  if (format === 'lines' && !hasFixed) {
    for (const [setting, value] of Object.entries({ delimiter, quote }))
      if (value) problem(`/input/csv/${setting}`, `A file of lines has no ${setting}: leave it out.`);
  }
  if (headerRows === null) return;
  if (hasFixed || headerRow === 'none')
    problem('/input/csv/header_rows', 'There is no header whose lines could be joined: leave it out.');
  else if (headerRow !== null && headerRow < headerRows - 1)
    problem(
      '/input/csv/header_rows',
      '"header_row" is the last line of the header, counted from 0: too few stand above it.',
    );
}

function checkFixed(columns: readonly FixedColumn[], { delimiter, quote }: CsvInput, report: ReportProblem): void {
  const names = new Map<string, number>();
  for (const [index, { name, start, length }] of columns.entries()) {
    const pointer = `/input/fixed/columns/${index}`;
    const first = names.get(name);
    if (first !== undefined) {
      const message = `The column ${JSON.stringify(name)} is declared twice, first at /input/fixed/columns/${first}.`;
      report(`${pointer}/name`, 'DUPLICATE_COLUMN', message);
    } else names.set(name, index);
    if (start + length - 1 > FIXED_CHARACTERS_MAX) {
      report(`${pointer}/length`, 'BAD_VALUE', `The column ends behind character ${FIXED_CHARACTERS_MAX} of the line.`);
    }
  }
  for (const [setting, value] of Object.entries({ delimiter, quote })) {
    if (value === null) continue;
    report(`/input/csv/${setting}`, 'BAD_VALUE', `A file of fixed columns has no ${setting}: leave it out.`);
  }
}

function checkEncoding(
  setting: EncodingSetting,
  { nameOf, suggested, auto }: EncodingLabels,
  report: ReportProblem,
): void {
  if (setting === null || setting === auto) return;
  const isList = typeof setting !== 'string';
  const seen = new Set<string>();
  for (const [index, label] of (isList ? setting : [setting]).entries()) {
    const pointer = isList ? `/input/csv/encoding/${index}` : '/input/csv/encoding';
    const name = nameOf(label);
    if (name === null) report(pointer, 'BAD_VALUE', unknownEncoding(label, suggested, auto));
    else if (seen.has(name)) report(pointer, 'BAD_VALUE', `The encoding ${name} stands in the list twice.`);
    else seen.add(name);
  }
}

function unknownEncoding(label: string, suggested: readonly string[], auto: string): string {
  if (label === auto) return `Write ${auto} alone, not in a list.`;
  return `Unknown encoding. Write a WHATWG name such as "utf-8" or "windows-1252".${suggestion(label, suggested)}`;
}

function checkOutput(
  { input, output: { format } }: TemplateSections,
  source: Readonly<Record<string, unknown>>,
  { outputFormats }: TemplateLanguage,
  report: ReportProblem,
): void {
  const written = (source['output'] ?? {}) as Readonly<Record<string, unknown>>;
  const later = laterSection(written, outputFormats);
  if (!outputFormats.has(format)) {
    report('/output/format', 'NOT_AVAILABLE', `The output format ${format} is not available in this version.`);
  } else if (later !== undefined) {
    const message = `Settings of ${later.toUpperCase()} are not available in this version.`;
    report(`/output/${later}`, 'NOT_AVAILABLE', message);
  }
  const metaNames = new Set([...input.preamble, ...input.footer].map(({ name }) => name));
  // Also those of formats that are not chosen: a mistake is one whether it shows or not.
  for (const section of sectionsOf(outputFormats).values()) {
    section.check(settingsOf(section, written, format), format, reportIn(section, report), metaNames);
  }
}

function reportIn({ name }: OutputSection, report: ReportProblem): ReportProblem {
  return (pointer, code, message) => report(`/output/${name}${pointer}`, code, message);
}
