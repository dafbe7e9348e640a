// Reads a whole catalog folder into a snapshot or into the list of all problems, and checks it for the commands.
import { suggestion } from '../../workers/values/suggestion.ts';
import { type Account, Catalog, type CatalogTemplate } from './catalog.ts';
import { CatalogFolder } from './catalog-folder.ts';
import { type CatalogProblem, ProblemList } from './problems.ts';
import { type Access, readAccess } from './read-access.ts';
import { readSecrets, readTables, readTemplates, TemplateVerdicts } from './read-templates.ts';
import type { CheckTemplate, TemplateProblem } from './template-checker.ts';
import type { TestTurns, Untested } from './template-gate.ts';

// Reads a whole catalog folder into a snapshot, or into the list of all problems. Yields to the event loop between
// files, so that a running node can reload during its work.

export type LoadedCatalog<Checked> =
  | { readonly ok: true; readonly catalog: Catalog<Checked> }
  | {
      readonly ok: false;
      readonly problems: readonly CatalogProblem[];
      /** Number of problems that were found but not listed. */
      readonly more: number;
      /** The system temporarily refused to read something, so a retry may succeed without any change in the folder. */
      readonly isTemporary: boolean;
      /** True if the load ended before all tests were run, because the folder is to be read again. */
      readonly isOutdated: boolean;
    };

/** Results of earlier loads, reused for files that have not changed. */
export interface Known<Checked> {
  /** The live snapshot. */
  readonly catalog?: Catalog<Checked>;
  readonly access?: Access;
  readonly verdicts?: TemplateVerdicts<Checked>;
  /** Without it, no tests are run. */
  readonly turns?: TestTurns;
  /**
   * Called while tests are running, with a catalog in which accounts whose tests are still to be run have their
   * Templates of the live snapshot.
   */
  readonly onPart?: (catalog: Catalog<Checked>, waiting: number) => void;
  /** Returns true if the folder is to be read again, so that tests need not be continued now. */
  readonly isOutdated?: () => boolean;
  /** Called with the access rights as soon as they are read, before any Template. */
  readonly onAccess?: (access: Access) => void;
}

const FOLDERS = ['accounts', 'templates', 'tables', 'secrets'];

export async function loadCatalog<Checked>(
  directory: string,
  checkTemplate: CheckTemplate<Checked>,
  known: Known<Checked> = {},
): Promise<LoadedCatalog<Checked>> {
  const problems = new ProblemList();
  const folder = await CatalogFolder.open(directory, problems);
  if (folder === null) return refused(problems);
  const identity = await folder.identity(FOLDERS);
  const access = await readAccess(folder, known.access);
  known.onAccess?.(access);
  await checkTopLevel(folder, problems);
  problems.addAll(access.problems);
  await checkOwners(folder, access, known.catalog, problems);
  const accounts = new Map<string, Account<Checked>>();
  const untested = new Map<string, Untested<Checked>>();
  const verdicts = known.verdicts ?? new TemplateVerdicts<Checked>();
  for (const [id, { record }] of access.accounts) {
    if (record === null) continue;
    const folders = { account: id, folder, before: known.catalog?.account(id), verdicts, problems };
    const tables = await readTables(folders);
    const secrets = await readSecrets(folders);
    const templates = await readTemplates(folders, { tables, secrets }, checkTemplate);
    const secretsFolder = secrets.size > 0 ? await folder.find(`secrets/${id}`) : null;
    const secretsDirectory = secretsFolder?.path ?? null;
    const settings = { account: id, folder, tables, secrets, secretsDirectory, problems };
    const left = (await known.turns?.gate.untested(templates.values(), settings)) ?? [];
    if (left.length > 0) untested.set(id, { templates: left, settings });
    accounts.set(id, { id, ...record, templates, tables, secrets, secretsDirectory });
  }
  verdicts.keepUsed();
  const publishPart = async (): Promise<void> => {
    if (known.catalog === undefined || !problems.empty || (await folder.identity(FOLDERS)) !== identity) return;
    const part = partOf(accounts, untested, known.catalog);
    known.onPart?.(new Catalog(directory, access.plans, part), untested.size);
  };
  if (untested.size > 0) await publishPart();
  const isWhole = (await known.turns?.run(untested, known.isOutdated ?? (() => false), publishPart)) ?? true;
  known.turns?.gate.keepUsed();
  if ((await folder.identity(FOLDERS)) !== identity) {
    // The files read so far may come from two different states of the catalog.
    problems.isTemporary = true;
    problems.add('.', '', 'folders of the catalog were replaced while they were read; they are read again.');
  }
  if (problems.empty && isWhole) return { ok: true, catalog: new Catalog(directory, access.plans, accounts) };
  return refused(problems, !isWhole);
}

