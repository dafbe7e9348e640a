// `template-run studio`: serves a local page that shows the effect of each operation of a Template on a sample file
// while the Template is written.
import { spawn } from 'node:child_process';
import { lstatSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import {
  parseTemplate,
  type TemplateFormat,
  type TemplateText,
  templateFormat,
} from '../../workers/template/template-text.ts';
import { defaultMemoryBudgetBytes, MEMORY_BUDGET_BYTES_MIN } from '../admission/memory-budget.ts';
import { DraftProgress } from '../drafts/draft-progress.ts';
import { declaredReading } from '../drafts/draft-template.ts';
import { OpenedFiles, removeAbandonedFolders } from '../studio/opened-files.ts';
import { StudioServer } from '../studio/studio-server.ts';
import { type StudioParts, StudioSession } from '../studio/studio-session.ts';
import { TemplateStore } from '../studio/template-store.ts';
import { WatchThread, type WatchThreadSettings } from '../studio/watch-thread.ts';
import { NoOutputError, WholeOutput } from '../studio/whole-output.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK, flagsHelp, parseFlags, UsageError } from './command.ts';
import { LocalEngine } from './local-engine.ts';
import { checkReadable } from './local-input.ts';
import { type DraftRequest, draftOf, isSampleRefused } from './template-draft.ts';
import { localSecrets, readLocalTables } from './template-file.ts';
import { withTestEngine } from './template-test.ts';

const FLAGS = {
  port: { kind: 'value', placeholder: 'NUMBER', purpose: 'port on 127.0.0.1; 0: any free port (0)' },
  'no-open': { kind: 'switch', purpose: 'prints the address without opening a browser (off)' },
  like: {
    kind: 'value',
    placeholder: 'TARGET',
    purpose: 'a Template, a CSV or a JSON Schema whose column names a draft uses (none)',
  },
  tables: { kind: 'value', placeholder: 'DIR', purpose: 'reference tables, NAME.csv (none)' },
  secrets: { kind: 'value', placeholder: 'DIR', purpose: 'keys for hash, one file for each (none)' },
} as const;

export const command: Command = {
  name: 'studio',
  usage: `template-run studio TEMPLATE SAMPLE

Shows in a browser what each operation of the Template (JSON or YAML) does to the rows of the sample file, while you write it.
The page is served on 127.0.0.1, at an address with a secret token; rows never leave this machine. The studio writes the
Template when you save it, and until then keeps your text in the hidden file .TEMPLATE.unsaved. If the Template does not
exist, it starts with a draft for the sample. Ctrl-C stops it.

${flagsHelp(FLAGS)}

Exit status: 0 ended, 1 the port cannot be opened, 2 usage.`,
  run: openStudio,
};

const PORT_MAX = 65_535;

/** For larger samples, the address is printed before the draft is made, which takes about 0.4 s for 1 MB. */
const DRAFT_FIRST_BYTES_MAX = 2 * 1024 * 1024;

async function openStudio(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, switches, positionals } = parseFlags(args, FLAGS);
  const [templatePath, samplePath, ...more] = positionals;
  if (templatePath === undefined || samplePath === undefined || more.length > 0) {
    throw new UsageError('Write a Template file and a sample file.');
  }
  const format = templateFormat(templatePath);
  if (format === null) throw new UsageError(`${templatePath}: a Template's name ends in .json, .yaml or .yml.`);
  const port = portOf(values.get('port') ?? '0');
  if (samplePath === '-') throw new UsageError('The studio reads the sample several times: write a file, not "-".');
  checkReadable(samplePath);
  const like = values.get('like') ?? null;
  if (like === '-') throw new UsageError('--like takes a file, not "-".');
  if (like !== null) checkReadable(like);
  const ended = new AbortController();
  const progress = new DraftProgress();
  const draft = (signal?: AbortSignal): Promise<string> =>
    draftOf({ path: samplePath, like, folder: dirname(templatePath), signal, progress });
  const isThere = lstatSync(templatePath, { throwIfNoEntry: false }) !== undefined;
  if (isThere) checkReadable(templatePath);
  const isLater = !isThere && statSync(samplePath).size > DRAFT_FIRST_BYTES_MAX;
  const beginning = isThere ? '' : isLater ? emptyText(format) : await beginningOf(draft, format, io);
  const store = new TemplateStore(resolve(templatePath), beginning);
  // An unreadable Template is reported here, not in the page.
  store.read();
  removeAbandonedFolders();
  const files = new OpenedFiles(readLocalTables(values.get('tables') ?? null));
  const secretsDirectory = localSecrets(values.get('secrets'));
  let rowsRead = 0;
  const settings: WatchThreadSettings = {
    memoryBudgetBytes: Math.max(MEMORY_BUDGET_BYTES_MIN, defaultMemoryBudgetBytes()),
    secretsDirectory,
    onProgress: (rows) => {
      rowsRead = rows;
    },
  };
  const onFault = faultsTo(io, ended.signal);
  const thread = new WatchThread(settings);
  try {
    return await withTestEngine(async (engine) => {
      const session = new StudioSession({
        templatePath: resolve(templatePath),
        format,
        samplePath: resolve(samplePath),
        store,
        thread,
        openThread: () =>
          new WatchThread({ ...settings, memoryBudgetBytes: MEMORY_BUDGET_BYTES_MIN, onProgress: () => {} }),
        onFault,
        files,
        runTest: (run) => engine.forAccount(files.tables, secretsDirectory).run(run),
        ...draftsFor(format, { like, folder: dirname(templatePath), signal: ended.signal }),
        draftPercent: () => progress.percent,
        runWhole: (template, path) =>
          runWhole(template, path, { tables: files.tables, secretsDirectory }, ended.signal),
      });
      const server = new StudioServer({ session, rowsRead: () => rowsRead }, onFault);
      if (isLater) void store.beginWith(beginningOf(() => draft(ended.signal), format, io, ended.signal));
      try {
        return await serve(server, port, !switches.has('no-open'), io);
      } finally {
        ended.abort();
        await session.close();
      }
    });
  } finally {
    await thread.close();
    files.close();
  }
}

