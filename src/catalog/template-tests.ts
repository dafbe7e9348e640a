// Runs the tests of the catalog's Templates in the thread that checks them, on an engine that begins with the first of them.
import { checkTemplate } from '../../workers/plan/check-template.ts';
import { runTests, type TemplateTest } from '../template-tests/run-tests.ts';
import type { TestEngine } from '../template-tests/test-engine.ts';
import type { ToCheckThread } from './check-messages.ts';

type TestMessage = Extract<ToCheckThread, { readonly kind: 'test' }>;

export class TemplateTests {
  #engine: Promise<TestEngine> | null = null;

  /** Of a Template that has been checked, the tests and in how much each differs from what it expects. */
  async run(message: TestMessage): Promise<{ readonly name: string; readonly differences: number }[]> {
    const { source, format, files, folder, tables, secrets, secretsDirectory } = message;
    const references = { tables: new Set(Object.keys(tables)), secrets };
    const checked = checkTemplate(source, format, references);
    if ('problems' in checked) throw new Error('the tests of a Template that is not sound');
    this.#engine ??= import('../template-tests/test-engine.ts').then(({ TestEngine }) => TestEngine.open(folder));
    const engine = (await this.#engine).forAccount(tables, secretsDirectory);
    const read = async (name: string): Promise<Uint8Array | string> => files.get(name) ?? 'is not there';
    const tests = checked.template.tests as readonly TemplateTest[];
    const results = await runTests({ source, format, tests, read }, (run) => engine.run(run));
    return results.map(({ test, differences }) => ({ name: test, differences: differences.length }));
  }
}
