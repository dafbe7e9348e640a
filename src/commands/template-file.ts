// Reads Template files for the commands and prints what is wrong with them.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { checkTemplate } from '../../workers/plan/check-template.ts';
import type { Problem, Template } from '../../workers/template/template.ts';
import { type TemplateFormat, templateFormat } from '../../workers/template/template-text.ts';
import type { TemplateTest, TestedTemplate } from '../template-tests/run-tests.ts';
import { UsageError } from './command.ts';

export interface TemplateFile {
  readonly path: string;
  readonly source: string;
  readonly format: TemplateFormat;
  /** Null when it has problems. */
  readonly template: Template | null;
  readonly problems: readonly Problem[];
}

/** @throws UsageError when the file cannot be read or its name does not tell JSON or YAML */
export async function readTemplateFile(path: string): Promise<TemplateFile> {
  const format = templateFormat(path);
  if (format === null) throw new UsageError(`${path}: a Template's name ends in .json, .yaml or .yml.`);
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new UsageError(`The Template cannot be read: ${(error as Error).message}`);
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

/** A sound Template with its tests; the files that they name are named from the Template's own folder. */
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

/** `FILE:line:column pointer CODE message`, one line each. */
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
