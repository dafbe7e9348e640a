// The way of a worker thread's messages to the main thread. Reports stay texts: the main thread only hands them on.
import { reportText } from '../run/report-text.ts';
import { bytesAt, type Frame, FrameBytes, type PackedPlace } from './frame.ts';
import type { FromWorker, RunOutcome, RunOutcomeOutput, TaskOutcome } from './messages.ts';

type Done = Extract<FromWorker, { kind: 'done' }>;

type PackedOutput = readonly [
  at: PackedPlace | null,
  sizeBytes: number,
  sha256: string | null,
  mimeType: string,
  ending: string,
];

/** The end of a Run as a list: with names, as many fields cost JSON twice as much on both ends. */
type PackedDone = readonly [
  task: number,
  rowsWritten: number | null,
  truncated: boolean,
  output: PackedOutput | null,
  rejects: PackedOutput | null,
  failure: TaskOutcome['failure'],
  busyMilliseconds: number,
  rowsRead: number,
  /** Index in the frame's texts. */
  report: number,
];

type PackedMessage = Exclude<FromWorker, Done> | PackedDone;

/** The outcome of a Run as it goes to the main thread. */
export function taskOutcome(outcome: RunOutcome): TaskOutcome {
  // Field by field: the engine copies an object with `...` many times as slowly.
  return {
    rowsWritten: outcome.rowsWritten,
    truncated: outcome.truncated,
    output: outcome.output,
    rejects: outcome.rejects,
    failure: outcome.failure,
    busyMilliseconds: outcome.busyMilliseconds,
    reportText: reportText(outcome.report),
    rowsRead: outcome.report.rows_read,
  };
}

export class OutcomeCodec {
  #bytes = new FrameBytes();
  #messages: PackedMessage[] = [];
  #reports: string[] = [];

  /** Messages for the next frame. */
  get size(): number {
    return this.#messages.length;
  }

  /** The bytes of an output must not be used any more. */
  add(message: FromWorker): void {
    this.#messages.push(message.kind === 'done' ? this.#packed(message) : message);
  }

  /** Everything that was added since the last one. */
  frame(): Frame {
    const frame = this.#bytes.frame(JSON.stringify(this.#messages), this.#reports);
    this.#messages = [];
    this.#reports = [];
    return frame;
  }

  #packed({ task, outcome }: Done): PackedDone {
    const { rowsWritten, truncated, output, rejects, failure, busyMilliseconds, rowsRead, reportText } = outcome;
    const packedOutput = output === null ? null : this.#packedOutput(output);
    const packedRejects = rejects === null ? null : this.#packedOutput(rejects);
    const report = this.#reports.push(reportText) - 1;
    return [task, rowsWritten, truncated, packedOutput, packedRejects, failure, busyMilliseconds, rowsRead, report];
  }

  #packedOutput({ bytes, sizeBytes, sha256, mimeType, ending }: RunOutcomeOutput): PackedOutput {
    return [bytes === null ? null : this.#bytes.add(bytes), sizeBytes, sha256, mimeType, ending];
  }
}

/** The messages of a frame that has arrived. */
export function messagesOf(frame: Frame): FromWorker[] {
  const messages = JSON.parse(frame.text) as readonly PackedMessage[];
  return messages.map((message) => (isPackedDone(message) ? unpacked(frame, message) : message));
}

function isPackedDone(message: PackedMessage): message is PackedDone {
  return Array.isArray(message);
}

function unpacked(frame: Frame, packed: PackedDone): FromWorker {
  const [task, rowsWritten, truncated, output, rejects, failure, busyMilliseconds, rowsRead, report] = packed;
  return {
    kind: 'done',
    task,
    outcome: {
      rowsWritten,
      truncated,
      output: output === null ? null : unpackedOutput(frame, output),
      rejects: rejects === null ? null : unpackedOutput(frame, rejects),
      failure,
      busyMilliseconds,
      reportText: frame.reports[report]!,
      rowsRead,
    },
  };
}

function unpackedOutput(frame: Frame, [at, sizeBytes, sha256, mimeType, ending]: PackedOutput): RunOutcomeOutput {
  return { bytes: at === null ? null : bytesAt(frame, at), sizeBytes, sha256, mimeType, ending };
}