/** The accounts whose tests have been run, and the live state of the others. */
function partOf<Checked>(
  accounts: ReadonlyMap<string, Account<Checked>>,
  untested: ReadonlyMap<string, unknown>,
  live: Catalog<Checked>,
): Map<string, Account<Checked>> {
  const part = new Map<string, Account<Checked>>();
  for (const [id, account] of accounts) {
    const shown = untested.has(id) ? live.account(id) : account;
    if (shown !== undefined) part.set(id, shown);
  }
  return part;
}

function refused<Checked>({ problems, more, isTemporary }: ProblemList, isOutdated = false): LoadedCatalog<Checked> {
  return { ok: false, problems, more, isTemporary, isOutdated };
}

/** A folder whose name resembles a known one is reported, because it would otherwise be ignored silently. */
async function checkTopLevel(folder: CatalogFolder, problems: ProblemList): Promise<void> {
  for (const { name, isDirectory } of await folder.list('')) {
    if (FOLDERS.includes(name) === isDirectory) continue;
    if (!isDirectory) problems.add(name, '', 'is a file where a folder is expected.');
    else if (suggestion(name, FOLDERS) !== '') problems.add(name, '', `is not read.${suggestion(name, FOLDERS)}`);
  }
}

async function checkOwners(
  folder: CatalogFolder,
  { accounts }: Access,
  before: Catalog | undefined,
  problems: ProblemList,
): Promise<void> {
  for (const kind of ['templates', 'tables', 'secrets']) {
    const entries = await folder.list(kind);
    if (kind === 'templates' && entries.length === 0 && hasTemplates(before)) {
      const hint =
        'Was it moved, or is its volume not mounted? To remove all Templates of an account, leave its folder empty.';
      problems.add(kind, '', `is missing or empty, and was not before. ${hint}`);
    }
    for (const { file, name, isDirectory } of entries) {
      if (!isDirectory) problems.add(file, '', `must be in the folder of an account: ${kind}/<account>/.`);
      else if (accounts.get(name)?.record == null) {
        problems.add(file, '', `belongs to no account in accounts/.${suggestion(name, accounts.keys())}`);
      }
    }
  }
}

function hasTemplates(catalog: Catalog | undefined): boolean {
  return [...(catalog?.accounts.values() ?? [])].some(({ templates }) => templates.size > 0);
}

// Checks a whole catalog folder, and runs the tests of its Templates.

/** Runs the tests of one Template. Throws only on a fault of the program. */
export type TestTemplate<Checked> = (
  template: CatalogTemplate<Checked>,
  account: Account<Checked>,
) => Promise<{ readonly tests: number; readonly problems: readonly TemplateProblem[] }>;

export interface CatalogCheck {
  readonly problems: readonly CatalogProblem[];
  /** Number of problems that are not listed. */
  readonly more: number;
  readonly accounts: number;
  readonly templates: number;
  /** Number of tests run; 0 while the catalog itself has problems. */
  readonly tests: number;
}

export async function checkCatalog<Checked>(
  directory: string,
  checkTemplate: CheckTemplate<Checked>,
  testTemplate: TestTemplate<Checked>,
): Promise<CatalogCheck> {
  const loaded = await loadCatalog(directory, checkTemplate);
  if (!loaded.ok) return { problems: loaded.problems, more: loaded.more, accounts: 0, templates: 0, tests: 0 };
  const problems: CatalogProblem[] = [];
  let templates = 0;
  let tests = 0;
  for (const account of loaded.catalog.accounts.values()) {
    for (const template of account.templates.values()) {
      const result = await testTemplate(template, account);
      for (const problem of result.problems) problems.push({ ...problem, file: template.file });
      templates += 1;
      tests += result.tests;
    }
  }
  return { problems, more: 0, accounts: loaded.catalog.accounts.size, templates, tests };
}
