// `scores FOLDER`: scores of the reader on collections of real files with known results, by the collections' own
// scorers. Fails if a score is below its minimum, so that an achieved score is not lost.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scoreDetection } from './detection-scores.ts';
import { scoreDrafts } from './draft-scores.ts';
import { scoreLikes } from './like-scores.ts';
import { scoreRfc } from './rfc-scores.ts';
import { scorePolluted, scoreSurvey } from './table-scores.ts';
import { scoreWorkbooks } from './workbook-scores.ts';

/** Minimum scores, by name as printed by `scores`. They are only ever raised. */
const FLOORS: Readonly<Record<string, number>> = {
  'dialect consensus': 76,
  'header rows, hard': 0.98,
  'header rows, easy': 1,
  'Pollock survey': 9.77,
  'Pollock survey, as run writes it': 8.98,
  'Pollock polluted': 9.78,
  'csv-spectrum': 11,
  'csv-test-data': 23,
  'draft, lines of recipes': 0.68,
  'like, precision of active matches': 0.98,
  'like, recall': 0.7,
  'like, pairs held back': 200,
};

const corpora = process.argv[2];
if (corpora === undefined) throw new Error('usage: scores FOLDER');
const folder = mkdtempSync(join(tmpdir(), 'template-run-scores-'));
try {
  const scores = {
    ...(await scoreDetection(corpora, folder)),
    ...(await scoreSurvey(corpora, folder)),
    ...scorePolluted(corpora, folder),
    ...scoreRfc(corpora, folder),
    ...(await scoreDrafts()),
    ...scoreLikes(),
  };
  for (const [name, floor] of Object.entries(FLOORS)) {
    const score = scores[name];
    const isLow = score === undefined || score < floor;
    console.log(`${isLow ? 'BELOW ITS FLOOR' : 'ok'}: ${name} ${score ?? 'was not measured'}, floor ${floor}`);
    if (isLow) process.exitCode = 1;
  }
  const short = await scoreWorkbooks(corpora);
  for (const line of short) console.error(line);
  if (short.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
