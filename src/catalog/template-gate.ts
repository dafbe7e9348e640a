// Runs the tests of Templates before a catalog becomes live, in turns among the accounts.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import type { CatalogTable, CatalogTemplate } from './catalog.ts';
import type { CatalogFolder } from './catalog-folder.ts';
import { ProblemList, SECRET_FILE_BYTES_MAX, TEST_FILE_BYTES_MAX } from './problems.ts';

// Runs the tests of Templates before a catalog becomes live. A Template whose tests fail is treated as invalid, so
// that the previous catalog stays live. Test files are in the account's folder of Templates. Problems never quote
// files or outputs.

/** Inputs of one Template's tests. */
export interface TestJob {
  readonly source: string;
  readonly format: 'json' | 'yaml';
  /** Files by the names that the tests use. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** Names of the secrets. */
  readonly secrets: ReadonlySet<string>;
  readonly secretsDirectory: string | null;
}

/** Results of the tests in their order, or the reason why they are unknown. */
export type TestVerdict =
  | { readonly tests: readonly { readonly name: string; readonly differences: number }[] }
  /** `isTemporary`: the problem may disappear although the Template is unchanged. */
  | { readonly problem: string; readonly isTemporary: boolean };

/** Runs the tests of a Template outside the event loop, with limits. Throws only on a fault of the program. */
export type TestTemplate = (job: TestJob) => Promise<TestVerdict>;

/** The files of one account that its Templates' tests may read. */
interface GateSettings {
  readonly account: string;
  readonly folder: CatalogFolder;
  readonly tables: ReadonlyMap<string, CatalogTable>;
  readonly secrets: ReadonlySet<string>;
  readonly secretsDirectory: string | null;
  readonly problems: ProblemList;
}

export class TemplateGate {
  readonly #test: TestTemplate;
  /** Random per process, so that the digests that are kept do not allow secrets to be guessed. */
  readonly #digestKey = randomBytes(32);
  /** Number of tests run, by result. */
  readonly counts = { passed: 0, failed: 0 };
  /** Digests of an account's secrets in one load, keyed by its settings. */
  readonly #secretDigests = new WeakMap<GateSettings, string>();
  #known = new Map<string, TestVerdict>();
  #used = new Map<string, TestVerdict>();

  constructor(test: TestTemplate) {
    this.#test = test;
  }

  /**
   * Adds a problem for each failed test whose result is known from an earlier load with the same files. Returns the
   * Templates whose tests must be run.
   */
  async untested<Checked>(
    templates: Iterable<CatalogTemplate<Checked>>,
    settings: GateSettings,
  ): Promise<CatalogTemplate<Checked>[]> {
    const untested: CatalogTemplate<Checked>[] = [];
    for (const template of templates) {
      if (template.tests === undefined || template.tests.count === 0) continue;
      const files = await readFiles(template, settings);
      if (files === null) continue;
      const key = await this.#keyOf(template, files, settings);
      const known = this.#used.get(key) ?? this.#known.get(key);
      if (known === undefined) untested.push(template);
      else this.#take(template, key, known, settings);
    }
    return untested;
  }

  /** Runs the tests of a Template, and adds a problem for each failed one. */
  async run(template: CatalogTemplate<unknown>, settings: GateSettings): Promise<void> {
    const files = await readFiles(template, settings);
    if (files === null) return;
    const key = await this.#keyOf(template, files, settings);
    const { tables, secrets, secretsDirectory } = settings;
    const { source, format } = template;
    const verdict = await this.#test({ source, format, files, tables, secrets, secretsDirectory });
    if ('tests' in verdict) {
      for (const { differences } of verdict.tests) this.counts[differences === 0 ? 'passed' : 'failed'] += 1;
    }
    this.#take(template, key, verdict, settings);
  }

  /** Called at the end of a load: discards results that were not used since the end of the previous load. */
  keepUsed(): void {
    this.#known = this.#used;
    this.#used = new Map();
  }

