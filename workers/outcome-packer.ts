// The way of a worker thread's messages to the main thread. Reports stay texts: the main thread only hands them on.
import type { FromWorker, RunOutcome, RunOutcomeOutput, TaskOutcome } from './messages.ts';
import { bytesAt, type PackedPlace, type Parcel, ParcelBytes } from './parcel.ts';
import { reportText } from './report-text.ts';

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
  failure: TaskOutcome['failure'],
  busyMilliseconds: number,
  rowsRead: number,
  /** Index in the parcel's texts. */
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
    failure: outcome.failure,
    busyMilliseconds: outcome.busyMilliseconds,
    reportText: reportText(outcome.report),
    rowsRead: outcome.report.rows_read,
  };
}

export class OutcomePacker {
  #bytes = new ParcelBytes();
  #messages: PackedMessage[] = [];
  #reports: string[] = [];

  /** Messages for the next parcel. */
  get size(): number {
    return this.#messages.length;
  }

  /** The bytes of an output must not be used any more. */
  add(message: FromWorker): void {
    this.#messages.push(message.kind === 'done' ? this.#packed(message) : message);
  }

  /** Everything that was added since the last one. */
  parcel(): Parcel {
    const parcel = this.#bytes.parcel(JSON.stringify(this.#messages), this.#reports);
    this.#messages = [];
    this.#reports = [];
    return parcel;
  }

  #packed({ task, outcome }: Done): PackedDone {
    const { rowsWritten, truncated, output, failure, busyMilliseconds, rowsRead, reportText } = outcome;
    const packedOutput = output === null ? null : this.#packedOutput(output);
    const report = this.#reports.push(reportText) - 1;
    return [task, rowsWritten, truncated, packedOutput, failure, busyMilliseconds, rowsRead, report];
  }

  #packedOutput({ bytes, sizeBytes, sha256, mimeType, ending }: RunOutcomeOutput): PackedOutput {
    return [bytes === null ? null : this.#bytes.add(bytes), sizeBytes, sha256, mimeType, ending];
  }
}

/** The messages of a parcel that has arrived. */
export function messagesOf(parcel: Parcel): FromWorker[] {
  const messages = JSON.parse(parcel.text) as readonly PackedMessage[];
  return messages.map((message) => (isPackedDone(message) ? unpacked(parcel, message) : message));
}

function isPackedDone(message: PackedMessage): message is PackedDone {
  return Array.isArray(message);
}

function unpacked(parcel: Parcel, packed: PackedDone): FromWorker {
  const [task, rowsWritten, truncated, output, failure, busyMilliseconds, rowsRead, report] = packed;
  return {
    kind: 'done',
    task,
    outcome: {
      rowsWritten,
      truncated,
      output: output === null ? null : unpackedOutput(parcel, output),
      failure,
      busyMilliseconds,
      reportText: parcel.reports[report]!,
      rowsRead,
    },
  };
}

function unpackedOutput(parcel: Parcel, [at, sizeBytes, sha256, mimeType, ending]: PackedOutput): RunOutcomeOutput {
  return { bytes: at === null ? null : bytesAt(parcel, at), sizeBytes, sha256, mimeType, ending };
}
