// The way of a worker thread's messages to the main thread. Reports stay texts: the main thread only hands them on.
import type { FromWorker, RunOutcome, TaskOutcome } from './messages.ts';
import { bytesAt, type PackedPlace, type Parcel, ParcelBytes } from './parcel.ts';

type Done = Extract<FromWorker, { kind: 'done' }>;

type PackedOutcome = Omit<TaskOutcome, 'output' | 'reportText'> & {
  readonly output: (Omit<NonNullable<TaskOutcome['output']>, 'bytes'> & { readonly at: PackedPlace | null }) | null;
  /** Index in the parcel's texts. */
  readonly report: number;
};

type PackedMessage = Exclude<FromWorker, Done> | (Omit<Done, 'outcome'> & { readonly outcome: PackedOutcome });

/** The outcome of a Run as it goes to the main thread. */
export function taskOutcome({ report, ...outcome }: RunOutcome): TaskOutcome {
  return { ...outcome, reportText: JSON.stringify(report), rowsRead: report.rows_read };
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
    this.#messages.push(message.kind === 'done' ? { ...message, outcome: this.#packed(message.outcome) } : message);
  }

  /** Everything that was added since the last one. */
  parcel(): Parcel {
    const parcel = this.#bytes.parcel(JSON.stringify(this.#messages), this.#reports);
    this.#messages = [];
    this.#reports = [];
    return parcel;
  }

  #packed({ output, reportText, ...outcome }: TaskOutcome): PackedOutcome {
    const report = this.#reports.push(reportText) - 1;
    if (output === null) return { ...outcome, output, report };
    const { bytes, ...described } = output;
    return { ...outcome, output: { ...described, at: bytes === null ? null : this.#bytes.add(bytes) }, report };
  }
}

/** The messages of a parcel that has arrived. */
export function messagesOf(parcel: Parcel): FromWorker[] {
  return (JSON.parse(parcel.text) as readonly PackedMessage[]).map((message) =>
    message.kind === 'done' ? { ...message, outcome: unpacked(parcel, message.outcome) } : message,
  );
}

function unpacked(parcel: Parcel, { output, report, ...outcome }: PackedOutcome): TaskOutcome {
  const reportText = parcel.reports[report]!;
  if (output === null) return { ...outcome, output, reportText };
  const { at, ...described } = output;
  return { ...outcome, output: { ...described, bytes: at === null ? null : bytesAt(parcel, at) }, reportText };
}
