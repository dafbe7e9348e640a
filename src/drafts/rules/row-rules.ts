// Lines for rows that are not data, for duplicate rows, and for superfluous whitespace in cells.

import type { ColumnProfile, SampleCell } from '../column-profile.ts';
import { columnSet, counted, type DraftedSample, type DraftLine, list, quoted, scalar } from '../draft-line.ts';
import { type FooterCell, isAmount, isBlank, noteCell, type Subtotals, sumWord } from '../sample-profile.ts';
import { DECIMAL_MARKS, isSameNumber } from '../typed-cells.ts';
import { totalNotations, totalParameters } from './number-rules.ts';

// Lines for superfluous whitespace in and around cells.

export function trimLines({ profile, names }: DraftedSample): DraftLine[] {
  const padded = names.filter((_, at) => profile.columns[at]!.padded > 0);
  if (padded.length === 0) return [];
  const cells = profile.columns.reduce((sum, column) => sum + column.padded, 0);
  const text = `{text: {columns: ${columnSet(padded)}, steps: [trim]}}`;
  const evidence = `${counted(cells, 'cell')} with spaces at the start or end`;
  return [{ place: 'operation', text, evidence, isActive: true }];
}

/** Only proposed, because repeated spaces may be intended, as in fixed-width text. */
export function spaceLines({ profile, names }: DraftedSample): DraftLine[] {
  const spaced = names.filter((_, at) => profile.columns[at]!.spaced > 0);
  if (spaced.length === 0) return [];
  const cells = profile.columns.reduce((sum, column) => sum + column.spaced, 0);
  const text = `{text: {columns: ${columnSet(spaced)}, steps: [collapse_spaces]}}`;
  const evidence = `${counted(cells, 'cell')} with several spaces between words`;
  return [{ place: 'operation', text, evidence, isActive: false }];
}

// Lines for rows that are not data (total rows and notes in the footer, repeated headers, blank rows) and for
// duplicate rows.

/** The word cell of a total row, and the columns whose values add up to the amounts in that row. */
export interface ProvenFooter {
  readonly column: number;
  readonly word: string;
  readonly sums: readonly number[];
}

/** Null: the footer has no total row, or its amounts are not the sums of the cells above. */
export function provenFooter(sample: DraftedSample): ProvenFooter | null {
  const { footer, columns, bodyRows, sums: known } = sample.profile;
  const first = footer[0]?.cells ?? [];
  const word = sumWord(first);
  if (word === null || (footer.length > 1 && footer.slice(1).some(({ cells }) => !cells.every(isBlank)))) return null;
  const isOther = (cell: SampleCell, at: number): boolean =>
    isOfText(columns[at]!) || String(cell) === String(bodyRows);
  const amounts = first.flatMap((cell, at) => (at !== word.column && !isBlank(cell) && isAmount(cell) ? [at] : []));
  const sums = amounts.filter((at) => isTotal(columns[at]!, first[at]!, known === null ? null : (known.get(at) ?? '')));
  const areProven = amounts.every((at) => sums.includes(at) || isOther(first[at]!, at));
  return areProven && sums.length > 0 ? { column: word.column, word: word.text, sums } : null;
}

/** @param sum sum of the column if a Run computed it, otherwise null */
function isTotal(column: ColumnProfile, cell: SampleCell, sum: string | null): boolean {
  return totalNotations(column).some(({ decimal }) =>
    sum === null ? column.numbers.isSum(String(cell), decimal) : isSameNumber(String(cell), decimal, sum),
  );
}

/** True if no cell is a number. A number below such cells is not their sum; it is often the number of rows. */
function isOfText({ numbers, nativeNumbers }: ColumnProfile): boolean {
  return nativeNumbers === 0 && DECIMAL_MARKS.every((mark) => numbers.marks[mark].reads === 0);
}

