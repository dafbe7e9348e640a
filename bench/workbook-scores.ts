// Scores of the workbook reader on collections of real workbooks with known results. The scores fail if one is below
// its minimum, or if an unexplained result is missed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { KIND_BOOLEAN, KIND_DATETIME } from '../workers/kernel/layout/cells.ts';
import { Failed } from '../workers/protocol/failure.ts';
import { type ReadCell, type ReadSheet, readSheetOf, withFile } from './workbook-cells.ts';
import { EXPLAINED_MISSES, expectedGrid, textScore } from './workbook-truth.ts';

/** Time limit for a hostile file, in milliseconds. */
const HOSTILE_MILLISECONDS_MAX = 2_000;

/** Minimum scores, which are only ever raised. */
const FLOORS = { shownCells: 0.963, textCells: 0.992, calamine: 56, converted: 7, odd: 12 };

/** @returns scores below their minimum, and missed results without an explanation */
export async function scoreWorkbooks(corpora: string): Promise<readonly string[]> {
  return [
    ...(await scoreTruth(join(corpora, 'xlsx-excel-truth'), join(corpora, 'tools', 'score_xlsx.py'))),
    ...(await scoreCalamine(join(corpora, 'calamine'))),
    ...(await scoreConverted(join(corpora, 'xlsx2csv'))),
    ...(await scoreHostile(join(corpora, 'poi-hostile'))),
  ];
}

/**
 * Compares the first sheet of each workbook with Excel's export. The collection's scorer compares what Excel displays,
 * which for numbers depends on their number format; texts alone show what the file contains.
 */
