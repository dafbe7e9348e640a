// Reads the Templates, reference tables and secrets of one account, and keeps the results of the checker from the last
// load.
import { createHash } from 'node:crypto';
import type { TemplateText } from '../../workers/template/template-text.ts';
import type { Account, CatalogTable, CatalogTemplate } from './catalog.ts';
import type { CatalogFile, CatalogFolder } from './catalog-folder.ts';
import { readText, SLUG, SLUG_RULE } from './field-reader.ts';
import { type ProblemList, SECRET_FILE_BYTES_MAX, TABLE_FILE_BYTES_MAX, TEMPLATE_FILE_BYTES_MAX } from './problems.ts';
import type { CheckTemplate, TemplateCheck, TemplateContext } from './template-checker.ts';

// Results of the checker from the last load, for valid and invalid Templates. An unchanged text is not checked again
// in the next load, even if the catalog was refused in between.

export class TemplateVerdicts<Checked> {
  #known = new Map<string, TemplateCheck<Checked>>();
  #used = new Map<string, TemplateCheck<Checked>>();
  /**
   * Digests of the names that a Template may refer to, keyed by the set of secrets, which is a separate object per
   * account.
   */
  readonly #names = new WeakMap<object, string>();

  async of(
    { source, format, sha256 }: TemplateText,
    context: TemplateContext,
    checkTemplate: CheckTemplate<Checked>,
  ): Promise<TemplateCheck<Checked>> {
    const key = `${sha256} ${format} ${context.account} ${context.templateId} ${this.#namesOf(context)}`;
    const verdict = this.#used.get(key) ?? this.#known.get(key) ?? (await checkTemplate(source, format, context));
    if (!('problems' in verdict && verdict.isTemporary === true)) this.#used.set(key, verdict);
    return verdict;
  }

  /** Called at the end of a load: forgets results that were not used since the previous load. */
  keepUsed(): void {
    this.#known = this.#used;
    this.#used = new Map();
  }

  #namesOf({ tables, secrets }: TemplateContext): string {
    const known = this.#names.get(secrets);
    if (known !== undefined) return known;
    const names = createHash('sha256')
      .update(JSON.stringify([[...tables.keys()], [...secrets]]))
      .digest('hex');
    this.#names.set(secrets, names);
    return names;
  }
}

// Reads templates/<account>/, tables/<account>/ and secrets/<account>/ of one account.

/**
 * Files used by tests: data files beside the Template, recognised by extension. Files in subfolders may have any
 * name.
 */
const TEST_FILE = /\.(?:csv|tsv|txt|ndjson|xlsx|parquet|gz|md)$/i;

/**
 * The folders of one account, and its data in the previous snapshot. Unchanged files are neither read nor checked
 * again.
 */
export interface AccountFolders<Checked> {
  readonly account: string;
  readonly folder: CatalogFolder;
  readonly before: Account<Checked> | undefined;
  readonly verdicts: TemplateVerdicts<Checked>;
  readonly problems: ProblemList;
}

export async function readTables<Checked>(folders: AccountFolders<Checked>): Promise<Map<string, CatalogTable>> {
  const { account, folder, before, problems } = folders;
  const tables = new Map<string, CatalogTable>();
  for (const file of await folder.list(`tables/${account}`)) {
    const name = file.name.replace(/\.csv$/, '');
    if (name === file.name) problems.add(file.file, '', 'is not a table: tables are .csv files.');
    else if (!SLUG.test(name))
      problems.add(file.file, '', `does not have a valid name for a table: write ${SLUG_RULE}.`);
    else {
      const known = before?.tables.get(name);
      const unchanged = file.version !== null && known?.version === file.version && known.path === file.path;
      const sha256 = unchanged ? known.sha256 : await folder.digest(file, TABLE_FILE_BYTES_MAX);
      const { path, sizeBytes, version } = file;
      if (sha256 !== null) tables.set(name, { path, sha256, sizeBytes, version });
    }
  }
  return tables;
}

