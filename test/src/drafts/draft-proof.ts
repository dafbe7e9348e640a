// Compares a draft with its sample: every output cell equals the cell of the file, or is its number or date in canonical form, and
// every omitted row is blank, a repeated header, or a correct sum. Shares no code with the drafts.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { LocalEngine } from '../../../src/commands/local-engine.ts';
import { draftTemplate } from '../../../src/drafts/draft-template.ts';
import { SampleRefusedError, templateText } from '../../../src/drafts/sample-profile.ts';
import { Failed } from '../../../workers/protocol/failure.ts';

export type Cell = string | number | boolean | object | null;

export interface Proof {
  /** Null: the file is refused by any Template. */
  readonly draft: string | null;
  /** Differences; empty if the draft is correct. */
  readonly problems: readonly string[];
  readonly rows: number;
}

export async function withEngine<T>(body: (engine: LocalEngine) => Promise<T>): Promise<T> {
  const engine = new LocalEngine({
    threads: 1,
    cores: availableParallelism(),
    inputs: 2,
    memoryBudgetBytes: 512 * 1024 * 1024,
    template: templateText('operations: []', 'yaml'),
    tables: {},
    secretsDirectory: null,
    overrides: { delimiter: null, headerRow: null },
  });
  try {
    return await body(engine);
  } finally {
    await engine.close();
  }
}