async function scoreTruth(root: string, scorer: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-workbooks-'));
  const short: string[] = [];
  const scores: number[] = [];
  try {
    for (const { file, sheets } of lines<{ file: string; sheets: { index: number; csv: string }[] }>(
      root,
      'manifest.jsonl',
    )) {
      const path = join(root, file);
      const [sheet] = sheets;
      if (sheet === undefined || !existsSync(path)) continue;
      const read = await attempt(path, (_, place) => place === sheet.index);
      if (typeof read === 'string') {
        short.push(`${file}: ${read}`);
        continue;
      }
      writeFileSync(join(folder, `${basename(file)}.${sheet.index}.csv`), csvOf(read, shown));
      const score = textScore(expectedGrid(join(root, sheet.csv)), read);
      if (score === null) continue;
      scores.push(score);
      if (score < 1 && EXPLAINED_MISSES[basename(file)] === undefined)
        short.push(`${file}: ${score.toFixed(3)} of its texts`);
    }
    const manifest = join(root, 'manifest.jsonl');
    const told = execFileSync('python3', [scorer, manifest, root, folder, 'dev'], { encoding: 'utf8' });
    const shownCells = Number(/F1 ([0-9.]+)/.exec(told)?.[1]);
    const textCells = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    const perfect = scores.filter((score) => score === 1).length;
    console.log(`xlsx-excel-truth: F1 ${shownCells} of cells as Excel shows them, ${textCells.toFixed(4)} of texts,`);
    console.log(
      `  ${perfect} of ${scores.length} perfect in their texts, ${Object.keys(EXPLAINED_MISSES).length} explained`,
    );
    return [...short, ...below('shownCells', shownCells), ...below('textCells', textCells)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function below(name: keyof typeof FLOORS, score: number): string[] {
  return score >= FLOORS[name] ? [] : [`workbooks, ${name}: ${score} is below ${FLOORS[name]}`];
}

/** Grids asserted by the collection's own tests, for workbooks in this format. */
async function scoreCalamine(root: string): Promise<string[]> {
  type Case = {
    test: string;
    files: string[];
    sheets: string[];
    expect_error: boolean;
    ranges: { range?: unknown[][] }[];
  };
  let right = 0;
  let all = 0;
  for (const expected of lines<Case>(root, 'expectations.jsonl')) {
    for (const [index, name] of expected.files.entries()) {
      const path = join(root, 'files', name);
      if (!/\.xls[xm]$/.test(name) || !existsSync(path)) continue;
      const wanted = expected.sheets[index] ?? expected.sheets[0];
      const read = await attempt(path, (sheet, place) => (wanted === undefined ? place === 0 : sheet === wanted));
      const grid = expected.ranges[index]?.range;
      const isWrongSheet = expected.expect_error && expected.files[0] !== 'pass_protected.xlsx';
      const isRight =
        typeof read === 'string'
          ? expected.expect_error
          : isWrongSheet || (!expected.expect_error && (grid === undefined || sameGrid(grid, read)));
      all++;
      if (isRight) right++;
      else
        console.log(
          `  ${expected.test} ${name}: ${typeof read === 'string' ? read : JSON.stringify([...read.values()])}`,
        );
    }
  }
  console.log(`calamine: ${right} of ${all}`);
  return below('calamine', right);
}

/** Compares line by line with the output of another converter. */
async function scoreConverted(root: string): Promise<string[]> {
  const short: string[] = [];
  let right = 0;
  let all = 0;
  for (const { name, path } of converted(root)) {
    const read = await attempt(path, (_, place) => place === 0);
    const wanted = withoutPadding(readFileSync(join(root, `${name}.csv`), 'utf8'));
    const got = typeof read === 'string' ? read : withoutPadding(csvOf(read));
    all++;
    if (got === wanted) right++;
    else if (EXPLAINED_MISSES[name] === undefined) short.push(`xlsx2csv, ${name}: other than it writes`);
  }
  console.log(`xlsx2csv: ${right} of ${all} as it writes them`);
  return [...short, ...below('converted', right)];
}

/** The other converter pads rows and the sheet to the dimensions that the sheet declares. */
function withoutPadding(text: string): string {
  return text.replaceAll('\r', '').replace(/,+$/gm, '').trimEnd();
}

function converted(root: string): { name: string; path: string }[] {
  return lines<{ [key: string]: unknown }>(root, 'manifest.jsonl').flatMap((line) => {
    const file = Object.values(line).find((value) => typeof value === 'string' && /\.xls[xm]$/.test(value));
    const path = join(root, basename(String(file)));
    const name = basename(path).replace(/\.xls[xm]$/, '');
    return existsSync(path) && existsSync(join(root, `${name}.csv`)) ? [{ name, path }] : [];
  });
}

/** Every file must be read or refused with a code, within the time limit. Any other error ends the scores. */
async function scoreHostile(root: string): Promise<string[]> {
  const short: string[] = [];
  let odd = 0;
  let slowest = 0;
  let refused = 0;
  let all = 0;
  for (const { file, cls } of lines<{ file: string; cls: string }>(root, 'manifest.jsonl')) {
    const path = join(root, file);
    if (!existsSync(path)) continue;
    const since = performance.now();
    const read = await attempt(path, (_, place) => place === 0);
    const milliseconds = performance.now() - since;
    slowest = Math.max(slowest, milliseconds);
    all++;
    if (typeof read === 'string') refused++;
    if (milliseconds > HOSTILE_MILLISECONDS_MAX) short.push(`${file} (${cls}): ${Math.round(milliseconds)} ms`);
    if (typeof read !== 'string' && cls === 'odd_but_readable') odd++;
  }
  console.log(
    `poi-hostile: ${all} files, ${refused} refused, the slowest ${Math.round(slowest)} ms, ${odd} odd ones read`,
  );
  return [...short, ...below('odd', odd)];
}

/** Returns the rows, or the reason for the refusal. */
async function attempt(path: string, choose: (name: string, index: number) => boolean): Promise<ReadSheet | string> {
  try {
    return (await withFile(path, (file) => readSheetOf(file, choose))).rows;
  } catch (error) {
    if (error instanceof Failed) return `${error.failure.code} ${error.failure.message}`;
    throw error;
  }
}

function lines<T>(root: string, name: string): T[] {
  const text = readFileSync(join(root, name), 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as T);
}

/**
 * Formats values as Excel displays them if the scorer cannot distinguish their kind from words: errors, booleans, and
 * dates without the T.
 */
function shown(cell: ReadCell): string {
  if (cell.kind === KIND_BOOLEAN) return cell.text!.toUpperCase();
  if (cell.kind === KIND_DATETIME) return cell.text!.replace('T', ' ');
  return cell.shown ?? cell.text!;
}

function csvOf(rows: ReadSheet, textOf: (cell: ReadCell) => string = (cell) => cell.text ?? ''): string {
  const last = Math.max(0, ...rows.keys());
  const out: string[] = [];
  for (let row = 1; row <= last; row++) {
    const cells = Array.from(rows.get(row) ?? [], (cell) => (cell === undefined ? '' : textOf(cell)));
    out.push(cells.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(','));
  }
  return `${out.join('\n')}\n`;
}

/** Empty rows and columns around a grid are ignored. */
function sameGrid(wanted: readonly unknown[][], rows: ReadSheet): boolean {
  const flat = (cells: readonly unknown[]): string =>
    cells.filter((cell) => cell !== null && cell !== undefined && cell !== '').join('\u0001');
  const got = [...rows.values()].map((cells) => flat(Array.from(cells, (cell) => cell?.text)));
  return wanted.map(flat).filter(Boolean).join('\n') === got.filter(Boolean).join('\n');
}
