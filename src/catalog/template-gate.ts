// The gate before the catalog: a Template whose own tests fail is refused as one that is not sound, so that the catalog before
// stays. What a test reads lies in the account's folder of Templates. It never tells what stands in a file or comes out of it.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import type { CatalogTable, CatalogTemplate } from './catalog.ts';
import type { CatalogFolder } from './catalog-folder.ts';
import { SECRET_FILE_BYTES_MAX, TEST_FILE_BYTES_MAX } from './catalog-limits.ts';
import { ProblemList } from './problems.ts';

/** What one Template's tests need beside its text. */
export interface TestJob {
  readonly source: string;
  readonly format: 'json' | 'yaml';
  /** By the names that the tests have for them. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** Their names. */
  readonly secrets: ReadonlySet<string>;
  readonly secretsDirectory: string | null;
}

/** How the tests went, in their order; or why nobody knows. */
export type TestVerdict =
  | { readonly tests: readonly { readonly name: string; readonly differences: number }[] }
  /** `isPassing`: it says nothing of the Template. */
  | { readonly problem: string; readonly isPassing: boolean };

/** Runs the tests of a Template, off the event loop and within bounds. It throws only when it has a fault of its own. */
export type TestTemplate = (job: TestJob) => Promise<TestVerdict>;

/** Of one account, what its Templates' tests may read. */
export interface GateSettings {
  readonly account: string;
  readonly folder: CatalogFolder;
  readonly tables: ReadonlyMap<string, CatalogTable>;
  readonly secrets: ReadonlySet<string>;
  readonly secretsDirectory: string | null;
  readonly problems: ProblemList;
}

export class TemplateGate {
  readonly #test: TestTemplate;
  /** Of this process alone: what is kept of a secret must not let it be guessed. */
  readonly #digestKey = randomBytes(32);
  /** Tests that were run, by how they ended. */
  readonly counts = { passed: 0, failed: 0 };
  #known = new Map<string, TestVerdict>();
  #used = new Map<string, TestVerdict>();

  constructor(test: TestTemplate) {
    this.#test = test;
  }

  /** Runs the tests that were not run before over the same files, and adds a problem for each that fails. */
  async check(templates: Iterable<CatalogTemplate<unknown>>, settings: GateSettings): Promise<void> {
    let secretsDigest: string | null = null;
    for (const template of templates) {
      if (template.tests === undefined || template.tests.count === 0) continue;
      const files = await readFiles(template, settings);
      if (files === null) continue;
      secretsDigest ??= await this.#digestOfSecrets(settings);
      const verdict = await this.#verdict(template, files, settings, secretsDigest);
      if ('problem' in verdict) {
        settings.problems.isPassing ||= verdict.isPassing;
        settings.problems.add(template.file, '/tests', verdict.problem);
      } else addFailures(template, verdict.tests, settings.problems);
    }
  }

  /** At the end of a loading: what nobody asked for since the last one is forgotten. */
  keepUsed(): void {
    this.#known = this.#used;
    this.#used = new Map();
  }

  async #verdict(
    { source, format, sha256 }: CatalogTemplate<unknown>,
    files: ReadonlyMap<string, Uint8Array>,
    { account, tables, secrets, secretsDirectory }: GateSettings,
    secretsDigest: string,
  ): Promise<TestVerdict> {
    const hash = createHash('sha256').update(
      JSON.stringify([account, format, sha256, secretsDirectory, secretsDigest]),
    );
    for (const [name, table] of tables) hash.update(JSON.stringify([name, table.sha256]));
    for (const [name, bytes] of files) hash.update(JSON.stringify([name, bytes.length])).update(bytes);
    const key = hash.digest('hex');
    const known = this.#used.get(key) ?? this.#known.get(key);
    const verdict = known ?? (await this.#test({ source, format, files, tables, secrets, secretsDirectory }));
    if (known === undefined && 'tests' in verdict) {
      for (const { differences } of verdict.tests) this.counts[differences === 0 ? 'passed' : 'failed'] += 1;
    }
    if ('tests' in verdict || !verdict.isPassing) this.#used.set(key, verdict);
    return verdict;
  }

  /** Differs where a test that hashes may come out otherwise. A secret that cannot be read is told of where it is used. */
  async #digestOfSecrets({ account, folder, secrets }: GateSettings): Promise<string> {
    const hmac = createHmac('sha256', this.#digestKey);
    const reader = folder.reportingTo(new ProblemList());
    for (const name of secrets) {
      const entry = await reader.find(`secrets/${account}/${name}`);
      const bytes = entry === null ? null : await reader.read(entry, SECRET_FILE_BYTES_MAX);
      hmac.update(JSON.stringify([name, bytes?.length ?? null])).update(bytes ?? '');
    }
    return hmac.digest('hex');
  }
}

/** What is wrong with a Template whose tests name files of other folders; null: nothing. */
export function strayFile(names: readonly string[]): string | null {
  return names.some(leadsOut)
    ? 'names a file outside of its own folder: tests of the catalog read what lies beside.'
    : null;
}

function leadsOut(name: string): boolean {
  let depth = 0;
  for (const part of name.split('/')) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return true;
  }
  return name.startsWith('/');
}

/** Null after a problem. */
async function readFiles(
  { file, tests }: CatalogTemplate<unknown>,
  { account, folder, problems }: GateSettings,
): Promise<ReadonlyMap<string, Uint8Array> | null> {
  const files = new Map<string, Uint8Array>();
  const stray = strayFile(tests!.files);
  if (stray !== null) {
    problems.add(file, '/tests', stray);
    return null;
  }
  for (const name of tests!.files) {
    // Its own list: a problem is told of the Template.
    const found = new ProblemList();
    const reader = folder.reportingTo(found);
    const entry = await reader.find(posix.join('templates', account, name));
    const bytes = entry === null ? null : await reader.read(entry, TEST_FILE_BYTES_MAX);
    if (bytes === null) {
      problems.isPassing ||= found.isPassing;
      const why = found.problems[0]?.message ?? 'is not there.';
      problems.add(file, '/tests', `names a file that cannot be read: ${JSON.stringify(name)} ${why}`);
      return null;
    }
    files.set(name, bytes);
  }
  return files;
}

function addFailures(
  { file }: CatalogTemplate<unknown>,
  tests: readonly { readonly name: string; readonly differences: number }[],
  problems: ProblemList,
): void {
  for (const [index, { name, differences }] of tests.entries()) {
    if (differences === 0) continue;
    const message = `the test ${JSON.stringify(name)} fails. Run "template-run template test" on the file, which shows the differences.`;
    problems.add(file, `/tests/${index}`, message);
  }
}
