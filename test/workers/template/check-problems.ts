// Checks a Template's text for the tests: its problems, their places, or the valid Template.
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import type { Problem, Template } from '../../../workers/template/template.ts';
import type { TemplateFormat } from '../../../workers/template/template-text.ts';

export function problemsOf(source: string, format: TemplateFormat = 'yaml'): readonly Problem[] {
  const result = checkTemplate(source, format);
  return 'problems' in result ? result.problems : [];
}

/** Problems as `line:column pointer CODE`, without the message. */
export function places(source: string, format: TemplateFormat = 'yaml'): string[] {
  return problemsOf(source, format).map(({ line, column, pointer, code }) => `${line}:${column} ${pointer} ${code}`);
}

export function sound(source: string, format: TemplateFormat = 'yaml'): Template {
  const result = checkTemplate(source, format);
  if ('problems' in result) throw new Error(result.problems.map(({ message }) => message).join('\n'));
  return result.template;
}
