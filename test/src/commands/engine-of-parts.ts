// A local engine that processes files in parts or as a whole, and its Templates.
import { createHash } from 'node:crypto';
import type { Test } from 'tap';
import { LocalEngine } from '../../../src/commands/local-engine.ts';
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import type { TemplateText } from '../../../workers/template/template-text.ts';

/** The text of a Template, which must be valid. */
export function textOf(template: object): TemplateText {
  const source = JSON.stringify({ format: 1, ...template });
  const checked = checkTemplate(source, 'json');
  if (!('template' in checked)) throw new Error(JSON.stringify(checked.problems));
  return { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') };
}

/** @param partBytes null: files are processed as a whole */
export function engineOf(t: Test, threads: number, partBytes: number | null): LocalEngine {
  const engine = new LocalEngine({
    threads,
    cores: threads,
    inputs: 1,
    memoryBudgetBytes: 256 * 1024 * 1024,
    template: textOf({}),
    tables: {},
    secretsDirectory: null,
    overrides: { delimiter: null, headerRow: null },
    ...(partBytes === null ? {} : { partSizes: { fileBytesMin: 0, partBytes } }),
  });
  t.teardown(() => engine.close());
  return engine;
}
