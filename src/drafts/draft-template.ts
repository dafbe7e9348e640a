// Drafts a Template for a sample: collects the lines of every rule, proves them by running the draft, and writes the
// Template.

import { statSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { inputFormats } from '../../workers/input/index.ts';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import type { RunReport } from '../../workers/protocol/report.ts';
import { inspectFile } from '../../workers/run/inspect.ts';
import { headerKey } from '../../workers/template/file-columns.ts';
import { columnNames } from './column-names.ts';
import {
  cellLine,
  counted,
  type DraftedSample,
  type DraftLine,
  type DraftPlace,
  scalar,
  type TargetMatching,
} from './draft-line.ts';
import type { DraftProgress } from './draft-progress.ts';
import { matchColumns, type TargetColumn } from './like/match-columns.ts';
import { DRAFT_RULES } from './rules/index.ts';
import { RECORD_TYPE, recordTypes } from './rules/input-rules.ts';
import { sumParameters } from './rules/number-rules.ts';
import { subtotalFilter } from './rules/row-rules.ts';
import {
  DECLARED,
  type DeclaredReading,
  inputAt,
  isAmount,
  isBlank,
  profileSample,
  type RunSample,
  type SampleProfile,
  type SampleReading,
  SampleRefusedError,
  sumWord,
  templateText,
} from './sample-profile.ts';

// Proves a draft by running it over its sample. A line that causes an error, or that removes a different
// number of rows than was counted, becomes a proposal in a comment. Every active line of the printed draft has therefore been run.

export interface DraftProof {
  readonly profile: SampleProfile;
  readonly write: (lines: readonly DraftLine[]) => string;
  readonly run: RunSample;
}

/**
 * Returns the lines in the form that works on the sample. Throws if a failure cannot be attributed to a line, which
 * would be a defect of the rules.
 */
export async function proveDraft(lines: readonly DraftLine[], proof: DraftProof): Promise<readonly DraftLine[]> {
  let proven = lines;
  for (;;) {
    const repair = await findRepair(proven, proof);
    if (repair === null) return proven;
    proven = proven.flatMap(repair);
  }
}

/** Maps a line to its replacements; lines without a fault stay unchanged. */
type Repair = (line: DraftLine) => readonly DraftLine[];

/** Null: no fault found. */
async function findRepair(lines: readonly DraftLine[], { profile, write, run }: DraftProof): Promise<Repair | null> {
  const operations = lines.filter(({ place, isActive }) => place === 'operation' && isActive);
  const source = write(lines);
  const checked = checkTemplate(source, 'yaml');
  if ('problems' in checked) {
    const [first] = checked.problems;
    const at = Number(/^\/operations\/(\d+)/.exec(first?.pointer ?? '')?.[1] ?? -1);
    return onlyOffered(operations, at, 'the check of the Template refuses it', `${first?.pointer}: ${first?.message}`);
  }
  const { outcome } = await run(templateText(source, 'yaml'));
  const { failure, report } = outcome;
  // With the names in the Template, header detection split the file differently than without them.
  if (failure?.code === 'MALFORMED_FILE') return declared(lines, /^(?:delimiter|header_rows?):/);
  if (failure !== null) {
    const at = failure.place?.step ?? operations.findIndex(({ text }) => text.startsWith('{check_totals'));
    const failureText = `${failure.code}: ${failure.message}`;
    return onlyOffered(
      operations,
      at,
      `a Run would end here (${failure.code})`,
      failureText,
      failure.place?.column ?? null,
    );
  }
  if (!hasSameHeader(report, profile)) return declared(lines, /^header_rows?:/);
  const odd = operations.findIndex((_, at) => droppedBy(operations, at, report, profile) !== dropsOf(operations[at]!));
  if (odd < 0) return null;
  const rows = counted(droppedBy(operations, odd, report, profile), 'row');
  return onlyOffered(operations, odd, `it would remove ${rows}`, '');
}

function dropsOf({ rowsDropped = 0 }: DraftLine): number {
  return rowsDropped;
}

/**
 * Number of rows that an operation removed. Rows after the end of the table never reach an operation, so their number
 * follows from the row count of the sample.
 */
function droppedBy(
  lines: readonly DraftLine[],
  at: number,
  { operations }: RunReport,
  { rows }: SampleProfile,
): number {
  const step = operations[at];
  if (step === undefined) return 0;
  if (lines[at]!.footer !== 'end') return step.rows_in - step.rows_out;
  const before = lines.slice(0, at).reduce((sum, line) => sum + dropsOf(line), 0);
  return rows - before - step.rows_out;
}

/**
 * True if the header was found in the same row. Names in a Template influence header detection, so the header may be
 * found elsewhere.
 */
function hasSameHeader({ input }: RunReport, { head }: SampleProfile): boolean {
  return input.header_row === head.headerRow && (input.header_lines ?? 1) === (head.headerLines ?? 1);
}

/**
 * Activates the settings that were detected without names, so that the Template declares them instead of detecting
 * them.
 */
function declared(lines: readonly DraftLine[], settings: RegExp): Repair {
  const places = lines.filter(({ text, isActive }) => settings.test(text) && !isActive);
  if (places.length === 0) throw new Error('a draft reads its sample differently from the profile');
  return (line) => [places.includes(line) ? { ...line, isActive: true } : line];
}

function onlyOffered(
  operations: readonly DraftLine[],
  at: number,
  reason: string,
  failureText: string,
  column: string | null = null,
): Repair {
  const fault = operations[at];
  if (fault === undefined) {
    // The failure belongs to the check of the total row. Only handled once, because the check is then removed from
    // the operations.
    if (operations.some(({ footer }) => footer !== undefined)) return withoutFooter('its check cannot be written');
    throw new Error(`a draft was refused, but none of its lines is the cause: ${failureText}`);
  }
  if (fault.footer !== undefined)
    return withoutFooter(fault.footer === 'end' ? reason : 'the check of its amounts would fail');
  return (line) => (line === fault ? withoutColumn(line, reason, column) : [line]);
}

/** Turns the end of the table into a proposal and removes the check of the total row, because that row may be data. */
function withoutFooter(reason: string): Repair {
  return (line) => {
    if (line.footer === undefined) return [line];
    return line.footer === 'total' ? [] : [proposed(line, reason)];
  };
}

function proposed(line: DraftLine, reason: string): DraftLine {
  return { ...line, isActive: false, evidence: `${reason}; ${line.evidence}` };
}

/** In a line with several columns, only the faulty column becomes a proposal. */
function withoutColumn(line: DraftLine, reason: string, column: string | null): readonly DraftLine[] {
  const { columns = [], parameters = '' } = line;
  const operation = /^\{(\w+)/.exec(line.text)?.[1] ?? '';
  const left = columns.filter(({ name }) => name !== column);
  if (column === null || left.length === 0 || left.length === columns.length) {
    return [proposed(line, reason)];
  }
  const taken = columns.filter(({ name }) => name === column);
  const offered = taken.map(({ name, evidence }) => ({ name, evidence: `${reason}; ${evidence}` }));
  return [cellLine(operation, left, parameters, true), cellLine(operation, offered, parameters, false)];
}

// Writes the lines of a draft as a Template in YAML. Active lines become content, proposed lines become comments;
// each has its evidence beside it.

export interface DraftHead {
  /** Path of the editor schema relative to the folder of the Template; null: the draft has no schema line. */
  readonly schema: string | null;
  readonly name: string;
  /** Remark about the sample as a whole. */
  readonly remark: string;
  /** What a Run loses all the same, as the end of a sentence; '' = nothing. */
  readonly loss?: string;
}

export function writeDraft({ schema, name, remark, loss = '' }: DraftHead, lines: readonly DraftLine[]): string {
  const at = (place: DraftPlace): DraftLine[] => lines.filter((line) => line.place === place);
  const [input, columns, operations] = [at('input'), at('column'), at('operation')];
  const body = [...csvSection(at('csv')), ...input.map((line) => entry('  ', line)), ...columnSection(columns)];
  const hasInput = [...at('csv'), ...input, ...columns].some(({ isActive }) => isActive);
  const hasOperations = operations.some(({ isActive }) => isActive);
  return `${[
    ...(schema === null ? [] : [`# yaml-language-server: $schema=${schema}`]),
    `# ${remark}`,
    `# Active lines lose no data of the sample${loss}. Commented lines are suggestions: remove the # of those that are right.`,
    'format: 1',
    `name: ${scalar(name)}`,
    ...(body.length === 0 ? [] : [hasInput ? 'input:' : '# input:', ...body]),
    ...(operations.length === 0 ? ['operations: []'] : [hasOperations ? 'operations:' : '# operations:']),
    ...operations.map((line) => item('  ', line)),
    'output: {format: csv}',
  ].join('\n')}\n`;
}

function csvSection(lines: readonly DraftLine[]): string[] {
  if (lines.length === 0) return [];
  return [lines.some(({ isActive }) => isActive) ? '  csv:' : '  # csv:', ...lines.map((line) => entry('    ', line))];
}

function columnSection(lines: readonly DraftLine[]): string[] {
  return lines.length === 0 ? [] : ['  columns:', ...lines.map((line) => item('    ', line))];
}

function item(indent: string, { text, ...line }: DraftLine): string {
  return entry(indent, { ...line, text: `- ${text}` });
}

function entry(indent: string, { text, evidence, isActive }: DraftLine): string {
  return `${indent}${isActive ? '' : '# '}${text}  # ${evidence}`;
}

