// Whole tables: files of the Pollock benchmark through an empty Template, with nothing told, against the clean tables that
// its authors made by hand. Vitagliano et al.: "Pollock: A Data Loading Benchmark", PVLDB 16(8), 2023.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inputFormats } from '../workers/input/index.ts';
import { inspectFile } from '../workers/run/inspect.ts';
import { runFiles } from './run-files.ts';

/** Cells as they are read: the guard of formulas is the output's matter. */
const EMPTY = (header: boolean): string => `
format: 1
name: Everything
input: {csv: {encoding: ${ENCODING}}}
operations: []
output: {format: csv, formula_guard: "off", csv: {header: ${header}}}
`;

/** Nothing is told of the encoding either. */
const ENCODING = 'auto';

/**
 * Real files. The names of columns are scored twice: as `run` writes them, where those that stand twice get a number and
 * those that are missing are column_1 and so on; and as they stand in the file, with the benchmark's own names (col_0)
 * for a file without a header, as the clean tables have them.
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
 * Says what the names of columns cost that `run` makes. A Template finds columns by their names, so that each has one that is its
 * own: the language says that a column without a name is column_<number> and that of equal names all but the first get a number
 * (duplicate_headers: suffix). The clean tables have the file's own instead: blank, twice, or col_0 and so on for a file
 * without a header; three of the ten measures compare nothing but them.
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

/** Which names of a file are not its own. */
async function madeNames(path: string): Promise<string> {
  const { head } = await inspectFile(path, { formats: inputFormats });
  if (head.headerRow === null) return 'no header (column_1, not col_0)';
  if (head.headers.some((name) => name.trim() === '')) return 'blank names (column_2)';
  return new Set(head.headers).size < head.headers.length ? 'names that stand twice (x_2)' : 'other';
}

/** One table, spoilt in many ways. */
export function scorePolluted(corpora: string, folder: string): Record<string, number> {
  const root = join(corpora, 'pollock');
  const files = filesOf(root).filter((file) => existsSync(join(root, file)));
  const loaded = load({ root, files, place: '', folder: join(folder, 'polluted'), template: EMPTY(true) });
  // The scorer looks for the clean table by the name of the file.
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
  /** Folder of the files in `root`. */
  readonly place: string;
  readonly folder: string;
  readonly template: string;
}

/** Gives the folder with what came of the files, by their names; those that were refused are missing. */
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
  /** Of 10. */
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

/** Of 10: files below it are listed. */
const LISTED_BELOW = 9.5;

function filesOf(root: string): string[] {
  return manifestOf<{ file: string }>(root).map(({ file }) => file);
}

function manifestOf<T>(root: string): T[] {
  const lines = readFileSync(join(root, 'manifest.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}
