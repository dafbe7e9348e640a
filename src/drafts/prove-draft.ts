// Checks a draft and runs it over its sample. A line that makes an error, or takes out other rows than were counted, is offered
// instead: what is printed was seen to work.
import { checkTemplate } from '../../workers/plan/check-template.ts';
import type { RunReport } from '../../workers/run/report.ts';
import { cellLine, counted, type DraftLine } from './draft-line.ts';
import type { SampleProfile } from './sample-profile.ts';
import { type RunSample, templateText } from './sample-run.ts';

export interface DraftProof {
  readonly profile: SampleProfile;
  readonly write: (lines: readonly DraftLine[]) => string;
  readonly run: RunSample;
}

/** The lines as they hold over the sample. Throws where no line is at fault: that would be a defect of the rules. */
export async function proveDraft(lines: readonly DraftLine[], proof: DraftProof): Promise<readonly DraftLine[]> {
  let proven = lines;
  for (;;) {
    const mend = await mendOf(proven, proof);
    if (mend === null) return proven;
    proven = proven.flatMap(mend);
  }
}

/** What becomes of each line; of those that are not at fault themselves. */
type Mend = (line: DraftLine) => readonly DraftLine[];

/** Null: nothing is at fault. */
async function mendOf(lines: readonly DraftLine[], { profile, write, run }: DraftProof): Promise<Mend | null> {
  const operations = lines.filter(({ place, isActive }) => place === 'operation' && isActive);
  const source = write(lines);
  const checked = checkTemplate(source, 'yaml');
  if ('problems' in checked) {
    const [first] = checked.problems;
    const at = Number(/^\/operations\/(\d+)/.exec(first?.pointer ?? '')?.[1] ?? -1);
    return onlyOffered(operations, at, 'it does not check', `${first?.pointer}: ${first?.message}`);
  }
  const { outcome } = await run(templateText(source, 'yaml'));
  const { failure, report } = outcome;
  // By the names that it looks for it was cut otherwise than without them.
  if (failure?.code === 'MALFORMED_FILE') return declared(lines, /^(?:delimiter|header_rows?):/);
  if (failure !== null) {
    const at = failure.place?.step ?? operations.findIndex(({ text }) => text.startsWith('{check_totals'));
    const trouble = `${failure.code}: ${failure.message}`;
    return onlyOffered(
      operations,
      at,
      `a Run would end here (${failure.code})`,
      trouble,
      failure.place?.column ?? null,
    );
  }
  if (!hasSameHeader(report, profile)) return declared(lines, /^header_rows?:/);
  const odd = operations.findIndex((_, at) => droppedBy(operations, at, report, profile) !== dropsOf(operations[at]!));
  if (odd < 0) return null;
  const rows = counted(droppedBy(operations, odd, report, profile), 'row');
  return onlyOffered(operations, odd, `it would take out ${rows}`, '');
}

function dropsOf({ rowsDropped = 0 }: DraftLine): number {
  return rowsDropped;
}

/** How many rows an operation took out. What comes behind the end of a table reaches no operation, and is counted in the sample. */
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

/** The names that a Template looks for tell where its header stands: it may be found elsewhere than without them. */
function hasSameHeader({ input }: RunReport, { head }: SampleProfile): boolean {
  return input.header_row === head.headerRow && (input.header_lines ?? 1) === (head.headerLines ?? 1);
}

/** What was detected without names is said instead. */
function declared(lines: readonly DraftLine[], settings: RegExp): Mend {
  const places = lines.filter(({ text, isActive }) => settings.test(text) && !isActive);
  if (places.length === 0) throw new Error('a draft reads its sample otherwise than it was profiled');
  return (line) => [places.includes(line) ? { ...line, isActive: true } : line];
}

function onlyOffered(
  operations: readonly DraftLine[],
  at: number,
  reason: string,
  trouble: string,
  column: string | null = null,
): Mend {
  const fault = operations[at];
  if (fault === undefined) {
    // Once, as it is none of the operations any more.
    if (operations.some(({ footer }) => footer !== undefined)) return withoutFooter('its check cannot be written');
    throw new Error(`a draft was refused, and no line of it is at fault: ${trouble}`);
  }
  if (fault.footer !== undefined)
    return withoutFooter(fault.footer === 'end' ? reason : 'the check of its amounts fails');
  return (line) => (line === fault ? withoutColumn(line, reason, column) : [line]);
}

/** Where the table ends is only offered, and nothing is checked against what stands there: it may be a row like others. */
function withoutFooter(reason: string): Mend {
  return (line) => {
    if (line.footer === undefined) return [line];
    return line.footer === 'total' ? [] : [doubted(line, reason)];
  };
}

function doubted(line: DraftLine, reason: string): DraftLine {
  return { ...line, isActive: false, evidence: `${reason}; ${line.evidence}` };
}

/** Of a line with several columns the one at fault alone is only offered. */
function withoutColumn(line: DraftLine, reason: string, column: string | null): readonly DraftLine[] {
  const { columns = [], parameters = '' } = line;
  const operation = /^\{(\w+)/.exec(line.text)?.[1] ?? '';
  const left = columns.filter(({ name }) => name !== column);
  if (column === null || left.length === 0 || left.length === columns.length) {
    return [doubted(line, reason)];
  }
  const taken = columns.filter(({ name }) => name === column);
  const offered = taken.map(({ name, evidence }) => ({ name, evidence: `${reason}; ${evidence}` }));
  return [cellLine(operation, left, parameters, true), cellLine(operation, offered, parameters, false)];
}