/** Reads names only; the value of a secret is read when a Run needs it. */
export async function readSecrets<Checked>(folders: AccountFolders<Checked>): Promise<Set<string>> {
  const { account, folder, problems } = folders;
  const secrets = new Set<string>();
  for (const file of await folder.list(`secrets/${account}`)) {
    if (!SLUG.test(file.name))
      problems.add(file.file, '', `does not have a valid name for a secret: write ${SLUG_RULE}.`);
    else if (file.isDirectory) problems.add(file.file, '', 'is a folder where a secret is expected.');
    else if (file.sizeBytes === 0) problems.add(file.file, '', 'is empty.');
    else if (file.sizeBytes > SECRET_FILE_BYTES_MAX) {
      problems.add(file.file, '', `is larger than ${SECRET_FILE_BYTES_MAX} bytes.`);
    } else secrets.add(file.name);
  }
  return secrets;
}

/** Sorted by id. */
export async function readTemplates<Checked>(
  folders: AccountFolders<Checked>,
  references: Pick<TemplateContext, 'tables' | 'secrets'>,
  checkTemplate: CheckTemplate<Checked>,
): Promise<Map<string, CatalogTemplate<Checked>>> {
  const { account, folder, problems } = folders;
  const templates = new Map<string, CatalogTemplate<Checked>>();
  const files = new Map<string, { file: CatalogFile; format: 'json' | 'yaml' }>();
  for (const file of await folder.list(`templates/${account}`)) {
    if (file.isDirectory || TEST_FILE.test(file.name)) continue;
    const [, id, ending] = /^(.*)\.(json|ya?ml)$/.exec(file.name) ?? [];
    if (id === undefined) problems.add(file.file, '', 'is not a Template: its name must end in .json or .yaml.');
    else if (!SLUG.test(id))
      problems.add(file.file, '', `does not have a valid Template id as its name: write ${SLUG_RULE}.`);
    else if (files.has(id)) problems.add(file.file, '', `has the same id as ${files.get(id)?.file.name}.`);
    else files.set(id, { file, format: ending === 'json' ? 'json' : 'yaml' });
  }
  const reusable =
    folders.before !== undefined && hasSameNames(folders.before, references) ? folders.before : undefined;
  for (const id of [...files.keys()].sort()) {
    const found = files.get(id)!;
    const template = await readTemplate(id, found, reusable?.templates.get(id), folders, references, checkTemplate);
    if (template !== null) templates.set(id, template);
  }
  return templates;
}

/** @param known the live version, if the names it may refer to are the same */
async function readTemplate<Checked>(
  id: string,
  { file, format }: { readonly file: CatalogFile; readonly format: 'json' | 'yaml' },
  known: CatalogTemplate<Checked> | undefined,
  { account, folder, verdicts, problems }: AccountFolders<Checked>,
  references: Pick<TemplateContext, 'tables' | 'secrets'>,
  checkTemplate: CheckTemplate<Checked>,
): Promise<CatalogTemplate<Checked> | null> {
  const isSameFile = known?.file === file.file;
  if (isSameFile && file.version !== null && known.version === file.version) return known;
  const bytes = await folder.read(file, TEMPLATE_FILE_BYTES_MAX);
  if (bytes === null) return null;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const { version } = file;
  // The old object cannot be reused, because its `version` belongs to the earlier state of the file.
  if (isSameFile && known.sha256 === sha256) return known.version === version ? known : { ...known, version };
  const source = readText(file.file, bytes, problems);
  if (source === null) return null;
  const context = { account, templateId: id, ...references };
  const result = await verdicts.of({ source, format, sha256 }, context, checkTemplate);
  if ('template' in result) {
    return { id, file: file.file, version, format, sha256, source, ...result.template };
  }
  for (const { pointer, message, line, column } of result.problems) {
    problems.add(file.file, pointer, message, line, column);
  }
  return null;
}

/** A Template that refers to a table or secret may have become invalid although its text is unchanged. */
function hasSameNames(
  before: Pick<Account, 'tables' | 'secrets'>,
  { tables, secrets }: Pick<TemplateContext, 'tables' | 'secrets'>,
): boolean {
  if (before.tables.size !== tables.size || before.secrets.size !== secrets.size) return false;
  return (
    [...tables.keys()].every((name) => before.tables.has(name)) &&
    [...secrets].every((name) => before.secrets.has(name))
  );
}