export function footerLines(sample: DraftedSample): DraftLine[] {
  const { profile, names } = sample;
  const [first] = profile.footer;
  if (first === undefined) return [];
  const word = sumWord(first.cells);
  const { column, text: known } = word ?? noteCell(first.cells)!;
  // The filter for subtotals also drops a total with the same word.
  if (word !== null && hasSubtotalWord(profile.subtotals, word)) return [];
  const proven = provenFooter(sample);
  const text = `{stop_when: {where: '${expressionName(names[column]!)} == ${expressionText(known)}'}}`;
  const rows = `${counted(profile.footer.length, 'row')} at the end`;
  const evidence =
    word === null
      ? `${rows} with at most one filled cell: probably notes`
      : proven === null
        ? `${rows}, whose amounts are not the sums of the cells above`
        : `${rows}; ${counted(proven.sums.length, 'amount is the sum', 'amounts are the sums')} of the cells above`;
  const line = { text, evidence, isActive: proven !== null, rowsDropped: profile.footer.length };
  return [{ place: 'operation', ...line, footer: 'end' }];
}

function hasSubtotalWord(subtotals: Subtotals | null, { column, text }: FooterCell): boolean {
  return subtotals !== null && column === subtotals.column && subtotals.words.includes(text);
}

/** Drops the total rows above the end of the table. The rows of which they are sums remain. */
export function subtotalLines(sample: DraftedSample): DraftLine[] {
  const { subtotals, footer } = sample.profile;
  if (subtotals === null) return [];
  const { column } = subtotals;
  const below = footer.filter(({ cells }) => {
    const word = sumWord(cells);
    return word !== null && hasSubtotalWord(subtotals, word);
  }).length;
  const rows = subtotals.rows + below;
  const isProven = provenFooter(sample) !== null;
  const provenRows = subtotals.provenRows === null ? null : subtotals.provenRows + (isProven ? below : 0);
  // The rows add up to the total at the end only if the subtotals are left out.
  const isProvenByTotal = provenRows === null && isProven;
  const proof =
    provenRows === null
      ? isProvenByTotal
        ? 'without them, the rows add up to the total at the end'
        : 'their amounts were not compared with the rows above them'
      : provenRows === rows
        ? 'their amounts are the sums of rows above them'
        : `the amounts of ${counted(provenRows, 'row')} are the sums of rows above them`;
  return [
    {
      place: 'operation',
      text: subtotalFilter(subtotals, sample.names[column]!),
      evidence: `${counted(rows, 'row')} with a word for a total; ${proof}`,
      isActive: isProvenByTotal || provenRows === rows,
      rowsDropped: rows,
    },
  ];
}

/** Maximum number of words that are compared one by one. More words, which probably contain names of groups, are a list. */
const WORDS_MAX = 3;

/** The operation that drops total rows, for a column with this name. */
export function subtotalFilter({ words }: Pick<Subtotals, 'words'>, name: string): string {
  const column = expressionName(name);
  const shared = words.length === 1 ? null : sharedWord(words);
  const where =
    shared !== null
      ? `${column}.${shared.at === 'start' ? 'startsWith' : 'endsWith'}(${expressionText(shared.text)})`
      : words.length <= WORDS_MAX
        ? words.map((word) => `${column} == ${expressionText(word)}`).join(' || ')
        : `${column} in [${words.map(expressionText).join(', ')}]`;
  return `{filter: {where: '${where}', mode: drop}}`;
}

/** Returns the first or the last word, with its space, that all texts have, such as `Total ` of `Total North` and `Total South`. */
function sharedWord(texts: readonly string[]): { readonly at: 'start' | 'end'; readonly text: string } | null {
  const first = /^\S+\s/.exec(texts[0]!)?.[0];
  if (first !== undefined && texts.every((text) => text.startsWith(first))) return { at: 'start', text: first };
  const last = /\s\S+$/.exec(texts[0]!)?.[0];
  return last !== undefined && texts.every((text) => text.endsWith(last)) ? { at: 'end', text: last } : null;
}

/**
 * Lines that check the total row of every file. They are drafted if the totals of the sample are correct, and there is
 * one check for all columns that have a total.
 */
