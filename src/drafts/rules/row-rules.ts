// Rows that are none of the table: sums and notes at its foot, headers in its middle, blank ones; and rows that stand there twice.

import type { ColumnProfile } from '../column-profile.ts';
import { columnSet, counted, type DraftedSample, type DraftLine, list, quoted, scalar } from '../draft-line.ts';
import { noteCell, sumWord } from '../foot-rows.ts';
import { DECIMAL_MARKS } from '../number-cells.ts';
import { isBlank } from '../sample-profile.ts';
import { provenNotation } from './number-rules.ts';

/** Where the sum at the foot begins, and with whose amount: the columns whose cells above it add up to what stands there. */
export interface ProvenFooter {
  readonly column: number;
  readonly word: string;
  readonly sums: readonly number[];
}

/** Null: there is no sum at the foot, or it is not the sum of what stands above. */
export function provenFooter(sample: DraftedSample): ProvenFooter | null {
  const { foot, columns } = sample.profile;
  const first = foot[0]?.cells ?? [];
  const word = sumWord(first);
  if (word === null || (foot.length > 1 && foot.slice(1).some(({ cells }) => !cells.every(isBlank)))) return null;
  const amounts = first.flatMap((cell, at) => (at !== word.column && !isBlank(cell) ? [at] : []));
  const areSums = amounts.every((at) => {
    const mark = DECIMAL_MARKS.find((one) => provenNotation(columns[at]!)?.decimal === one);
    return mark !== undefined && columns[at]!.numbers.isSum(String(first[at]), mark);
  });
  return areSums && amounts.length > 0 ? { column: word.column, word: word.text, sums: amounts } : null;
}

export function footerLines(sample: DraftedSample): DraftLine[] {
  const { profile, names } = sample;
  const [first] = profile.foot;
  if (first === undefined) return [];
  const word = sumWord(first.cells);
  const { column, text: known } = word ?? noteCell(first.cells)!;
  const proven = provenFooter(sample);
  const text = `{stop_when: {where: '${expressionName(names[column]!)} == ${expressionText(known)}'}}`;
  const rows = `${counted(profile.foot.length, 'row')} at the foot`;
  const evidence =
    word === null
      ? `${rows} with one filled cell at most: notes, as it seems`
      : proven === null
        ? `${rows}, whose amounts are not the sums of what stands above`
        : `${rows}; ${counted(proven.sums.length, 'amount is the sum', 'amounts are the sums')} of what stands above`;
  const line = { text, evidence, isActive: proven !== null, rowsDropped: profile.foot.length };
  return [{ place: 'operation', ...line, footer: 'end' }];
}

/** A sum that was found once is looked for in each file, in one line for all columns that have one. */
export function totalsLines(sample: DraftedSample): DraftLine[] {
  const { profile, names } = sample;
  const proven = provenFooter(sample);
  if (proven === null || profile.head.format !== 'csv') return [];
  // A total has no way to write a name with a backtick.
  const sums = proven.sums.filter((of) => !names[of]!.includes('`'));
  if (sums.length === 0) return [];
  const totals = sums.map((of) => ({ of, name: valueName(names, of) }));
  // Counted from the last record: those under the sum are blank ones that stand in the file.
  const record = profile.foot.length - 1;
  const values = totals.map(({ of, name }) => `${name}: {record: ${record}, field: ${of + 1}}`);
  const cells = totals.map(({ name }) => `${name}: run.meta.${name}`);
  const checks = totals.map(
    ({ of, name }) => `{expr: ${scalar(`sum(\`${names[of]}\`) - max(\`${name}\`)`)}, equals: 0}`,
  );
  const made = columnSet(totals.map(({ name }) => name));
  const evidence =
    totals.length === 1
      ? 'the sum at the foot against the cells above it'
      : 'the sums at the foot against the cells above them';
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
    ...totals.map(({ of, name }) =>
      operation(`{parse_number: {columns: ${name}, ${marksOf(profile.columns[of]!)}}}`, 'as the cells above it'),
    ),
    operation(`{check_totals: {checks: [${checks.join(', ')}]}}`, evidence),
    operation(
      `{drop: {columns: ${made}}}`,
      totals.length === 1 ? 'it was there for the check' : 'they were there for the check',
    ),
  ];
}

/** A value around a table has a name of letters, digits and _ alone, and becomes a column, which none other may be called. */
function valueName(names: readonly string[], at: number): string {
  const plain = `total_of_${names[at]}`;
  const isFree = (name: string): boolean => !names.includes(name);
  if (/^[A-Za-z_]\w*$/.test(plain) && isFree(plain)) return plain;
  for (let name = `total_of_column_${at + 1}`; ; name += '_') if (isFree(name)) return name;
}

function marksOf(column: ColumnProfile): string {
  const { decimal, grouping } = provenNotation(column)!;
  return `decimal: "${decimal}"${grouping === '' ? '' : `, grouping: "${grouping}"`}`;
}

export function emptyRowLines(sample: DraftedSample): DraftLine[] {
  const { repeatedHeaders, foot } = sample.profile;
  const lines: DraftLine[] = [];
  // Those under a sum are rows like others where nothing stops there.
  const below = provenFooter(sample) === null ? foot.filter(({ cells }) => cells.every(isBlank)).length : 0;
  const blankRows = sample.profile.blankRows + below;
  if (repeatedHeaders > 0) {
    const evidence = `${counted(repeatedHeaders, 'row')} that ${repeatedHeaders === 1 ? 'is' : 'are'} the header again`;
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

/** Never active: two equal rows may be two bookings. */
export function repeatedRowLines({ profile, names }: DraftedSample): DraftLine[] {
  const { repeatedRows } = profile;
  if (repeatedRows === null || repeatedRows === 0) return [];
  const evidence = `${counted(repeatedRows, 'row')} equal to one above; they may be meant`;
  return [{ place: 'operation', text: `{dedupe: {by: ${list(names)}}}`, evidence, isActive: false }];
}

/** A column in an expression that stands within the single quotes of YAML. */
export function expressionName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `row[${expressionText(name)}]`;
}

/** Within the single quotes of YAML. */
export function expressionText(text: string): string {
  return quoted(text).replaceAll("'", "''");
}

/** Words that an expression does not take for a column. */
const RESERVED = new Set(
  'value row run true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
