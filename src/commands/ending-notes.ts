// Says where a file is to get the ending of another format than the one that the Template writes: a spreadsheet program calls a
// CSV named report.xlsx broken, and the Template alone decides what an output is.
import { extname } from 'node:path';
import { outputFormats } from '../../workers/output/index.ts';

/** Further endings by which people call a format. */
const OTHER_ENDINGS: ReadonlyMap<string, string> = new Map([
  ['jsonl', 'ndjson'],
  ['tab', 'tsv'],
  ['xls', 'xlsx'],
  ['xlsm', 'xlsx'],
]);

/** Endings of compressed files: `run` writes none. */
const COMPRESSED: readonly string[] = ['gz', 'zst', 'zip'];

/**
 * @param paths of the outputs; null: standard output
 * @param ending of the Template's outputs, without a dot
 * @param others that say as well what they hold
 * @returns one line for each such file
 */
export function endingNotes(
  paths: readonly (string | null)[],
  ending: string,
  others: readonly string[],
): readonly string[] {
  return paths.flatMap((path) => {
    const own = path === null ? '' : extname(path).slice(1).toLowerCase();
    if (COMPRESSED.includes(own))
      return [`note: ${path} will hold ${ending} as it is: run does not compress its outputs.`];
    const format = OTHER_ENDINGS.get(own) ?? own;
    if (!outputFormats.has(format) || format === ending || others.includes(format)) return [];
    return [
      `note: ${path} will hold ${ending}, as the Template says. For ${own} write output: {format: ${format}} there.`,
    ];
  });
}
