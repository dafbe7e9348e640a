// Lines for reading the file: encoding, delimiter, header, strings that mean "missing", and columns by name.

import type { ColumnProfile } from '../column-profile.ts';
import { counted, type DraftedSample, type DraftLine, grouped, scalar } from '../draft-line.ts';
import type { ColumnMatching } from '../like/match-columns.ts';
import { expressionName, expressionText } from './row-rules.ts';

/** The settings with which the sample was read. */
export function declaredLines({ profile: { reading, readingEvidence } }: DraftedSample): DraftLine[] {
  const { csv = {}, ...others } = reading as { readonly csv?: object };
  const lines = (place: 'csv' | 'input', settings: object): DraftLine[] =>
    Object.entries(settings).map(([key, value]) => {
      const text = `${key}: ${JSON.stringify(value)}`;
      return { place, text, evidence: readingEvidence, isActive: true };
    });
  return [...lines('csv', csv), ...lines('input', others)];
}

function isDeclared({ reading }: DraftedSample['profile'], setting: string): boolean {
  return Object.hasOwn((reading.csv ?? {}) as object, setting);
}

export function encodingLines({ profile }: DraftedSample): DraftLine[] {
  const { encoding, encodingGuess, format } = profile.head;
  // UTF-8, or a byte order mark, which always wins over the Template.
  if (format !== 'csv' || encodingGuess === undefined || isDeclared(profile, 'encoding')) return [];
  // ASCII in UTF-16 is valid UTF-8 with NUL bytes, so UTF-8 cannot be tried first.
  const [text, evidence] = encoding.startsWith('utf-16')
    ? [`encoding: ${encoding}`, 'every second byte of ASCII is NUL; no byte order mark']
    : [`encoding: [utf-8, ${encoding}]`, 'not UTF-8; the most likely encoding of all its lines'];
  return [{ place: 'csv', text, evidence, isActive: true }];
}

/**
 * These settings are detected for each file, so they are only proposed. Declaring one helps with small files, but
 * breaks files that are written differently.
 */
export function dialectLines({ profile }: DraftedSample): DraftLine[] {
  const { delimiter, headerRow, headerLines, format, quote, escape: escapes } = profile.head;
  if (format !== 'csv') return [];
  const lines: DraftLine[] = [];
  const offer = (text: string, evidence: string): void => {
    if (!isDeclared(profile, text.split(':')[0]!)) lines.push({ place: 'csv', text, evidence, isActive: false });
  };
  if (delimiter !== null) {
    const sure = profile.explanation?.delimiter?.confidence;
    offer(`delimiter: ${JSON.stringify(delimiter)}`, sure === undefined ? 'detected' : `detected; confidence ${sure}`);
  }
  if (escapes !== undefined) offer('escape: "\\\\"', 'detected');
  else if (hasNullMarks(profile)) offer('escape: "\\\\"', 'cells \\N, which programs write with backslash escapes');
  if (quote === '') offer('quote: ""', 'quotes are ordinary characters');
  if ((headerLines ?? 1) > 1) offer(`header_rows: ${headerLines}`, 'header lines, whose texts are joined');
  if (headerRow === null) offer('header_row: none', 'the first row looks like the others');
  else
    offer(
      `header_row: ${headerRow}`,
      headerRow === 0 ? 'no record above it' : `${counted(headerRow, 'record')} above it`,
    );
  const ragged = profile.oddities.RAGGED_ROW?.count ?? 0;
  if (ragged > 0)
    offer('ragged: fail', `${counted(ragged, 'row')} with filled cells beyond the header, which a Run drops`);
  return lines;
}

/** How programs with backslash escapes write null. */
const NULL_MARK = '\\N';

function hasNullMarks({ columns, head }: DraftedSample['profile']): boolean {
  return head.format === 'csv' && columns.some(({ missing }) => missing.has(NULL_MARK));
}

/** A code in the first cell of each record that names its type, such as H, D and T or 01, 10 and 99. */
export const RECORD_TYPE = /^(?:[A-Z]{1,3}\d{0,2}|\d{1,2})$/;

/** Files have few types of records. */
const RECORD_TYPES_MAX = 10;

/** The types of records with their counts, if a column contains nothing else, and several records have the same type. */
export function recordTypes({ values, blanks, cells }: ColumnProfile): ReadonlyMap<string, number> | null {
  if (values === null || blanks > 0 || values.size < 2 || values.size > RECORD_TYPES_MAX) return null;
  return values.size < cells && [...values.keys()].every((text) => RECORD_TYPE.test(text)) ? values : null;
}

