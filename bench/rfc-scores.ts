// Scores on collections of small files for readers of RFC 4180. Each file has its cells as JSON next to it, or no JSON
// if it is malformed.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runFiles } from './run-files.ts';

/** Files whose JSON contradicts the CSV. */
const WRONG_ANSWERS = ['location_coordinates'];

/**
 * Documented differences: a file of blank lines is refused as empty, and a quote inside an unquoted field is an
 * ordinary character.
 */
const OTHERWISE_DECIDED = ['all-empty', 'bad-unescaped-quote'];

type Grid = readonly (readonly string[])[];

/** Returns for each collection how many files were read or refused correctly. */
export function scoreRfc(corpora: string, folder: string): Record<string, number> {
  const test = join(corpora, 'csv-test-data');
  const named = (name: string): boolean => name.includes('header-');
  const spectrum = namesOf(join(corpora, 'csv-spectrum', 'csvs')).filter((name) => !WRONG_ANSWERS.includes(name));
  const others = namesOf(join(test, 'csv')).filter((name) => !OTHERWISE_DECIDED.includes(name));
  return {
    'csv-spectrum': count(join(corpora, 'csv-spectrum'), 'csvs', spectrum, join(folder, 'spectrum'), 'header_row: 0'),
    'csv-test-data':
      count(test, 'csv', others.filter(named), join(folder, 'test-named'), 'header_row: 0', 'foo, bar, baz') +
      count(
        test,
        'csv',
        others.filter((name) => !named(name)),
        join(folder, 'test-rows'),
        'header_row: none',
      ),
  };
}

function count(root: string, place: string, names: readonly string[], folder: string, header: string, columns = '') {
  mkdirSync(folder);
  const declared = columns === '' ? '[]' : `[${columns.split(', ').map((name) => `{name: ${name}}`)}]`;
  const template = `
format: 1
name: Strict
input: {columns: ${declared}, csv: {delimiter: ",", ${header}, ragged: fail, stray_quotes: fail}}
operations: []
output: {format: json, json: {}}
`;
  const outputs = runFiles(
    names.map((name) => join(root, place, `${name}.csv`)),
    template,
    folder,
  );
  const wrong = names.filter((name, index) => {
    const right = join(root, 'json', `${name}.json`);
    const output = outputs[index] ?? null;
    if (!existsSync(right)) return output !== null;
    return output === null || JSON.stringify(gridAt(output)) !== JSON.stringify(gridAt(right));
  });
  console.log(`${basename(root)}: ${names.length - wrong.length} of ${names.length} ${wrong.join(' ')}`);
  return names.length - wrong.length;
}

/**
 * Rows of cells, whether they are objects or lists. Some collections represent an empty cell as null, others as a text.
 */
function gridAt(path: string): Grid {
  const rows = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string | null>[];
  return rows.map((row) => Object.values(row).map((cell) => cell ?? ''));
}

function namesOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.csv'))
    .map((name) => basename(name, '.csv'));
}
