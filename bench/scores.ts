// `scores FOLDER`: how the reader does on collections of real files with right answers, by the collections' own scorers.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failed } from '../workers/failure.ts';
import { type Inspection, inspectFile } from '../workers/inspect.ts';

/** Collection, its scorer, and what the scorer wants to know of each file. */
const COLLECTIONS: readonly (readonly [
  string,
  string,
  (inspection: Inspection) => Readonly<Record<string, unknown>>,
])[] = [
  ['csvsniffer', 'score_dialect.py', ({ head }) => ({ delimiter: head.delimiter, quote: head.quote ?? '' })],
  ['header-rows', 'score_header.py', ({ head }) => ({ header_row: head.headerRow })],
];

const corpora = process.argv[2];
if (corpora === undefined) throw new Error('usage: scores FOLDER');
const folder = mkdtempSync(join(tmpdir(), 'template-run-scores-'));
try {
  for (const [name, scorer, describe] of COLLECTIONS) await score(corpora, name, scorer, describe);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function score(
  root: string,
  name: string,
  scorer: string,
  describe: (inspection: Inspection) => Readonly<Record<string, unknown>>,
): Promise<void> {
  const manifest = join(root, name, 'manifest.jsonl');
  const files = readFileSync(manifest, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { file: string }).file);
  const lines: string[] = [];
  for (const file of files) {
    const path = join(root, name, file);
    if (existsSync(path)) lines.push(JSON.stringify({ file, ...(await predict(path, describe)) }));
  }
  const predictions = join(folder, `${name}.jsonl`);
  writeFileSync(predictions, lines.join('\n'));
  console.log(`${name}: ${lines.length} files`);
  console.log(
    execFileSync('python3', [join(root, 'tools', scorer), manifest, predictions, 'dev'], { encoding: 'utf8' }),
  );
}

/** A failure of the file is an answer too; a fault of ours is not. */
async function predict(
  path: string,
  describe: (inspection: Inspection) => Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return describe(await inspectFile(path));
  } catch (error) {
    if (error instanceof Failed) return { error: error.failure.code };
    throw error;
  }
}