// Finds the table of a sample if a Run without settings would read only a cover sheet, or an object around the records.

/** Minimum numbers of rows and columns of a table. A smaller one may be a cover sheet, or the object around the records. */
const TABLE_SIZE_MIN = 2;

/** Returns null if a Run without settings reads a table of sufficient size, or if there is no other table. */
async function likelyReading(path: string, profile: SampleProfile): Promise<DeclaredReading | null> {
  const { head, rows, columns } = profile;
  if (head.format === 'csv') return await recordsOfTypes(path, profile);
  if (head.format === 'json') return rows === 1 ? await nestedRecords(path) : null;
  if (rows >= TABLE_SIZE_MIN && columns.length >= TABLE_SIZE_MIN) return null;
  // Every sheet is read to its end, so this is not done for each workbook.
  const { sheets } = await inspectFile(path, { formats: inputFormats, headOnly: true });
  const [largest] = (sheets ?? [])
    .filter((sheet) => sheet.visibility === 'visible' && sheet.problem === null && !sheet.isRead)
    // One row more, because the header counts as a row here.
    .filter((sheet) => sheet.rows > TABLE_SIZE_MIN && sheet.columns >= TABLE_SIZE_MIN)
    .sort((a, b) => b.rows * b.columns - a.rows * a.columns);
  if (largest === undefined) return null;
  return declaredReading({ sheet: largest.name }, 'the largest visible sheet');
}

