// Stores the code that V8 compiles for a Run next to the bundles (workers/bundles.ts). To do so, it applies the
// Templates of the examples like the command, and then writes the code of all functions that were called. Usage:
// `keep-compiled.mjs FOLDER NAME...`, with the folder of the bundles and the names of bundles to load in addition to
// the program. The code is only valid for processes started with the same flags, because V8 rejects it otherwise.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Bundles } from '../../dist/workers/bundles.js';

const EXAMPLES = [
  ['shop-orders.yaml', 'orders-export.csv'],
  ['bank-statement.yaml', 'bank-statement.csv'],
  ['supplier-prices.yaml', 'price-list.csv'],
  ['mailing-list.yaml', 'sign-ups.tsv'],
  ['price-workbook.yaml', 'price-list.csv'],
];

/** Argument that starts the child process. The child's output is shown only if it fails. */
const CALLS = 'calls';

const [first, ...more] = process.argv.slice(2);
if (first === CALLS) await callAll(...more);
else keep();

function keep() {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), CALLS, first, ...more];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

async function callAll(bundleFolder, ...names) {
  const bundles = new Bundles(pathToFileURL(`${resolve(bundleFolder)}/`));
  const { runProgram } = bundles.load('program');
  const folder = mkdtempSync(join(tmpdir(), 'template-run-'));
  try {
    for (const [template, file] of EXAMPLES) {
      await runProgram([
        'run',
        path(`catalog/templates/demo/${template}`),
        path(`files/${file}`),
        '-o',
        `${folder}/${template}`,
      ]);
      if (process.exitCode !== 0) return;
    }
    await runProgram(['serve', '--help']);
    for (const name of names) bundles.load(name);
  } finally {
    rmSync(folder, { recursive: true });
  }
  bundles.keepCompiled();
}

function path(example) {
  return fileURLToPath(new URL(`../../examples/${example}`, import.meta.url));
}
