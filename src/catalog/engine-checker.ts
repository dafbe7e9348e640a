// Connects the catalog's loader to the engine's Template checker, with the reference tables and secrets of the
// account.

import { checkTemplate, reservationBytes } from '../../workers/plan/template-cache.ts';
import type { Template } from '../../workers/template/template.ts';
import type { CheckedTemplate } from '../outputs/output-store.ts';
import type { TemplateTest } from '../template-tests/run-tests.ts';
import type { TemplateColumn, TemplateTestSummary } from './catalog.ts';
import type { TemplateCheck } from './template-checker.ts';

/** Maximum number of columns, and of headers of a column, that are kept to be shown to people. */
const COLUMNS_SHOWN_MAX = 100;
const HEADERS_SHOWN_MAX = 5;

/** Names that a Template may refer to. */
export interface ReferenceNames {
  readonly tables: { has(name: string): boolean; keys(): Iterable<string> };
  readonly secrets: ReadonlySet<string>;
}

/** For `catalog check`, which runs the Templates' tests. */
export function checkForTests(
  source: string,
  format: 'json' | 'yaml',
  references: ReferenceNames,
): TemplateCheck<Template> {
  const result = checkTemplate(source, format, references);
  if ('problems' in result) return result;
  const { name, description, output, tests } = result.template;
  const named = testSummary(tests as readonly TemplateTest[]);
  return { template: { name, description, outputFormat: output.format, checked: result.template, tests: named } };
}

function testSummary(tests: readonly TemplateTest[]): TemplateTestSummary {
  const files = tests.flatMap(({ input, expect }) => [input.file, expect.file]);
  return { count: tests.length, files: [...new Set(files.filter((file) => file !== undefined))] };
}

/**
 * For the service. Keeps only the data that the service uses itself, because its threads compile the Template again
 * from its text.
 */
export function checkForService(
  source: string,
  format: 'json' | 'yaml',
  references: ReferenceNames,
): TemplateCheck<CheckedTemplate> {
  const result = checkForTests(source, format, references);
  if ('problems' in result) return result;
  const { checked, ...shown } = result.template;
  const kept = { output: { name: checked.output.name }, reservationBytes: reservationBytes(checked) };
  return { template: { ...shown, columns: columnsOf(checked), checked: kept } };
}

function columnsOf({ fileColumns }: Template): TemplateColumn[] {
  return fileColumns.slice(0, COLUMNS_SHOWN_MAX).map(({ name, match, ifMissing }) => {
    const texts = match.filter((each) => typeof each === 'string').slice(0, HEADERS_SHOWN_MAX);
    return { headers: texts.length === 0 ? [name] : texts, isRequired: ifMissing === 'fail' };
  });
}
