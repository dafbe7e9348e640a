// Scores whole tables: files of the Pollock benchmark through an empty Template, without any settings, against the
// clean tables that its authors created manually. Vitagliano et al.: "Pollock: A Data Loading Benchmark", PVLDB 16(8),
// 2023.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inputFormats } from '../workers/input/index.ts';
import { inspectFile } from '../workers/run/inspect.ts';
import { runFiles } from './run-files.ts';

/** Cells as they are read: formula guarding is a feature of the output. */
const EMPTY = (header: boolean): string => `
format: 1
name: Everything
input: {csv: {encoding: ${ENCODING}}}
operations: []
output: {format: csv, formula_guard: "off", csv: {header: ${header}}}
`;

/** The encoding is detected, too. */
const ENCODING = 'auto';

/**
 * Scores real files. Names of columns are scored twice: as `run` writes them, with numbers for repeated names and
 * column_1 and so on for missing ones; and as written in the file, with the benchmark's names (col_0) for a file
 * without a header, as in the clean tables.
 */
export async function scoreSurvey(corpora: string, folder: string): Promise<Record<string, number>> {
  const root = join(corpora, 'pollock_survey_sample');
  const files = filesOf(root).filter((file) => existsSync(join(root, 'csv', file)));
  const written = load({ root, files, place: 'csv', folder: join(folder, 'survey-written'), template: EMPTY(true) });
  const rows = load({ root, files, place: 'csv', folder: join(folder, 'survey-rows'), template: EMPTY(false) });
  for (const file of files) {
    const path = join(rows, file);
    if (!existsSync(path)) continue;
    const { head } = await inspectFile(join(root, 'csv', file), { formats: inputFormats });
    const names = head.headerRow === null ? head.headers.map((_, column) => `col_${column}`) : head.headers;
    const header = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',');
    writeFileSync(path, Buffer.concat([Buffer.from(`${header}\n`), readFileSync(path)]));
  }
  const clean = new Map(files.map((file) => [file, join(root, 'clean')]));
  const asInFile = scoresOf(corpora, folder, rows, clean);
  const asWritten = scoresOf(corpora, folder, written, clean);
  await explainNames({ csv: join(root, 'csv'), asInFile: asInFile.byFile, asWritten: asWritten.byFile });
  return { 'Pollock survey': asInFile.mean, 'Pollock survey, as run writes it': asWritten.mean };
}

interface NamedScores {
  /** Folder of the files. */
  readonly csv: string;
  readonly asInFile: ReadonlyMap<string, number>;
  readonly asWritten: ReadonlyMap<string, number>;
}

/**
 * Reports how many points the column names of `run` cost. A Template finds columns by unique names: a column without a
 * name becomes column_<number>, and of equal names, all but the first get a number (duplicate_headers: suffix). The
 * clean tables contain the names of the file: blank, repeated, or col_0 and so on for a file without a header. Three of
 * the ten measures compare only the names.
 */
async function explainNames({ csv, asInFile, asWritten }: NamedScores): Promise<void> {
  const lost = new Map<string, { files: number; points: number }>();
  for (const [file, score] of asInFile) {
    const points = score - (asWritten.get(file) ?? 0);
    if (points <= 0) continue;
    const why = await madeNames(join(csv, file));
    const before = lost.get(why) ?? { files: 0, points: 0 };
    lost.set(why, { files: before.files + 1, points: before.points + points });
  }
  for (const [why, { files, points }] of lost) {
    console.log(`names that run makes: ${why}: ${files} files, ${(points / asInFile.size).toFixed(3)} of the mean`);
  }
}

/** Returns which kind of names of a file was changed. */
async function madeNames(path: string): Promise<string> {
  const { head } = await inspectFile(path, { formats: inputFormats });
  if (head.headerRow === null) return 'no header (column_1, not col_0)';
  if (head.headers.some((name) => name.trim() === '')) return 'blank names (column_2)';
  return new Set(head.headers).size < head.headers.length ? 'names that stand twice (x_2)' : 'other';
}

/** Scores one table, corrupted in many ways. */
export function scorePolluted(corpora: string, folder: string): Record<string, number> {
  const root = join(corpora, 'pollock');
  const files = filesOf(root).filter((file) => existsSync(join(root, file)));
  const loaded = load({ root, files, place: '', folder: join(folder, 'polluted'), template: EMPTY(true) });
  // The scorer finds the clean table by the name of the file.
  const clean = join(folder, 'polluted-clean');
  mkdirSync(clean);
  for (const line of manifestOf<{ file: string; clean: string }>(root)) {
    if (existsSync(join(root, line.file))) copyFileSync(join(root, line.clean), join(clean, basename(line.file)));
  }
  const names = files.map((file) => basename(file));
  const scores = scoresOf(corpora, folder, loaded, new Map(names.map((name) => [name, clean])));
  return { 'Pollock polluted': scores.mean };
}

interface Loading {
  readonly root: string;
  readonly files: readonly string[];
  /** Folder of the files inside `root`. */
  readonly place: string;
  readonly folder: string;
  readonly template: string;
}

/** Returns the folder with the results of the files, by their names. Refused files are missing. */
function load({ root, files, place, folder, template }: Loading): string {
  mkdirSync(folder);
  const paths = files.map((file) => join(root, place, file));
  const outputs = runFiles(paths, template, folder);
  const loaded = join(folder, 'loaded');
  mkdirSync(loaded);
  for (const [index, file] of files.entries()) {
    const output = outputs[index];
    if (output !== null && output !== undefined) copyFileSync(output, join(loaded, basename(file)));
  }
  return loaded;
}

interface Scores {
  readonly mean: number;
  /** Scores of 10 at most. */
  readonly byFile: ReadonlyMap<string, number>;
}

function scoresOf(corpora: string, folder: string, loaded: string, clean: ReadonlyMap<string, string>): Scores {
  const [cleanFolder] = clean.values();
  const names = join(folder, 'names.txt');
  writeFileSync(names, [...clean.keys()].join('\n'));
  const script = join(corpora, 'tools', 'score_pollock.py');
  const printed = execFileSync('python3', [script, cleanFolder!, loaded, names], { encoding: 'utf8' });
  const lines = printed.trim().split('\n');
  const low = lines.filter((line) => Number(line.trim().split(' ')[0]) < LISTED_BELOW);
  console.log([...low, lines.at(-1)].join('\n'));
  const byFile = new Map<string, number>();
  for (const line of lines.slice(0, -1)) {
    const [score, ...name] = line.trim().split(' ');
    byFile.set(name.join(' '), Number(score));
  }
  return { mean: Number(/^MEAN ([\d.]+)/m.exec(printed)?.[1]), byFile };
}

/** Files with a lower score (of 10) are listed. */
const LISTED_BELOW = 9.5;

function filesOf(root: string): string[] {
  return manifestOf<{ file: string }>(root).map(({ file }) => file);
}

function manifestOf<T>(root: string): T[] {
  const lines = readFileSync(join(root, 'manifest.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}
