// Reads Template files and reference tables for the commands, and prints their problems.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { outputFormats } from '../../workers/output/index.ts';
import { outputFile } from '../../workers/output/planned-output.ts';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import type { TaskTable } from '../../workers/protocol/messages.ts';
import type { Problem, Template } from '../../workers/template/template.ts';
import { type TemplateFormat, type TemplateText, templateFormat } from '../../workers/template/template-text.ts';
import type { TemplateTest, TestedTemplate } from '../template-tests/run-tests.ts';
import { UsageError } from './command.ts';
import { checkFolder, checkReadable, STANDARD_INPUTS, systemErrorText } from './local-input.ts';

// Reads Template files for the commands and prints their problems.

/** File descriptor of standard input. A Template from standard input is read as YAML, which includes JSON. */
const STANDARD_INPUT = 0;

export interface TemplateFile {
  readonly path: string;
  readonly source: string;
  readonly format: TemplateFormat;
  /** Null if the Template has problems. */
  readonly template: Template | null;
  readonly problems: readonly Problem[];
}

/** @throws UsageError if the file cannot be read or its name ends in neither a JSON nor a YAML extension */
export async function readTemplateFile(path: string): Promise<TemplateFile> {
  const format = path === '-' ? 'yaml' : (templateFormat(path) ?? pipeFormat(path));
  if (format === null) throw new UsageError(`${path}: a Template's name ends in .json, .yaml or .yml.`);
  let bytes: Buffer;
  try {
    if (path !== '-') checkReadable(path);
    bytes = path === '-' ? readFileSync(STANDARD_INPUT) : await readFile(path);
  } catch (error) {
    throw new UsageError(`The Template cannot be read: ${(error as Error).message}`, false);
  }
  const source = utf8(bytes);
  if (source === null) {
    const message = 'A Template is text in UTF-8; this file is not.';
    const problem = { pointer: '', line: 1, column: 1, code: 'SYNTAX', message };
    return { path, source: '', format, template: null, problems: [problem] };
  }
  const checked = checkTemplate(source, format);
  if ('template' in checked) return { path, source, format, template: checked.template, problems: [] };
  return { path, source, format, template: null, problems: checked.problems };
}

/** Pipes, such as /dev/stdin and those of a shell's `<(...)`, have no extension; null: another file. */
function pipeFormat(path: string): TemplateFormat | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFIFO() === true || STANDARD_INPUTS.has(path) ? 'yaml' : null;
}

/** A valid Template with its tests. File names in the tests are relative to the Template's folder. */
export function testedFile({ path, source, format, template }: TemplateFile): TestedTemplate {
  const read = async (name: string): Promise<Uint8Array | string> => {
    try {
      return await readFile(resolve(dirname(path), name));
    } catch (error) {
      return `cannot be read: ${(error as Error).message}`;
    }
  };
  return { source, format, tests: template!.tests as readonly TemplateTest[], read };
}

/** One line per problem: `FILE:line:column pointer CODE message`. */
export function problemLines({ path, problems }: Pick<TemplateFile, 'path' | 'problems'>): string {
  return problems
    .map(
      ({ line, column, pointer, code, message }) => `${path}:${line}:${column} ${pointer || '/'} ${code} ${message}\n`,
    )
    .join('');
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

// Reads the Template and the reference tables of a local run, and prints the problems of the Template.

export interface LocalTemplate {
  readonly template: TemplateText;
  /** Extension of its outputs. */
  readonly ending: string;
  /** Other extensions that also fit its output format. */
  readonly otherEndings: readonly string[];
}

/** The Template if it is valid; otherwise null, after its problems have been written to `stderr`. */
export function readLocalTemplate(path: string, stderr: NodeJS.WritableStream): LocalTemplate | null {
  const source = readText(path);
  const format = path.endsWith('.json') ? 'json' : 'yaml';
  const checked = checkTemplate(source, format);
  if ('template' in checked) {
    const { extension, otherExtensions = [] } = outputFile(outputFormats, checked.template.output);
    const template = { source, format, sha256: sha256(source) } as const;
    return { template, ending: extension, otherEndings: otherExtensions };
  }
  for (const { line, column, pointer, code, message } of checked.problems) {
    stderr.write(`${path}:${line}:${column} ${pointer} ${code}: ${message}\n`);
  }
  return null;
}

/** The tables of a folder by name: NAME.csv is the table NAME. */
export function readLocalTables(directory: string | null): Readonly<Record<string, TaskTable>> {
  if (directory === null) return {};
  try {
    const tables = localTableNames(directory).map((name): [string, TaskTable] => {
      const path = resolve(join(directory, `${name}.csv`));
      return [name, { path, sha256: sha256(readFileSync(path)) }];
    });
    return Object.fromEntries(tables);
  } catch (error) {
    throw new UsageError(`The reference tables cannot be read: ${systemErrorText(error as Error)}`, false);
  }
}

/** The names of the reference tables in a folder. Throws UnreadableFileError. */
export function localTableNames(directory: string): readonly string[] {
  checkFolder(directory);
  const names = readdirSync(directory).filter((name) => name.endsWith('.csv'));
  return names.map((name) => name.slice(0, -'.csv'.length));
}

/** The folder of the secrets; null: no secrets. Throws a UsageError if it cannot be read. */
export function localSecrets(directory: string | undefined): string | null {
  if (directory === undefined) return null;
  try {
    checkFolder(directory);
  } catch (error) {
    throw new UsageError(`The secrets cannot be read: ${(error as Error).message}`, false);
  }
  return directory;
}

function readText(path: string): string {
  try {
    if (path === '-') return readFileSync(STANDARD_INPUT, 'utf8');
    checkReadable(path);
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`The Template cannot be read: ${(error as Error).message}`, false);
  }
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
