// Checks that the contenders did the same work: each output as records, however it is quoted and escaped.
import { readFileSync } from 'node:fs';
import type { Workload } from './workloads.ts';

export type Records = readonly (readonly string[])[];

/** The output's records, header included; NDJSON as the values in their order, null as "". */
export function readRecords(path: string, workload: Workload): Records {
  const text = readFileSync(path, 'utf8');
  if (workload.ending === 'csv') return csvRecords(text);
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => Object.entries(JSON.parse(line)).map(([key, value]) => `${key}=${value ?? ''}`));
}

/** Throws where two answers differ. `loose`: only the values of the third column are compared, as a set. */
export function compareRecords(name: string, expected: Records, found: Records, loose: boolean): void {
  const left = loose ? emails(expected) : expected;
  const right = loose ? emails(found) : found;
  if (left.length !== right.length) throw new Error(`${name}: ${right.length} records, not ${left.length}`);
  const differing = left.findIndex((record, index) => record.join('\u0000') !== right[index]!.join('\u0000'));
  if (differing >= 0)
    throw new Error(`${name}: record ${differing} differs: ${right[differing]} for ${left[differing]}`);
}

function emails(records: Records): Records {
  return records.map((record) => [record[2]!]).sort((left, right) => (left[0]! < right[0]! ? -1 : 1));
}

/** A small strict reader of its own, so that no contender is its own judge. */
function csvRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  for (let at = 0; at < text.length; ) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
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
      continue;
    }
    records.push(record);
    record = [];
    at++;
  }
  return records;
}
