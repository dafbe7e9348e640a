// Processes local files with `template-run run`, as a user would.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../src/cli.js', import.meta.url));

/** Exit status of `run` if files failed. Missing outputs show which ones. */
const FILES_FAILED = 1;

/**
 * @param folder empty folder for copies and outputs
 * @returns for each file, the path of its output, or null if it was refused
 */
export function runFiles(paths: readonly string[], template: string, folder: string): (string | null)[] {
  const [inputs, outputs] = [join(folder, 'in'), join(folder, 'out')];
  mkdirSync(inputs);
  mkdirSync(outputs);
  writeFileSync(join(folder, 'template.yaml'), template);
  // Copied to similar names, because two files may differ only in their extension.
  const copies = paths.map((path, index) => {
    const copy = join(inputs, `${index}.csv`);
    copyFileSync(path, copy);
    return copy;
  });
  const args = [CLI, 'run', join(folder, 'template.yaml'), ...copies, '-o', `${outputs}/`];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0 && status !== FILES_FAILED) throw new Error(`run: ${stderr}`);
  const ending = /format: (\w+),/.exec(template)?.[1];
  return paths.map((_, index) => {
    const output = join(outputs, `${index}.${ending}`);
    return existsSync(output) ? output : null;
  });
}