export function totalsLines(sample: DraftedSample): DraftLine[] {
  const { profile, names } = sample;
  const proven = provenFooter(sample);
  if (proven === null || profile.head.format !== 'csv') return [];
  const totals = proven.sums.flatMap((of) => {
    const parameters = totalParameters(profile.columns[of]!, names[of]!, String(profile.footer[0]!.cells[of]));
    // A column name with a backtick cannot be written in the expression of a total.
    return parameters === null || names[of]!.includes('`') ? [] : [{ of, name: valueName(names, of), parameters }];
  });
  if (totals.length === 0) return [];
  // Rows are counted from the last record. The rows below the total row are blank records of the file.
  const record = profile.footer.length - 1;
  const values = totals.map(({ of, name }) => `${name}: {record: ${record}, field: ${of + 1}}`);
  const cells = totals.map(({ name }) => `${name}: run.meta.${name}`);
  const checks = totals.map(
    ({ of, name }) => `{expr: ${scalar(`sum(\`${names[of]}\`) - max(\`${name}\`)`)}, equals: 0}`,
  );
  const made = columnSet(totals.map(({ name }) => name));
  const evidence =
    totals.length === 1
      ? 'compares the total at the end with the sum of the cells above it'
      : 'compares the totals at the end with the sums of the cells above them';
  const operation = (text: string, why: string): DraftLine => ({
    place: 'operation',
    text,
    evidence: why,
    isActive: true,
    footer: 'total',
  });
  return [
    { place: 'input', text: `footer: {${values.join(', ')}}`, evidence, isActive: true, footer: 'total' },
    operation(`{set: {columns: {${cells.join(', ')}}}}`, 'for the check below'),
    ...totals.map(({ name, parameters }) =>
      operation(
        `{parse_number: {columns: ${[name, parameters].filter((text) => text !== '').join(', ')}}}`,
        'the format of the total in the sample',
      ),
    ),
    operation(`{check_totals: {checks: [${checks.join(', ')}]}}`, evidence),
    operation(
      `{drop: {columns: ${made}}}`,
      totals.length === 1 ? 'only the check needed this column' : 'only the check needed these columns',
    ),
  ];
}

/**
 * A value around a table becomes a column. Its name consists of letters, digits and _ only, and must not be the name
 * of another column.
 */
function valueName(names: readonly string[], at: number): string {
  const plain = `total_of_${names[at]}`;
  const isFree = (name: string): boolean => !names.includes(name);
  if (/^[A-Za-z_]\w*$/.test(plain) && isFree(plain)) return plain;
  for (let name = `total_of_column_${at + 1}`; ; name += '_') if (isFree(name)) return name;
}

export function emptyRowLines(sample: DraftedSample): DraftLine[] {
  const { repeatedHeaders, footer } = sample.profile;
  const lines: DraftLine[] = [];
  // If the table does not end at a total row, the blank rows below it are ordinary rows.
  const word = footer[0] === undefined ? null : sumWord(footer[0].cells);
  const isStopped = provenFooter(sample) !== null && !hasSubtotalWord(sample.profile.subtotals, word!);
  const below = !isStopped ? footer.filter(({ cells }) => cells.every(isBlank)).length : 0;
  const blankRows = sample.profile.blankRows + below;
  if (repeatedHeaders > 0) {
    const evidence = `${counted(repeatedHeaders, 'row')} that ${repeatedHeaders === 1 ? 'repeats' : 'repeat'} the header`;
    lines.push({
      place: 'operation',
      text: '{drop_repeated_headers: {}}',
      evidence,
      isActive: true,
      rowsDropped: repeatedHeaders,
    });
  }
  if (blankRows > 0) {
    const evidence = `${counted(blankRows, 'row')} without a filled cell`;
    lines.push({ place: 'operation', text: '{drop_blank_rows: {}}', evidence, isActive: true, rowsDropped: blankRows });
  }
  return lines;
}

/** Never active, because two equal rows may be two real bookings. */
export function repeatedRowLines({ profile, names }: DraftedSample): DraftLine[] {
  const { repeatedRows } = profile;
  if (repeatedRows === null || repeatedRows === 0) return [];
  const evidence = `${counted(repeatedRows, 'row')} equal to an earlier row; the repetition may be intended`;
  return [{ place: 'operation', text: `{dedupe: {by: ${list(names)}}}`, evidence, isActive: false }];
}

/** A column in an expression, to be written between single quotes in YAML. */
export function expressionName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `row[${expressionText(name)}]`;
}

/** A string in an expression, to be written between single quotes in YAML. */
export function expressionText(text: string): string {
  return quoted(text).replaceAll("'", "''");
}

/** Words that an expression does not read as a column name. */
const RESERVED = new Set(
  'value row run true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
