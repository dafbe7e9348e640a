// The entry point `template-run` of the package: the engine as a library. Loaded from a bundle, like the program of the
// executable.
import { Bundles } from '../workers/bundles.ts';

export type {
  RunResult,
  RunTemplateOptions,
  TemplateProblem,
  TemplateSink,
  TemplateSource,
} from './library/run-template.ts';

const library = new Bundles().load('library') as typeof import('./library/run-template.ts');

export const runTemplate = library.runTemplate;
export const TemplateRefusedError = library.TemplateRefusedError;
export const RunRefusedError = library.RunRefusedError;
