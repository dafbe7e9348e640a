// csv-parse with hand-written JavaScript: what a Node service does today.
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SELECTED, type WorkloadName } from '../workloads.ts';
import type { Contender } from './contender.ts';
import { requiredPeer } from './peers.ts';

type Parse = (options: { columns: boolean }) => Transform;
type Row = Record<string, string>;

/** Text gathered before each write, in characters. */
const PIECE_CHARACTERS = 65_536;

export const csvParse: Contender = {
  async prepare() {
    requiredPeer('csv-parse');
  },
  async run(workload, input, output) {
    const { parse } = requiredPeer<{ parse: Parse }>('csv-parse');
    await pipeline(createReadStream(input), parse({ columns: true }), lines(workload), createWriteStream(output));
  },
};

function lines(workload: WorkloadName): Transform {
  const write = writers[workload]();
  let text = '';
  return new Transform({
    writableObjectMode: true,
    transform(row: Row, _encoding, done) {
      text += write(row);
      if (text.length < PIECE_CHARACTERS) return done();
      const piece = text;
      text = '';
      done(null, piece);
    },
    flush(done) {
      done(null, text);
    },
  });
}

const writers: Record<WorkloadName, () => (row: Row) => string> = {
  W1: () =>
    withHeader(
      SELECTED.map(([, name]) => name),
      (row) => SELECTED.map(([column]) => row[column]!),
    ),
  W4: () => {
    const seen = new Set<string>();
    let columns: string[] | null = null;
    return (row) => {
      const head = columns === null ? csvLine(Object.keys(row)) : '';
      columns ??= Object.keys(row);
      if (seen.has(row['email']!)) return head;
      seen.add(row['email']!);
      return head + csvLine(columns.map((column) => row[column]!));
    };
  },
  W7: () => (row) => `${JSON.stringify(Object.fromEntries(SELECTED.map(([column, name]) => [name, row[column]])))}\n`,
};

function withHeader(names: readonly string[], cells: (row: Row) => readonly string[]): (row: Row) => string {
  let head = csvLine(names);
  return (row) => {
    const line = head + csvLine(cells(row));
    head = '';
    return line;
  };
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;
}