export async function proveOn(engine: LocalEngine, path: string): Promise<Proof> {
  let draft: string;
  try {
    draft = await draftTemplate(path, (template) => engine.run(path, template));
  } catch (error) {
    if (!(error instanceof SampleRefusedError) && !(error instanceof Failed)) throw error;
    return { draft: null, problems: [], rows: 0 };
  }
  const json = '{format: ndjson, formula_guard: "off", json: {decimals: string, nulls: include}}';
  const made = await rowsOf(engine, path, draft.replace('output: {format: csv}', `output: ${json}`));
  if (typeof made === 'string') return { draft, problems: [made], rows: 0 };
  const encoding = /encoding: (\[.*?\]|utf-16..)/.exec(draft)?.[1] ?? 'null';
  // Cut as the draft says, where it says it.
  const cut = [...draft.matchAll(/^ {4}((?:delimiter|header_rows?): .*?) {2}#/gm)]
    .map(([, setting]) => `, ${setting}`)
    .join('');
  // Read as the draft says: another sheet, or records in an object.
  const read = [...draft.matchAll(/^ {2}((?:sheet|json): .*?) {2}#/gm)].map(([, setting]) => `, ${setting}`).join('');
  const bare = await rowsOf(
    engine,
    path,
    `input: {csv: {encoding: ${encoding}${cut}}${read}}\noperations: []\noutput: ${json}\n`,
  );
  if (typeof bare === 'string') return { draft, problems: [`bare: ${bare}`], rows: 0 };
  const [first] = await namesOf(engine, path, `csv: {encoding: ${encoding}}${read}`);
  return { draft, problems: compare(bare, made, draft, first ?? []), rows: made.length };
}

async function rowsOf(engine: LocalEngine, path: string, template: string): Promise<string | Cell[][]> {
  const { outcome, outputPath } = await engine.run(path, templateText(template, 'yaml'));
  if (outcome.failure !== null) return `${outcome.failure.code}: ${outcome.failure.message}`;
  const text = outcome.output?.bytes ? Buffer.from(outcome.output.bytes).toString() : readFileSync(outputPath, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => pairsOf(line));
}

/** Returns the header of the file's output. */
async function namesOf(engine: LocalEngine, path: string, input: string): Promise<readonly (readonly string[])[]> {
  const template = `input: {${input}}\noperations: [{slice: {limit: 0}}]\noutput: {format: csv, csv: {delimiter: "\u0001"}}\n`;
  const { outcome } = await engine.run(path, templateText(template, 'yaml'));
  const text = Buffer.from(outcome.output?.bytes ?? []).toString();
  return text.split('\n').map((line) => line.split('\u0001'));
}

/** In the order of the file: JSON.parse would put names that are numbers first. */
function pairsOf(line: string): Cell[] {
  const names = JSON.parse(line.replace(/"((?:[^"\\]|\\.)*)":/g, '"_$1":')) as Record<string, Cell>;
  return Object.values(names);
}

function compare(bare: readonly Cell[][], made: readonly Cell[][], draft: string, header: readonly string[]): string[] {
  const problems: string[] = [];
  let at = 0;
  const stops = /^ {2}- \{stop_when/m.test(draft);
  for (const [index, row] of made.entries()) {
    while (at < bare.length && !isSame(bare[at]!, row) && isLeftOut(bare[at]!, header, draft)) at++;
    const source = bare[at++];
    if (source === undefined) return [...problems, `row ${index + 1} stands nowhere in the file`];
    for (const [column, cell] of row.entries()) {
      if (!isCanonical(source[column] ?? null, cell)) {
        problems.push(
          `row ${index + 1}, column ${column + 1}: ${JSON.stringify(source[column])} became ${JSON.stringify(cell)}`,
        );
      }
    }
  }
  const left = bare.slice(at).filter((row) => !isLeftOut(row, header, draft));
  if (left.length > (stops ? 1 : 0)) problems.push(`${left.length} rows are missing`);
  return problems;
}

function isSame(source: readonly Cell[], row: readonly Cell[]): boolean {
  return row.every((cell, column) => isCanonical(source[column] ?? null, cell));
}

function isLeftOut(row: readonly Cell[], header: readonly string[], draft: string): boolean {
  if (row.every((cell) => cell === null || (typeof cell === 'string' && cell.trim() === ''))) return true;
  if (!draft.includes('- {drop_repeated_headers: {}}')) return false;
  return row.every((cell, at) => {
    const [name, text] = [plain(header[at] ?? ''), plain(String(cell))];
    return cell === null || text === name || text === name.replace(/_\d+$/, '');
  });
}

function plain(text: string): string {
  return text.replace(/^"|"$/g, '').replaceAll('""', '"').normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase();
}

/** True if the output cell is the input cell: unchanged, without outer blanks, or as its number or date. */
export function isCanonical(source: Cell, made: Cell): boolean {
  if (source === null || (typeof source === 'string' && source.trim() === '')) {
    return made === null || (typeof made === 'string' && made.trim() === '');
  }
  if (made === null) return false;
  if (typeof source !== 'string' || typeof made === 'object')
    return JSON.stringify(source) === JSON.stringify(made) || sameNumber(String(source), String(made));
  const [before, after] = [source.trim(), String(made)];
  return before === after.trim() || sameNumber(before, after) || sameDate(before, after);
}

/** Compares digits, sign and number of digits after the decimal mark. */
function sameNumber(before: string, after: string): boolean {
  if (/^-?[\d.]+e[-+]?\d+$/i.test(before)) return Number(before) === Number(after);
  const made = /^(-?)(\d+)(?:\.(\d+))?$/.exec(after);
  if (made === null || !/^[-+−(]?\s?[\d.,'’\s]+\)?-?$/.test(before) || /^[-+]?0\d/.test(before)) return false;
  const [, sign = '', whole = '', fraction = ''] = made;
  const digits = before.replace(/\D/g, '');
  if (digits.replace(/^0+/, '') !== (whole + fraction).replace(/^0+/, '')) return false;
  const isZero = /^0*$/.test(digits);
  const isNegative = /^[-−(]|-$/.test(before);
  if (!isZero && isNegative !== (sign === '-')) return false;
  const behind = /[.,](\d*)$/.exec(before.replace(/[)-]+$/, ''))?.[1];
  if (fraction !== '') return behind === fraction;
  return behind === undefined || behind === '' || (behind.length === 3 && /\d{1,3}([.,' ’\u00a0]\d{3})+$/.test(before));
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** The same year, and day and month in either order: which of them is which is shown by other tests. */
function sameDate(before: string, after: string): boolean {
  const made = /^(\d{4})-(\d\d)-(\d\d)$/.exec(after);
  if (made === null) return false;
  const [, year, month, day] = made.map(Number) as [number, number, number, number];
  const named = MONTHS.findIndex((name) => before.toLowerCase().includes(name));
  const numbers = (
    /^\d{8}$/.exec(before) ? [before.slice(0, 4), before.slice(4, 6), before.slice(6)] : (before.match(/\d+/g) ?? [])
  ).map(Number);
  const wanted = named >= 0 || /\p{L}/u.test(before) ? [year, day] : [year, month, day];
  return wanted.every((number) => numbers.includes(number)) && numbers.length === wanted.length;
}