/** A header cell that is a number or a date, so that it is no name. */
const DATA_CELL = /^[-+]?\d[\d.,:/ T-]*$/;

/** Bytes in which the widest record of a file with records of several types is looked for. */
const WIDTH_BYTES_MAX = 1024 * 1024;

/**
 * How a file is read whose records have different types and widths, such as H, D and T. Its first record is no header:
 * it contains data, and its first cell is a code like those below it.
 */
async function recordsOfTypes(
  path: string,
  { head, columns, oddities }: SampleProfile,
): Promise<DeclaredReading | null> {
  const { delimiter, headerRow, headerLines, headers } = head;
  const [type, ...others] = headers;
  const types = columns[0] === undefined ? null : recordTypes(columns[0]);
  if (types === null || type === undefined || !RECORD_TYPE.test(type) || delimiter === null) return null;
  const isOdd = (oddities.RAGGED_ROW?.count ?? 0) > 0 || types.has(type);
  if (headerRow !== 0 || (headerLines ?? 1) > 1 || !isOdd || !others.some((cell) => DATA_CELL.test(cell))) return null;
  const lines = (await firstText(path)).split(/\r\n|\n|\r/);
  const widths = lines.map((line) => line.replaceAll(/"(?:[^"]|"")*"/g, '').split(delimiter).length);
  // Other widths: the file is compressed, or its first lines are no records.
  if (widths[0] !== headers.length) return null;
  const width = widths.reduce((most, each) => Math.max(most, each), 0);
  const settings = { csv: { header_row: 'none', columns: width } };
  return declaredReading(settings, 'the first record is data, as records of several types have no header');
}