  #take(template: CatalogTemplate<unknown>, key: string, verdict: TestVerdict, settings: GateSettings): void {
    const { problems } = settings;
    if ('problem' in verdict) {
      problems.isTemporary ||= verdict.isTemporary;
      problems.add(template.file, '/tests', verdict.problem);
    } else addFailures(template, verdict.tests, problems);
    if ('tests' in verdict || !verdict.isTemporary) this.#used.set(key, verdict);
  }

  async #keyOf(
    { format, sha256 }: CatalogTemplate<unknown>,
    files: ReadonlyMap<string, Uint8Array>,
    settings: GateSettings,
  ): Promise<string> {
    const { account, tables, secretsDirectory } = settings;
    let secretsDigest = this.#secretDigests.get(settings);
    if (secretsDigest === undefined) {
      secretsDigest = await this.#digestOfSecrets(settings);
      this.#secretDigests.set(settings, secretsDigest);
    }
    const hash = createHash('sha256').update(
      JSON.stringify([account, format, sha256, secretsDirectory, secretsDigest]),
    );
    for (const [name, table] of tables) hash.update(JSON.stringify([name, table.sha256]));
    for (const [name, bytes] of files) hash.update(JSON.stringify([name, bytes.length])).update(bytes);
    return hash.digest('hex');
  }

  /**
   * Changes if a secret changes, because tests that hash may then have another result. An unreadable secret is
   * reported where it is used.
   */
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

/** The problem of a Template whose tests use files in other folders; null: no problem. */
export function strayFile(names: readonly string[]): string | null {
  return names.some(isOutside)
    ? 'names a file outside the folder of the Template: tests in a catalog can only read files in that folder.'
    : null;
}

function isOutside(name: string): boolean {
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
    // Uses a separate list, because the problem is reported for the Template, not for the file.
    const found = new ProblemList();
    const reader = folder.reportingTo(found);
    const entry = await reader.find(posix.join('templates', account, name));
    const bytes = entry === null ? null : await reader.read(entry, TEST_FILE_BYTES_MAX);
    if (bytes === null) {
      problems.isTemporary ||= found.isTemporary;
      const why = found.problems[0]?.message ?? 'does not exist.';
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

// Runs the tests of all accounts' Templates in turns: the account whose tests have taken the least time is next, so
// that slow tests of one account delay another account by at most the tests of one Template.

/** Templates of one account whose tests must be run. */
export interface Untested<Checked> {
  readonly templates: CatalogTemplate<Checked>[];
  readonly settings: GateSettings;
}

export class TestTurns {
  readonly #gate: TemplateGate;
  /** Time that the tests of each account have taken since the last load that ran all tests, in milliseconds. */
  #spent = new Map<string, number>();

  constructor(gate: TemplateGate) {
    this.#gate = gate;
  }

  get gate(): TemplateGate {
    return this.#gate;
  }

  /**
   * Runs the tests. When the last Template of an account has been tested, removes the account from `untested` and calls
   * `tested` if further accounts remain. Returns false if `isOutdated` became true before all tests were run.
   */
  async run<Checked>(
    untested: Map<string, Untested<Checked>>,
    isOutdated: () => boolean,
    tested: () => Promise<void>,
  ): Promise<boolean> {
    if (untested.size === 0) return true;
    while (untested.size > 0) {
      if (isOutdated()) return false;
      const account = this.#next(untested.keys());
      const { templates, settings } = untested.get(account)!;
      const began = performance.now();
      await this.#gate.run(templates.shift()!, settings);
      this.#spent.set(account, (this.#spent.get(account) ?? 0) + performance.now() - began);
      if (templates.length > 0) continue;
      untested.delete(account);
      if (untested.size > 0) await tested();
    }
    // If the load became outdated during the last tests, these tests may have been postponed.
    if (isOutdated()) return false;
    this.#spent = new Map();
    return true;
  }

  #next(accounts: Iterable<string>): string {
    let next = '';
    let least = Number.POSITIVE_INFINITY;
    for (const account of accounts) {
      const spent = this.#spent.get(account) ?? 0;
      if (spent >= least) continue;
      next = account;
      least = spent;
    }
    return next;
  }
}
