// Checks that the contenders did the same work: compares their outputs as records, regardless of quoting, escaping and
// order.
import { readFileSync } from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import type { Agreement, Job, System } from './workloads/job.ts';

/** Columns and rows of an output. For NDJSON, null becomes "". */
export interface Answer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const EXACT: readonly Agreement[] = [{ as: 'sequence', columns: 'all' }];

/** Number of decimal places to which numbers must agree: more than any workload has, fewer than doubles lose. */
const DIGITS = 3;

export function readAnswer(path: string, { ending }: Pick<Job, 'ending'>): Answer {
  if (ending === 'parquet') throw new Error('readParquetAnswer reads Parquet');
  const text = readFileSync(path, 'utf8');
  if (ending === 'csv') {
    const [columns = [], ...rows] = csvRecords(text);
    return { columns, rows };
  }
  const records = text
    .trimEnd()
    .split('\n')
    .map((line) => Object.entries(JSON.parse(line) as Record<string, unknown>));
  const columns = records[0]?.map(([key]) => key) ?? [];
  for (const record of records) {
    if (record.map(([key]) => key).join() !== columns.join()) throw new Error('a record has other keys');
  }
  return { columns, rows: records.map((record) => record.map(([, value]) => String(value ?? ''))) };
}

/** Like readAnswer, for Parquet. */
export async function readParquetAnswer(path: string): Promise<Answer> {
  const bytes = new Uint8Array(readFileSync(path));
  const records = await parquetReadObjects({ file: bytes.buffer });
  const columns = Object.keys(records[0] ?? {});
  return { columns, rows: records.map((record) => columns.map((column) => String(record[column] ?? ''))) };
}

/** Throws if a system's output differs from ours, as strictly as the workload requires for that system. */
export function compareAnswers(workload: Job, system: System, ours: Answer, theirs: Answer): void {
  const name = `${workload.name}, ${system}`;
  if (ours.columns.join() !== theirs.columns.join()) throw new Error(`${name}: columns ${theirs.columns}`);
  if (ours.rows.length !== theirs.rows.length) {
    throw new Error(`${name}: ${theirs.rows.length} rows, not ${ours.rows.length}`);
  }
  for (const agreement of workload.answer.lenient[system] ?? EXACT) {
    const expected = texts(ours, agreement, workload);
    const found = texts(theirs, agreement, workload);
    const differing = expected.findIndex((text, index) => text !== found[index]);
    if (differing < 0) continue;
    const cells = (text: string): string => text.replaceAll('\u0000', ' | ');
    throw new Error(`${name}: row ${differing} is ${cells(found[differing]!)}, not ${cells(expected[differing]!)}`);
  }
}

/** Returns each row as one text of the relevant cells, in an order that both outputs share. */
function texts({ columns, rows }: Answer, agreement: Agreement, { answer }: Job): string[] {
  const taken = columns.flatMap((column, position) => {
    const wanted = agreement.columns === 'all' || agreement.columns.includes(column);
    return wanted ? [{ position, number: answer.numbers.includes(column) }] : [];
  });
  const found = rows.map((row) =>
    taken.map(({ position, number }) => (number ? value(row[position]!) : row[position]!)).join('\u0000'),
  );
  return agreement.as === 'set' ? found.sort() : found;
}

function value(text: string): string {
  if (text === '') return '';
  const number = Number(text);
  if (!Number.isFinite(number)) throw new Error('an answer has a text where a number belongs');
  return number.toFixed(DIGITS);
}

/** A small strict parser, so that no contender judges itself. */
function csvRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  for (let at = 0; at < text.length; ) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
        if (at >= text.length) throw new Error('an answer ends inside quotes');
        if (text[at] === '"') at++;
        cell += text[at];
      }
      at++;
    } else {
      const start = at;
      while (at < text.length && text[at] !== ',' && text[at] !== '\n') at++;
      cell = text.slice(start, at);
    }
    record.push(cell);
    if (text[at] === ',') {
      at++;
      if (at === text.length) record.push('');
      continue;
    }
    records.push(record);
    record = [];
    at++;
  }
  return records;
}
