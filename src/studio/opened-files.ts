// Files that the page sends, because the user has opened them there: samples, and reference tables. They are copies in a folder
// that only this user can read, and are removed when the studio ends. If it was killed, the next studio removes them.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TaskTable } from '../../workers/protocol/messages.ts';
import type { ColumnValues, OpenedTable } from './studio-answers.ts';

/** Permissions of a file: only its owner can read it. */
const FILE_MODE = 0o600;

/** Bytes of a table that are read to find its columns. */
const HEAD_BYTES = 64 * 1024;

/** Rows of a table whose values are compared with those of the sample. */
const ROWS_MAX = 1_000;

/** Characters of the name of a table. */
const NAME_CHARACTERS_MAX = 64;

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Start of the folders' names. Contains the host name, because process ids are only valid on one machine. */
const FOLDER_PREFIX = `template-run-studio-${hostname().replaceAll(/[^A-Za-z0-9]/g, '')}-`;

/** Creates a temporary folder that only this user can read. Its name contains the process that removes it. */
export function makeStudioFolder(): string {
  return mkdtempSync(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
}

/** Removes the folders of studios that ended without removing them. */
export function removeAbandonedFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, id] = name.startsWith(FOLDER_PREFIX) ? (/^(\d+)-/.exec(name.slice(FOLDER_PREFIX.length)) ?? []) : [];
    if (id === undefined || isRunning(Number(id))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // It belongs to another user, whose next studio removes it.
    }
  }
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

export class OpenedFiles {
  #folder: string | null = null;
  #count = 0;
  #tables: Readonly<Record<string, TaskTable>>;

  /** @param tables those that the command was started with, by name */
  constructor(tables: Readonly<Record<string, TaskTable>>) {
    this.#tables = tables;
  }

  get tables(): Readonly<Record<string, TaskTable>> {
    return this.#tables;
  }

  /** Stores a file under its original name, whose extension shows the format. @returns its path */
  async store(name: string, bytes: Readable): Promise<string> {
    this.#folder ??= makeStudioFolder();
    const folder = join(this.#folder, String(++this.#count));
    mkdirSync(folder);
    const path = join(folder, basename(name));
    await pipeline(bytes, createWriteStream(path, { mode: FILE_MODE }));
    return path;
  }

  /** Makes a file a reference table, or replaces the table with its name. */
  async addTable(fileName: string, bytes: Readable): Promise<OpenedTable> {
    const path = await this.store(fileName, bytes);
    const digest = createHash('sha256');
    await pipeline(createReadStream(path), digest);
    const name = tableName(fileName);
    this.#tables = { ...this.#tables, [name]: { path, sha256: digest.digest('hex') } };
    return { name, columns: await columnsOf(path) };
  }

  close(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The name of the file without its ending, in the characters that names of tables have. */
function tableName(fileName: string): string {
  const stem = basename(fileName, extname(fileName));
  // `--tables` gives the same file this name.
  if (/^[A-Za-z0-9_-]{1,64}$/.test(stem)) return stem;
  const name = stem
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '_')
    .slice(0, NAME_CHARACTERS_MAX);
  return name.replaceAll(/^[^a-z0-9]+|_+$/g, '') || 'table';
}

/** Columns for a first guess in a form; the engine reads the table itself. */
async function columnsOf(path: string): Promise<readonly ColumnValues[]> {
  let head = '';
  for await (const part of createReadStream(path, { encoding: 'utf8', end: HEAD_BYTES })) head += part;
  const [line = '', ...others] = head.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  const delimiter = DELIMITERS[counts.indexOf(Math.max(...counts))]!;
  const cells = (each: string): readonly string[] =>
    each.split(delimiter).map((cell) => cell.trim().replaceAll(/^"|"$/g, ''));
  const names = cells(line);
  // The last line of a head may be cut. Lines with quoted delimiters have another number of cells.
  const rows = others
    .slice(0, ROWS_MAX)
    .map(cells)
    .filter((row) => row.length === names.length);
  return names.map((name, column) => ({ name, values: rows.map((row) => row[column]!) }));
}
