// The package's entry `template-run`: the engine as a library, loaded as the executable loads its program.
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
