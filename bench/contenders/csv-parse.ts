// csv-parse and csv-stringify with hand-written JavaScript in between: a typical Node service.
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { INPUTS } from '../inputs/index.ts';
import type { Cells, JavaScriptWork } from '../workloads/javascript-program.ts';
import type { Workload } from '../workloads/workload.ts';
import type { Contender } from './contender.ts';
import { requiredPeer } from './peers.ts';
import { jsonLine } from './text-writer.ts';

type Parse = (options: Record<string, unknown>) => Transform;
type Stringify = (options?: Record<string, unknown>) => Transform;

export const csvParse: Contender = {
  async prepare() {
    requiredPeer('csv-parse');
    requiredPeer('csv-stringify');
  },
  async run({ workload, input, output }) {
    const { parse } = requiredPeer<{ parse: Parse }>('csv-parse');
    const { delimiter } = INPUTS[workload.input];
    await pipeline(
      createReadStream(input),
      parse({ delimiter }),
      new ProgramStream(workload),
      writer(workload),
      createWriteStream(output),
    );
    return null;
  },
};

/** Transforms rows, with the header first. */
class ProgramStream extends Transform {
  readonly #workload: Workload;
  #work: JavaScriptWork | null = null;

  constructor(workload: Workload) {
    super({ objectMode: true });
    this.#workload = workload;
  }

  override _transform(cells: Cells, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#work === null) {
      this.#work = this.#workload.javascript(cells);
      done(null, this.#work.columns);
    } else done(null, this.#work.row(cells) ?? undefined);
  }

  override _flush(done: TransformCallback): void {
    for (const cells of this.#work?.finish?.() ?? []) this.push(cells);
    done();
  }
}

function writer({ ending }: Workload): Transform {
  if (ending === 'csv') return requiredPeer<{ stringify: Stringify }>('csv-stringify').stringify();
  let columns: Cells | null = null;
  return new Transform({
    writableObjectMode: true,
    transform(cells: Cells, _encoding, done) {
      if (columns !== null) return done(null, jsonLine(columns, cells));
      columns = cells;
      done();
    },
  });
}
