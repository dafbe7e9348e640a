// The way of a worker thread's messages to the main thread. Reports stay texts: the main thread only hands them on.
import type { FromWorker, RunOutcome, RunOutcomeOutput, TaskOutcome } from './messages.ts';
import { bytesAt, type PackedPlace, type Parcel, ParcelBytes } from './parcel.ts';

type Done = Extract<FromWorker, { kind: 'done' }>;

type PackedOutput = Omit<RunOutcomeOutput, 'bytes'> & { readonly at: PackedPlace | null };

type PackedOutcome = Omit<TaskOutcome, 'output' | 'reportText'> & {
  readonly output: PackedOutput | null;
  /** Index in the parcel's texts. */
  readonly report: number;
};

type PackedMessage = Exclude<FromWorker, Done> | (Omit<Done, 'outcome'> & { readonly outcome: PackedOutcome });

/** The outcome of a Run as it goes to the main thread. */
export function taskOutcome(outcome: RunOutcome): TaskOutcome {
  // Field by field, here and below: the engine copies an object with `...` many times as slowly.
  return {
    rowsWritten: outcome.rowsWritten,
    truncated: outcome.truncated,
    output: outcome.output,
    failure: outcome.failure,
    busyMilliseconds: outcome.busyMilliseconds,
    reportText: JSON.stringify(outcome.report),
    rowsRead: outcome.report.rows_read,
  };
}

export class OutcomePacker {
  #bytes = new ParcelBytes();
  #messages: PackedMessage[] = [];
  #reports: string[] = [];

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** The bytes of an output must not be used any more. */
  add(message: FromWorker): void {
    const { kind } = message;
    this.#messages.push(
      kind === 'done' ? { kind, task: message.task, outcome: this.#packed(message.outcome) } : message,
    );
  }

  /** Everything that was added since the last one. */
  parcel(): Parcel {
    const parcel = this.#bytes.parcel(JSON.stringify(this.#messages), this.#reports);
    this.#messages = [];
    this.#reports = [];
    return parcel;
  }

  #packed(outcome: TaskOutcome): PackedOutcome {
    return {
      rowsWritten: outcome.rowsWritten,
      truncated: outcome.truncated,
      output: outcome.output === null ? null : this.#packedOutput(outcome.output),
      failure: outcome.failure,
      busyMilliseconds: outcome.busyMilliseconds,
      report: this.#reports.push(outcome.reportText) - 1,
      rowsRead: outcome.rowsRead,
    };
  }

  #packedOutput({ bytes, sizeBytes, sha256, mimeType, ending }: RunOutcomeOutput): PackedOutput {
    const at = bytes === null ? null : this.#bytes.add(bytes);
    return { at, sizeBytes, sha256, mimeType, ending };
  }
}

/** The messages of a parcel that has arrived. */
export function messagesOf(parcel: Parcel): FromWorker[] {
  return (JSON.parse(parcel.text) as readonly PackedMessage[]).map((message) =>
    message.kind === 'done'
      ? { kind: 'done', task: message.task, outcome: unpacked(parcel, message.outcome) }
      : message,
  );
}

function unpacked(parcel: Parcel, packed: PackedOutcome): TaskOutcome {
  return {
    rowsWritten: packed.rowsWritten,
    truncated: packed.truncated,
    output: packed.output === null ? null : unpackedOutput(parcel, packed.output),
    failure: packed.failure,
    busyMilliseconds: packed.busyMilliseconds,
    reportText: parcel.reports[packed.report]!,
    rowsRead: packed.rowsRead,
  };
}

function unpackedOutput(parcel: Parcel, { at, sizeBytes, sha256, mimeType, ending }: PackedOutput): RunOutcomeOutput {
  return { bytes: at === null ? null : bytesAt(parcel, at), sizeBytes, sha256, mimeType, ending };
}
