// templates/<account>/, tables/<account>/ and secrets/<account>/ of one account.
import { createHash } from 'node:crypto';
import type { Account, CatalogTable, CatalogTemplate } from './catalog.ts';
import type { CatalogFile, CatalogFolder } from './catalog-folder.ts';
import { SECRET_FILE_BYTES_MAX, TABLE_FILE_BYTES_MAX, TEMPLATE_FILE_BYTES_MAX } from './catalog-limits.ts';
import { SLUG, SLUG_RULE } from './field-reader.ts';
import type { ProblemList } from './problems.ts';
import { readText } from './read-json.ts';
import type { CheckTemplate, TemplateContext } from './template-checker.ts';
import type { TemplateVerdicts } from './template-verdicts.ts';

/** What a Template's tests read lies beside it: data by its ending, or anything in a folder of its own. */
const TEST_FILE = /\.(?:csv|tsv|txt|ndjson|xlsx|parquet|gz|md)$/i;

/** One account's folders, and what the snapshot before knew of them: unchanged files are not read or checked again. */
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
    if (name === file.name) problems.add(file.file, '', 'is no table: tables are .csv files.');
    else if (!SLUG.test(name)) problems.add(file.file, '', `has no name for a table: write ${SLUG_RULE}.`);
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

/** Names only: what a secret holds is read when a Run needs it. */
export async function readSecrets<Checked>(folders: AccountFolders<Checked>): Promise<Set<string>> {
  const { account, folder, problems } = folders;
  const secrets = new Set<string>();
  for (const file of await folder.list(`secrets/${account}`)) {
    if (!SLUG.test(file.name)) problems.add(file.file, '', `has no name for a secret: write ${SLUG_RULE}.`);
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
    if (id === undefined) problems.add(file.file, '', 'is no Template: write .json or .yaml at its end.');
    else if (!SLUG.test(id)) problems.add(file.file, '', `has no id for a Template: write ${SLUG_RULE}.`);
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

/** @param known what is in force, where its references have the same names */
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
  // Not the object itself: its version is that of the file as it was.
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

/** A Template that refers to a table or a secret may be wrong now though its own text is the same. */
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
