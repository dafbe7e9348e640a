// The check of Templates in the language of this version. One checker for the process or thread: its schema is compiled as
// far as Templates need it.
import { TemplateChecker } from '../template/check.ts';
import { templateLanguage } from './template-language.ts';

const checker = new TemplateChecker(templateLanguage);

/** See TemplateChecker.check. */
export const checkTemplate: TemplateChecker['check'] = (source, format, options) =>
  checker.check(source, format, options);
