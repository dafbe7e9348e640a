// Reads a catalog folder whole into a snapshot, or into the list of everything that is wrong with it. Between files it
// lets the event loop turn, so that a running node can do it beside its work.
import { suggestion } from '../../workers/template/suggestion.ts';
import { type Account, Catalog } from './catalog.ts';
import { CatalogFolder } from './catalog-folder.ts';
import { type CatalogProblem, ProblemList } from './problems.ts';
import { type Access, readAccess } from './read-access.ts';
import { readSecrets, readTables, readTemplates } from './read-templates.ts';
import type { CheckTemplate } from './template-checker.ts';
import type { TemplateGate } from './template-gate.ts';
import { TemplateVerdicts } from './template-verdicts.ts';

export type LoadedCatalog<Checked> =
  | { readonly ok: true; readonly catalog: Catalog<Checked> }
  | {
      readonly ok: false;
      readonly problems: readonly CatalogProblem[];
      /** Problems that were found and not listed. */
      readonly more: number;
      /** The system refused to read something and may not do so again, though nothing in the folder changes. */
      readonly isPassing: boolean;
    };

/** What is known from loading before: what has not changed since is taken over from it. */
export interface Known<Checked> {
  /** The snapshot that is in force. */
  readonly catalog?: Catalog<Checked>;
  readonly access?: Access;
  readonly verdicts?: TemplateVerdicts<Checked>;
  /** Without it no test is run. */
  readonly gate?: TemplateGate;
  /** Called with who may do what as soon as that is read, before any Template. */
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
  const verdicts = known.verdicts ?? new TemplateVerdicts<Checked>();
  for (const [id, { record }] of access.accounts) {
    if (record === null) continue;
    const folders = { account: id, folder, before: known.catalog?.account(id), verdicts, problems };
    const tables = await readTables(folders);
    const secrets = await readSecrets(folders);
    const templates = await readTemplates(folders, { tables, secrets }, checkTemplate);
    const secretsFolder = secrets.size > 0 ? await folder.find(`secrets/${id}`) : null;
    const secretsDirectory = secretsFolder?.path ?? null;
    await known.gate?.check(templates.values(), { account: id, folder, tables, secrets, secretsDirectory, problems });
    accounts.set(id, { id, ...record, templates, tables, secrets, secretsDirectory });
  }
  verdicts.keepUsed();
  known.gate?.keepUsed();
  if ((await folder.identity(FOLDERS)) !== identity) {
    // Half of what was read was there before, or nothing was where something had been.
    problems.isPassing = true;
    problems.add('.', '', 'folders of the catalog were replaced while they were read; they are read again.');
  }
  if (problems.empty) return { ok: true, catalog: new Catalog(directory, access.plans, accounts) };
  return refused(problems);
}

function refused<Checked>({ problems, more, isPassing }: ProblemList): LoadedCatalog<Checked> {
  return { ok: false, problems, more, isPassing };
}

/** A folder whose name is nearly one of ours would be left out in silence. */
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
        'Has it been moved, or is its volume not there? The folder of an account that is empty takes all away.';
      problems.add(kind, '', `is missing or empty, and was not before. ${hint}`);
    }
    for (const { file, name, isDirectory } of entries) {
      if (!isDirectory) problems.add(file, '', `must lie in the folder of an account: ${kind}/<account>/.`);
      else if (accounts.get(name)?.record == null) {
        problems.add(file, '', `belongs to no account in accounts/.${suggestion(name, accounts.keys())}`);
      }
    }
  }
}

function hasTemplates(catalog: Catalog | undefined): boolean {
  return [...(catalog?.accounts.values() ?? [])].some(({ templates }) => templates.size > 0);
}
