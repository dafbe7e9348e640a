// Binds the catalog's loader to the engine's Template checker, and adds what only the catalog knows: which reference
// tables there are.
import { checkTemplate } from '../../workers/template/check.ts';
import { suggestion } from '../../workers/template/suggestion.ts';
import type { Template } from '../../workers/template/template.ts';
import { readTemplateText } from '../../workers/template/template-text.ts';
import type { CheckTemplate, TemplateProblem } from './template-checker.ts';

/** What the loader is given in the service and in `catalog check`. */
export const checkForCatalog: CheckTemplate<Template> = (source, format, { tables }) => {
  const result = checkTemplate(source, format);
  if ('problems' in result) return result;
  const { template } = result;
  const problems: TemplateProblem[] = [];
  for (const [name, { ref }] of Object.entries(template.tables)) {
    if (!tables.has(ref)) problems.push(missingTable(source, format, name, ref, tables.keys()));
  }
  if (problems.length > 0) return { problems };
  const { name, description, output } = template;
  return { template: { name, description, outputFormat: output.format, checked: template } };
};

function missingTable(
  source: string,
  format: 'json' | 'yaml',
  name: string,
  ref: string,
  known: Iterable<string>,
): TemplateProblem {
  const pointer = `/tables/${name.replaceAll('~', '~0').replaceAll('/', '~1')}/ref`;
  const message = `The account has no table ${JSON.stringify(ref)}.${suggestion(ref, known)}`;
  const read = readTemplateText(source, format);
  return 'text' in read
    ? read.text.problem(pointer, 'UNKNOWN_TABLE', message)
    : { pointer, message, line: null, column: null };
}
