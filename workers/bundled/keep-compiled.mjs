// Keeps what V8 compiles for a Run beside the bundles (workers/bundles.ts): applies the examples' Templates as the command
// does, then has the code of all that was called written down. Once for each set of flags: V8 takes no code of other ones.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENGINE_FLAGS } from '../../dist/bench/measure.js';
import { Bundles } from '../../dist/workers/bundles.js';

const EXAMPLES = [
  ['shop-orders.yaml', 'orders-export.csv'],
  ['bank-statement.yaml', 'bank-statement.csv'],
  ['supplier-prices.yaml', 'price-list.csv'],
  ['mailing-list.yaml', 'sign-ups.tsv'],
];

/** What the child below is called with. */
const CALLS = 'calls';

if (process.argv[2] === CALLS) await callAll();
else for (const flags of [[], ENGINE_FLAGS]) keep(flags);

function keep(flags) {
  const { status, stderr } = spawnSync(process.execPath, [...flags, fileURLToPath(import.meta.url), CALLS], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}

async function callAll() {
  const bundles = new Bundles();
  const { runProgram } = bundles.load('program');
  const folder = mkdtempSync(join(tmpdir(), 'template-run-'));
  try {
    for (const [template, file] of EXAMPLES) {
      await runProgram([
        'run',
        path(`catalog/templates/demo/${template}`),
        path(`files/${file}`),
        '-o',
        `${folder}/${file}`,
      ]);
      if (process.exitCode !== 0) return;
    }
    await runProgram(['serve', '--help']);
    bundles.load('thread');
    bundles.load('measured-run');
  } finally {
    rmSync(folder, { recursive: true });
  }
  bundles.keepCompiled();
}

function path(example) {
  return fileURLToPath(new URL(`../../examples/${example}`, import.meta.url));
}