/** Delimiters and quotes are ASCII, so that other characters may be read wrongly. */
async function firstText(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(WIDTH_BYTES_MAX), 0, WIDTH_BYTES_MAX, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Maximum size of a JSON file that is searched, because the search parses it as a whole, without a pause. */
const JSON_BYTES_MAX = 16 * 1024 * 1024;

/** Maximum number of objects around a list of records. Deeper lists are usually details of one record. */
const JSON_DEPTH_MAX = 4;

async function nestedRecords(path: string): Promise<DeclaredReading | null> {
  if (statSync(path).size > JSON_BYTES_MAX) return null;
  let document: unknown;
  try {
    document = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    // The file is compressed, contains several values, or has another encoding.
    return null;
  }
  const [largest] = [...recordLists(document, '', 0)].sort((a, b) => b.records.length - a.records.length);
  if (largest === undefined || largest.records.length < TABLE_SIZE_MIN) return null;
  const isNested = largest.records.some((record) => Object.values(record).some(isObject));
  const json = { records: largest.pointer, ...(isNested ? { flatten: '.' } : {}) };
  return declaredReading({ json }, 'the longest list of records');
}

interface RecordList {
  readonly pointer: string;
  readonly records: readonly object[];
}

function* recordLists(value: unknown, pointer: string, depth: number): Generator<RecordList> {
  if (Array.isArray(value)) {
    if (value.every(isObject)) yield { pointer, records: value };
    return;
  }
  if (!isObject(value) || depth === JSON_DEPTH_MAX) return;
  for (const [key, part] of Object.entries(value))
    yield* recordLists(part, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Settings that a draft finds itself, or that add columns to those of the file. */
const DRAFTED_SETTINGS: readonly string[] = ['columns', 'other_columns', 'header_match', 'null_values', 'sheet_into'];

/**
 * Returns the reading that an `input` section declares. Throws SampleRefusedError if the section is not valid.
 * @param evidence why the sample is read with these settings
 */
export function declaredReading(input: SampleReading, evidence: string = DECLARED): DeclaredReading {
  const settings = Object.fromEntries(Object.entries(input).filter(([name]) => !DRAFTED_SETTINGS.includes(name)));
  const checked = checkTemplate(JSON.stringify({ format: 1, input: settings, operations: [] }), 'json');
  if (!('problems' in checked)) return { template: checked.template, settings, evidence };
  const message = checked.problems[0]?.message ?? 'The settings are not valid.';
  throw new SampleRefusedError({ code: 'INVALID_PARSE_PARAMS', message });
}

// Drafts a Template for a sample: profiles the whole sample, collects the lines of every rule, and proves the result
// by running it.

/**
 * Returns the same text for the same file and targets. Throws SampleRefusedError, Failed or a system error if the
 * sample cannot be read.
 */
export async function draftTemplate(
  path: string,
  run: RunSample,
  targets: readonly TargetColumn[] | null = null,
  schema: string | null = null,
  progress: DraftProgress | null = null,
  declared: DeclaredReading | null = null,
): Promise<string> {
  let read = await profileSample(path, run, progress, declared);
  const likely = declared === null ? await likelyReading(path, read) : null;
  if (likely !== null) read = await profileSample(path, run, progress, likely);
  const profile = await withSums(read, run);
  const like = targets === null ? null : matchTargets(profile, targets);
  const sample: DraftedSample = { profile, like, names: columnNames(profile.headers, wantedNames(like)) };
  const lines: readonly DraftLine[] = DRAFT_RULES.flatMap((rule) => rule(sample));
  const head = {
    schema,
    name: nameOf(path),
    remark: remarkOf(profile),
    loss: lossOf(profile),
  };
  const write = (of: readonly DraftLine[]): string => writeDraft(head, of);
  return write(await proveDraft(lines, { profile, write, run }));
}

function remarkOf({ rows, profiledRows, columns }: SampleProfile): string {
  const read = `Drafted from a sample of ${counted(rows, 'row')} and ${counted(columns.length, 'column')}`;
  if (profiledRows === rows) return `${read}, all of which were read.`;
  return `${read}. Active lines were run over all rows. Cells were counted in ${counted(profiledRows, 'row')} from all parts of the sample.`;
}

/** Rows that are wider than the header. */
function lossOf({ oddities }: SampleProfile): string {
  const rows = oddities.RAGGED_ROW?.count ?? 0;
  return rows === 0 ? '' : `, except the cells of ${counted(rows, 'row')} beyond the header (see ragged)`;
}

/**
 * If a sample was profiled in part, adds the sums of the columns in which it has a total. A Run over the whole sample
 * computes them.
 */
async function withSums(profile: SampleProfile, run: RunSample): Promise<SampleProfile> {
  const { columns, footer, profiledRows, reading, rows, subtotals } = profile;
  const word = footer[0] === undefined ? null : sumWord(footer[0].cells);
  if (word === null || profiledRows === rows) return profile;
  const summed = columns.flatMap((column, at) => {
    const cell = footer[0]!.cells[at];
    const parameters = at === word.column || isBlank(cell) || !isAmount(cell!) ? null : sumParameters(column);
    return parameters === null ? [] : [{ at, parameters }];
  });
  const sums = new Map<number, string>();
  if (summed.length > 0) {
    const read = new Set([...summed.map(({ at }) => at), ...(subtotals === null ? [] : [subtotals.column])]);
    const lines = [
      `input: ${JSON.stringify(inputAt(reading, [...read]))}`,
      'operations:',
      `  - {slice: {skip_last: ${footer.length}}}`,
      '  - {drop_repeated_headers: {}}',
      ...(subtotals === null ? [] : [`  - ${subtotalFilter(subtotals, `c${subtotals.column + 1}`)}`]),
      ...summed.map(({ at, parameters }) => `  - {parse_number: {columns: c${at + 1}, on_error: "null"${parameters}}}`),
      `  - {aggregate: {metrics: [${summed.map(({ at }) => `{fn: sum, column: c${at + 1}}`).join(', ')}]}}`,
      'output: {format: csv, formula_guard: "off"}',
    ];
    const { outcome } = await run(templateText(`${lines.join('\n')}\n`, 'yaml'));
    const [, values = ''] = Buffer.from(outcome.output?.bytes ?? [])
      .toString()
      .split('\n');
    for (const [index, value] of values.trim().split(',').entries()) {
      if (value !== '') sums.set(summed[index]!.at, value);
    }
  }
  return { ...profile, sums };
}

function matchTargets({ headers, columns }: SampleProfile, targets: readonly TargetColumn[]): TargetMatching {
  const sample = headers.map((header, at) => ({ header, profile: columns[at]! }));
  const matchings = matchColumns(sample, targets);
  // A target name that would match a different header of the sample cannot be assigned.
  const keys = headers.map((header) => headerKey(header, 'normal'));
  return {
    targets,
    matchings: matchings.map((matching) => {
      const at = keys.indexOf(headerKey(targets[matching.target]!.name, 'normal'));
      return at < 0 || at === matching.sample ? matching : { ...matching, isAccepted: false };
    }),
  };
}

function wantedNames(like: TargetMatching | null): ReadonlyMap<number, string> {
  const accepted = (like?.matchings ?? []).filter(({ isAccepted }) => isAccepted);
  return new Map(accepted.map(({ sample, target }) => [sample, like!.targets[target]!.name]));
}

/** The file name without digits and separators, which are likely to change from day to day. */
function nameOf(path: string): string {
  const words = basename(path, extname(path))
    .replace(/[\d_.-]+/g, ' ')
    .trim();
  return words === '' ? 'Draft' : words;
}
