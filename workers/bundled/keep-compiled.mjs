// Keeps what V8 compiles for a Run beside the bundles (workers/bundles.ts): applies the examples' Templates as the command
// does, then has the code of all that was called written down. `keep-compiled.mjs FOLDER NAME...`: the folder of the bundles,
// and those to load beside the program. It is for processes that start with the same flags: V8 takes no code of other ones.
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

/** What the child below is called with: it prints what the commands do, which only matters when one fails. */
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