/** Offers to keep the most frequent type of records in a file without a header. */
export function recordTypeLines({ profile, names }: DraftedSample): DraftLine[] {
  const { columns, reading } = profile;
  const { header_row: headerRow } = (reading['csv'] ?? {}) as { readonly header_row?: unknown };
  const types = headerRow === 'none' && columns[0] !== undefined ? recordTypes(columns[0]) : null;
  if (types === null) return [];
  const sorted = [...types].sort(([, one], [, other]) => other - one);
  const text = `{filter: {where: '${expressionName(names[0]!)} == ${expressionText(sorted[0]![0])}'}}`;
  const evidence = `records of several types: ${sorted.map(([type, count]) => `${type} ${grouped(count)}`).join(', ')}; keep one type before other steps`;
  return [{ place: 'operation', text, evidence, isActive: false }];
}

export function missingLines({ profile }: DraftedSample): DraftLine[] {
  const found = new Map<string, number>();
  let columns = 0;
  for (const { missing } of profile.columns) {
    if (missing.size > 0) columns++;
    for (const [text, count] of missing) found.set(text, (found.get(text) ?? 0) + count);
  }
  // Backslash escapes read them.
  if (hasNullMarks(profile)) found.delete(NULL_MARK);
  if (found.size === 0 || Object.hasOwn(profile.reading, 'null_values')) return [];
  const total = [...found.values()].reduce((sum, count) => sum + count, 0);
  const texts = [...found.keys()].sort();
  const evidence = `${counted(total, 'cell')} of ${counted(columns, 'column')}`;
  return [{ place: 'input', text: `null_values: ${JSON.stringify(['', ...texts])}`, evidence, isActive: false }];
}

/**
 * Longer headers are not matched by name, because they are probably generated text; such a column is found by its
 * position.
 */
const MATCHED_LENGTH_MAX = 200;

export function columnLines({ profile, names, like }: DraftedSample): DraftLine[] {
  const hasHeader = profile.head.headerRow !== null || profile.head.format !== 'csv';
  const matchings = like?.matchings ?? [];
  return profile.headers.flatMap((header, at): DraftLine[] => {
    const name = names[at]!;
    const form = header.length > MATCHED_LENGTH_MAX ? `{position: ${at + 1}}` : scalar(header);
    const match = header === name || !hasHeader ? '' : `, match: [${form}]`;
    const text = `{name: ${scalar(name)}${match}}`;
    const matching = matchings.find(({ sample }) => sample === at);
    const counts = columnEvidence(profile.columns[at]!);
    const evidence = matching?.isAccepted === true ? `${scoresOf(matching)}; ${counts}` : counts;
    const line: DraftLine = { place: 'column', text, evidence, isActive: true };
    const target = matching === undefined ? name : like!.targets[matching.target]!.name;
    if (matching === undefined || matching.isAccepted || target === name) return [line];
    const offer = `{name: ${scalar(target)}, match: [${form}]}`;
    return [
      line,
      { place: 'column', text: offer, evidence: `instead of ${scalar(name)}: ${scoresOf(matching)}`, isActive: false },
    ];
  });
}

function scoresOf({ score, nameScore, valueScore, next }: ColumnMatching): string {
  const values = valueScore === null ? '' : `, cells ${valueScore.toFixed(2)}`;
  return `similarity ${score.toFixed(2)} (name ${nameScore.toFixed(2)}${values}), next best ${next.toFixed(2)}`;
}

/** Wanted columns for which the sample has no similar column. */
export function lackingLines({ like }: DraftedSample): DraftLine[] {
  if (like === null) return [];
  const matched = new Set(like.matchings.map(({ target }) => target));
  return like.targets.flatMap(({ name }, target): DraftLine[] => {
    if (matched.has(target)) return [];
    const evidence = 'no column of the sample is similar';
    return [{ place: 'column', text: `{name: ${scalar(name)}, required: false}`, evidence, isActive: false }];
  });
}

function columnEvidence({ cells, blanks, repeats }: DraftedSample['profile']['columns'][number]): string {
  const different = repeats === null ? '' : `, ${grouped(cells - repeats)} distinct`;
  return `${counted(cells, 'cell')}${different}${blanks > 0 ? `, ${counted(blanks, 'blank')}` : ''}`;
}

export function otherColumnsLines({ profile }: DraftedSample): DraftLine[] {
  if (profile.head.headers.length === 0) return [];
  const evidence = 'drops columns of later files that are not listed here';
  return [{ place: 'input', text: 'other_columns: drop', evidence, isActive: false }];
}
