// papaparse in both directions with hand-written JavaScript in between. It receives decoded text, because its own
// decoding breaks characters that span two chunks.
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { INPUTS } from '../inputs/index.ts';
import type { Cells, JavaScriptWork } from '../workloads/javascript-program.ts';
import type { Contender } from './contender.ts';
import { requiredPeer } from './peers.ts';
import { jsonLine } from './text-writer.ts';

interface Library {
  parse(
    input: Readable,
    options: {
      delimiter: string;
      newline: string;
      skipEmptyLines: boolean;
      chunk(results: { data: Cells[] }): void;
      complete(): void;
      error(error: Error): void;
    },
  ): void;
  unparse(rows: readonly Cells[], options: { newline: string; header: boolean }): string;
}

/** Number of bytes per read; its default of 64 KiB is slower. */
const READ_BYTES = 1_048_576;

/** Number of rows written at once if all rows are emitted at the end. */
const WRITE_ROWS = 10_000;

export const papaparse: Contender = {
  async prepare() {
    requiredPeer('papaparse');
  },
  async run({ workload, input, output }) {
    const { parse, unparse } = requiredPeer<Library>('papaparse');
    const file = openSync(output, 'w');
    let work: JavaScriptWork | null = null;
    const write = (rows: readonly Cells[]): void => {
      if (rows.length === 0) return;
      if (workload.ending === 'csv') writeSync(file, `${unparse(rows, { newline: '\n', header: false })}\n`);
      else writeSync(file, rows.map((cells) => jsonLine(work!.columns, cells)).join(''));
    };
    const chunk = ({ data }: { data: Cells[] }): void => {
      const rows: Cells[] = [];
      for (const cells of data) {
        if (work === null) {
          work = workload.javascript(cells);
          if (workload.ending === 'csv') rows.push(work.columns);
          continue;
        }
        const row = work.row(cells);
        if (row !== null) rows.push(row);
      }
      write(rows);
    };
    const stream = createReadStream(input, { encoding: 'utf8', highWaterMark: READ_BYTES });
    const { delimiter } = INPUTS[workload.input];
    await new Promise<void>((complete, error) => {
      parse(stream, { delimiter, newline: '\n', skipEmptyLines: true, chunk, complete, error });
    });
    for (const rows of pieces((work as JavaScriptWork | null)?.finish?.() ?? [])) write(rows);
    closeSync(file);
    return null;
  },
};

function* pieces(rows: Iterable<Cells>): Iterable<Cells[]> {
  let piece: Cells[] = [];
  for (const cells of rows) {
    piece.push(cells);
    if (piece.length < WRITE_ROWS) continue;
    yield piece;
    piece = [];
  }
  yield piece;
}
