// Scores delimiters and header rows of real files that `inspect` detects, against manual annotations.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inputFormats } from '../workers/input/index.ts';
import { compileKernels } from '../workers/kernel/bindings/kernel.ts';
import { Failed } from '../workers/protocol/failure.ts';
import { type Inspection, inspectFile } from '../workers/run/inspect.ts';

type Answer = Readonly<Record<string, unknown>>;

interface Collection {
  readonly name: string;
  readonly scorer: string;
  /** Converts an inspection to the form that the scorer expects. */
  readonly describe: (inspection: Inspection) => Answer;
  /** For each score, the pattern that finds it in the scorer's output. */
  readonly scores: Readonly<Record<string, RegExp>>;
}

const COLLECTIONS: readonly Collection[] = [
  {
    name: 'csvsniffer',
    scorer: 'score_dialect.py',
    describe: ({ head }) => ({ delimiter: head.delimiter, quote: head.quote ?? '' }),
    scores: { 'dialect consensus': /^consensus +n=\d+ correct=(\d+)/m },
  },
  {
    name: 'header-rows',
    scorer: 'score_header.py',
    describe: ({ head }) => ({ header_row: head.headerRow }),
    scores: {
      'header rows, hard': /^hard .*?exact [\d.]+ \(cluster ([\d.]+)\)/m,
      'header rows, easy': /^easy .*?exact [\d.]+ \(cluster ([\d.]+)\)/m,
    },
  },
];

/** @param folder folder for predictions */
export async function scoreDetection(corpora: string, folder: string): Promise<Record<string, number>> {
  const kernels = compileKernels();
  const scores: Record<string, number> = {};
  for (const { name, scorer, describe, scores: places } of COLLECTIONS) {
    const manifest = join(corpora, name, 'manifest.jsonl');
    const lines: string[] = [];
    for (const file of filesOf(manifest)) {
      const path = join(corpora, name, file);
      if (existsSync(path)) lines.push(JSON.stringify({ file, ...(await predict(path, kernels, describe)) }));
    }
    const predictions = join(folder, `${name}.jsonl`);
    writeFileSync(predictions, lines.join('\n'));
    const script = join(corpora, 'tools', scorer);
    const printed = execFileSync('python3', [script, manifest, predictions, 'dev'], { encoding: 'utf8' });
    console.log(`${name}: ${lines.length} files\n${printed}`);
    for (const [score, place] of Object.entries(places)) {
      const found = place.exec(printed)?.[1];
      if (found !== undefined) scores[score] = Number(found);
    }
  }
  return scores;
}

/** A failure caused by the file is a valid answer; a fault of the engine is not. */
async function predict(
  path: string,
  kernels: WebAssembly.Module,
  describe: (inspection: Inspection) => Answer,
): Promise<Answer> {
  try {
    return describe(await inspectFile(path, { kernels, formats: inputFormats }));
  } catch (error) {
    if (error instanceof Failed) return { error: error.failure.code };
    throw error;
  }
}

function filesOf(manifest: string): string[] {
  const lines = readFileSync(manifest, 'utf8').trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { file: string }).file);
}
