// Checks a draft and runs it over its sample. A line that makes an error, or takes out other rows than were counted, is offered
// instead: what is printed was seen to work.
import { checkTemplate } from '../../workers/plan/check-template.ts';
import type { RunReport } from '../../workers/run/report.ts';
import { cellLine, type DraftLine } from './draft-line.ts';
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
    const fault = await faultOf(proven, proof);
    if (fault === null) return proven;
    proven = proven.flatMap((line) => (fault.lines.includes(line) ? fault.mend(line) : [line]));
  }
}

interface Fault {
  readonly lines: readonly DraftLine[];
  readonly mend: (line: DraftLine) => readonly DraftLine[];
}

async function faultOf(lines: readonly DraftLine[], { profile, write, run }: DraftProof): Promise<Fault | null> {
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
  const odd = operations.findIndex(({ rowsDropped = 0 }, at) => dropped(report, at) !== rowsDropped);
  return odd < 0 ? null : onlyOffered(operations, odd, `it would take out ${dropped(report, odd)} rows`, '');
}

function dropped({ operations }: RunReport, at: number): number {
  const step = operations[at];
  return step === undefined ? 0 : step.rows_in - step.rows_out;
}

/** The names that a Template looks for tell where its header stands: it may be found elsewhere than without them. */
function hasSameHeader({ input }: RunReport, { head }: SampleProfile): boolean {
  return input.header_row === head.headerRow && (input.header_lines ?? 1) === (head.headerLines ?? 1);
}

/** What was detected without names is said instead. */
function declared(lines: readonly DraftLine[], settings: RegExp): Fault {
  const places = lines.filter(({ text, isActive }) => settings.test(text) && !isActive);
  if (places.length === 0) throw new Error('a draft reads its sample otherwise than it was profiled');
  return { lines: places, mend: (line) => [{ ...line, isActive: true }] };
}

function onlyOffered(
  operations: readonly DraftLine[],
  at: number,
  reason: string,
  trouble: string,
  column: string | null = null,
): Fault {
  const line = operations[at];
  if (line === undefined) throw new Error(`a draft was refused, and no line of it is at fault: ${trouble}`);
  return { lines: [line], mend: () => withoutColumn(line, reason, column) };
}

/** Of a line with several columns the one at fault alone is only offered. */
function withoutColumn(line: DraftLine, reason: string, column: string | null): readonly DraftLine[] {
  const { columns = [], parameters = '' } = line;
  const operation = /^\{(\w+)/.exec(line.text)?.[1] ?? '';
  const left = columns.filter(({ name }) => name !== column);
  if (column === null || left.length === 0 || left.length === columns.length) {
    return [{ ...line, isActive: false, evidence: `${reason}; ${line.evidence}` }];
  }
  const taken = columns.filter(({ name }) => name === column);
  const doubted = taken.map(({ name, evidence }) => ({ name, evidence: `${reason}; ${evidence}` }));
  return [cellLine(operation, left, parameters, true), cellLine(operation, doubted, parameters, false)];
}
