// Rows that are none of the table: sums at its foot, headers in its middle, blank ones; and rows that stand there twice.

import { counted, type DraftedSample, type DraftLine, list } from '../draft-line.ts';
import { sumWord } from '../foot-rows.ts';
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
  const word = sumWord(first.cells)!;
  const proven = provenFooter(sample);
  const text = `{stop_when: {where: '${expressionName(names[word.column]!)} == ${expressionText(word.text)}'}}`;
  const evidence =
    proven === null
      ? `${counted(profile.foot.length, 'row')} at the foot, whose amounts are not the sums of what stands above`
      : `${counted(profile.foot.length, 'row')} at the foot; ${counted(proven.sums.length, 'amount is the sum', 'amounts are the sums')} of what stands above`;
  return [{ place: 'operation', text, evidence, isActive: proven !== null, rowsDropped: profile.foot.length }];
}

/** A sum that was found once is looked for in each file. */
export function footerColumns(sample: DraftedSample): { readonly name: string; readonly of: number }[] {
  return (provenFooter(sample)?.sums ?? []).map((of) => ({ name: `total_of_${sample.names[of]}`, of }));
}

export function totalsLines(sample: DraftedSample): DraftLine[] {
  const { profile, names } = sample;
  const proven = provenFooter(sample);
  if (proven === null || profile.head.format !== 'csv') return [];
  const record = profile.foot.slice(1).filter(({ cells }) => !cells.every(isBlank)).length;
  const lines: DraftLine[] = [];
  for (const { name, of } of footerColumns(sample)) {
    const { decimal, grouping } = provenNotation(profile.columns[of]!)!;
    const marks = `{decimal: "${decimal}"${grouping === '' ? '' : `, grouping: "${grouping}"`}}`;
    const evidence = `the sum at the foot against the cells above it`;
    lines.push(
      { place: 'input', text: `footer: {${name}: {record: ${record}, field: ${of + 1}}}`, evidence, isActive: true },
      {
        place: 'operation',
        text: `{set: {columns: {${name}: run.meta.${name}}}}`,
        evidence: 'for the check below',
        isActive: true,
      },
      {
        place: 'operation',
        text: `{parse_number: {columns: ${name}, ${marks.slice(1)}}`,
        evidence: 'as the cells above it',
        isActive: true,
      },
      {
        place: 'operation',
        text: `{check_totals: {checks: [{expr: "sum(\`${names[of]}\`) - max(\`${name}\`)", equals: 0}]}}`,
        evidence,
        isActive: true,
      },
      {
        place: 'operation',
        text: `{drop: {columns: ${name}}}`,
        evidence: 'it was there for the check',
        isActive: true,
      },
    );
  }
  return lines;
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

export function expressionName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `row["${name}"]`;
}

/** Within the single quotes of YAML. */
export function expressionText(text: string): string {
  return JSON.stringify(text).replaceAll("'", "''");
}

/** Words that an expression does not take for a column. */
const RESERVED = new Set(
  'value row run true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