/** Prints faults, except those of work that the end of the command interrupts. */
function faultsTo({ stderr }: Pick<CommandIo, 'stderr'>, ended: AbortSignal): (fault: unknown) => void {
  return (fault) => {
    if (!ended.aborted) stderr.write(`template-run studio: ${(fault as Error).stack ?? String(fault)}\n`);
  };
}

/** Upper bound of a download, which is held in memory twice: by the studio and by the browser. */
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024;

/** Runs a Template over a whole file in another thread, so that the page stays responsive. Throws NoOutputError. */
async function runWhole(
  template: TemplateText,
  path: string,
  settings: Pick<OpenedFiles, 'tables'> & Pick<WatchThreadSettings, 'secretsDirectory'>,
  signal: AbortSignal,
): Promise<WholeOutput> {
  const engine = new LocalEngine({
    threads: 1,
    cores: availableParallelism(),
    inputs: 1,
    ownThread: false,
    memoryBudgetBytes: Math.max(MEMORY_BUDGET_BYTES_MIN, defaultMemoryBudgetBytes()),
    template,
    overrides: { delimiter: null, headerRow: null },
    ...settings,
  });
  const stop = (): void => void engine.close();
  signal.addEventListener('abort', stop);
  try {
    const { outcome, outputPath } = await engine.run(path);
    const { failure, output } = outcome;
    if (failure !== null || output === null)
      throw new NoOutputError(failure?.code ?? 'NO_OUTPUT', failure?.message ?? 'The Run has no output.');
    if (output.sizeBytes > OUTPUT_BYTES_MAX)
      throw new NoOutputError('OUTPUT_TOO_LARGE', 'The output has more than 512 MiB. Make it with "template-run run".');
    return new WholeOutput(output.bytes ?? (await readFile(outputPath)), output.mimeType, output.ending);
  } finally {
    signal.removeEventListener('abort', stop);
    await engine.close();
  }
}

/**
 * Initial text of a Template that does not exist yet: a draft from the sample, or nothing if no draft can be made. A
 * fault of the program is printed with its stack, but the studio still opens, because a Template can be written
 * without a draft.
 */
export async function beginningOf(
  make: () => Promise<string>,
  format: TemplateFormat,
  io: Pick<CommandIo, 'stderr'>,
  signal?: AbortSignal,
): Promise<string> {
  try {
    return inFormat(await make(), format);
  } catch (error) {
    if (signal?.aborted === true) return emptyText(format);
    const why = isSampleRefused(error) ? error.message : ((error as Error).stack ?? String(error));
    io.stderr.write(`No draft of the sample could be made: ${why}\n`);
    return emptyText(format);
  }
}

function emptyText(format: TemplateFormat): string {
  return format === 'yaml' ? EMPTY_YAML : EMPTY_JSON;
}

/** How the studio makes drafts, after the first one. */
function draftsFor(
  format: TemplateFormat,
  request: Omit<DraftRequest, 'path'>,
): Pick<StudioParts, 'draft' | 'newDraft'> {
  return {
    draft: (path) => draftOf({ path, signal: request.signal }),
    newDraft: async (path, settings) =>
      inFormat(await draftOf({ ...request, path, declared: declaredReading(settings) }), format),
  };
}

/** JSON has no comments, so the proposals of the draft are left out. */
function inFormat(draft: string, format: TemplateFormat): string {
  if (format === 'yaml') return draft;
  const read = parseTemplate(draft, 'yaml');
  if ('problems' in read) throw new Error('a draft cannot be read');
  return `${JSON.stringify(read.text.root.value, null, 2)}\n`;
}

const EMPTY_YAML = 'format: 1\noperations: []\noutput: {format: csv}\n';
const EMPTY_JSON = '{\n  "format": 1,\n  "operations": [],\n  "output": {"format": "csv"}\n}\n';

async function serve(server: StudioServer, port: number, opens: boolean, io: CommandIo): Promise<number> {
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve());
  });
  let address: string;
  try {
    address = await server.listen(port);
  } catch (error) {
    io.stderr.write(`template-run studio: ${(error as Error).message}\n`);
    return EXIT_FAILED;
  }
  io.stdout.write(`${address}\n`);
  if (opens) openBrowser(address, io);
  await ended;
  await server.close();
  return EXIT_OK;
}

/** If no browser can be started, the printed address is enough. */
function openBrowser(address: string, io: CommandIo): void {
  const [program, ...args] = process.platform === 'darwin' ? ['open'] : ['xdg-open'];
  const child = spawn(program!, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => io.stderr.write('No browser was found: open the address above in one.\n'));
  child.unref();
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > PORT_MAX) throw new UsageError('--port takes a number up to 65535.');
  return Number(text);
}
