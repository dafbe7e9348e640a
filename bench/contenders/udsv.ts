// uDSV, which only reads; program and output are hand-written JavaScript.
import { createReadStream } from 'node:fs';
import { INPUTS } from '../inputs/index.ts';
import type { Cells, JavaScriptWork } from '../workloads/javascript-program.ts';
import type { Contender } from './contender.ts';
import { requiredPeer } from './peers.ts';
import { TextWriter } from './text-writer.ts';

interface Parser {
  readonly schema: { readonly cols: readonly { readonly name: string }[] };
  readonly stringArrs: unknown;
  chunk(text: string, parse: unknown, onRow: (cells: Cells) => void): void;
  end(): void;
}
interface Library {
  inferSchema(text: string, options: { col: string; row: string; encl: string }): unknown;
  initParser(schema: unknown): Parser;
}

/** Number of bytes per read. */
const READ_BYTES = 1_048_576;

export const udsv: Contender = {
  async prepare() {
    requiredPeer('udsv');
  },
  async run({ workload, input, output }) {
    const { inferSchema, initParser } = requiredPeer<Library>('udsv');
    const { delimiter } = INPUTS[workload.input];
    let parser: Parser | null = null;
    let work: JavaScriptWork | null = null;
    let writer: TextWriter | null = null;
    const onRow = (cells: Cells): void => {
      const row = work!.row(cells);
      if (row !== null) writer!.row(row);
    };
    for await (const text of createReadStream(input, { encoding: 'utf8', highWaterMark: READ_BYTES })) {
      parser ??= initParser(inferSchema(text, { col: delimiter, row: '\n', encl: '"' }));
      work ??= workload.javascript(parser.schema.cols.map(({ name }) => name));
      writer ??= new TextWriter(output, work.columns, workload.ending);
      parser.chunk(text, parser.stringArrs, onRow);
    }
    parser?.end();
    for (const cells of work?.finish?.() ?? []) writer!.row(cells);
    writer?.close();
    return null;
  },
};
