// Reads the Template and the reference tables of a local run, and says what is wrong with the Template.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { outputFormats } from '../../workers/output/index.ts';
import { outputFile } from '../../workers/output/planned-output.ts';
import { checkTemplate } from '../../workers/plan/check-template.ts';
import type { TaskTable } from '../../workers/protocol/messages.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { UsageError } from './command.ts';

export interface LocalTemplate {
  readonly template: TemplateText;
  /** Of its outputs' names. */
  readonly ending: string;
  /** Others that say as well what they hold. */
  readonly otherEndings: readonly string[];
}

/** The Template when it is sound; else its problems are on `stderr` and the result is null. */
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

/** The tables of a folder by name: NAME.csv is NAME. */
export function readLocalTables(directory: string | null): Readonly<Record<string, TaskTable>> {
  if (directory === null) return {};
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.csv'));
    const tables = names.map((name): [string, TaskTable] => {
      const path = resolve(join(directory, name));
      return [name.slice(0, -'.csv'.length), { path, sha256: sha256(readFileSync(path)) }];
    });
    return Object.fromEntries(tables);
  } catch (error) {
    throw new UsageError(`The reference tables cannot be read: ${(error as Error).message}`);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`The Template cannot be read: ${(error as Error).message}`);
  }
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
