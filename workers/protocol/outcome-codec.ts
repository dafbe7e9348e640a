// Encodes messages from a worker thread to the main thread, and posts those of one turn together.

import type { MessagePort } from 'node:worker_threads';
import { bytesAt, FRAME_MESSAGES_MAX, type Frame, FrameBytes, type KeysMemory, type PackedPlace } from './frame.ts';
import type { FromWorker, RunOutcome, RunOutcomeOutput, ShareOpened, TaskOutcome } from './messages.ts';
import { reportText } from './report.ts';

// Encodes messages from a worker thread to the main thread. Reports stay JSON text because the main thread only
// forwards them.

type Done = Extract<FromWorker, { kind: 'done' }>;

type PackedOutput = readonly [
  at: PackedPlace | null,
  sizeBytes: number,
  sha256: string | null,
  mimeType: string,
  ending: string,
];

/** The end of a Run as an array. With property names, JSON with this many fields costs twice as much on both sides. */
type PackedDone = readonly [
  task: number,
  rowsWritten: number | null,
  truncated: boolean,
  output: PackedOutput | null,
  rejects: PackedOutput | null,
  failure: TaskOutcome['failure'],
  busyMilliseconds: number,
  rowsRead: number,
  /** Index in the frame's `reports`. */
  report: number,
  results: TaskOutcome['results'] | null,
];

/** `keys`: index in the frame's `shared`. */
type PackedShareOpened = Omit<ShareOpened, 'keys'> & { readonly keys: number | null };

type PackedMessage = Exclude<FromWorker, Done | ShareOpened> | PackedShareOpened | PackedDone;

/** Converts a Run's outcome to the form that goes to the main thread. */
export function taskOutcome(outcome: RunOutcome): TaskOutcome {
  // Field by field, because copying an object with `...` is many times slower.
  return {
    rowsWritten: outcome.rowsWritten,
    truncated: outcome.truncated,
    output: outcome.output,
    rejects: outcome.rejects,
    failure: outcome.failure,
    busyMilliseconds: outcome.busyMilliseconds,
    reportText: reportText(outcome.report),
    rowsRead: outcome.report.rows_read,
    ...(outcome.results !== undefined && { results: outcome.results }),
  };
}

export class OutcomeCodec {
  #bytes = new FrameBytes();
  #messages: PackedMessage[] = [];
  #reports: string[] = [];
  #shared: KeysMemory[] = [];

  /** Number of messages in the next frame. */
  get size(): number {
    return this.#messages.length;
  }

  /** The caller must not use the bytes of an output after this call. */
  add(message: FromWorker): void {
    if (message.kind === 'done') this.#messages.push(this.#packed(message));
    else if (message.kind === 'share_opened') this.#messages.push(this.#packedShareOpened(message));
    else this.#messages.push(message);
  }

  /** Returns a frame with all messages added since the previous frame. */
  frame(): Frame {
    const frame = this.#bytes.frame(JSON.stringify(this.#messages), this.#reports, this.#shared);
    this.#messages = [];
    this.#reports = [];
    if (this.#shared.length > 0) this.#shared = [];
    return frame;
  }

  #packedShareOpened(message: ShareOpened): PackedShareOpened {
    const { keys } = message;
    return { ...message, keys: keys === null ? null : this.#shared.push(keys) - 1 };
  }

  #packed({ task, outcome }: Done): PackedDone {
    const { rowsWritten, truncated, output, rejects, failure, busyMilliseconds, rowsRead, reportText, results } =
      outcome;
    const packedOutput = output === null ? null : this.#packedOutput(output);
    const packedRejects = rejects === null ? null : this.#packedOutput(rejects);
    const report = this.#reports.push(reportText) - 1;
    const end = [failure, busyMilliseconds, rowsRead, report, results ?? null] as const;
    return [task, rowsWritten, truncated, packedOutput, packedRejects, ...end];
  }

  #packedOutput({ bytes, sizeBytes, sha256, mimeType, ending }: RunOutcomeOutput): PackedOutput {
    return [bytes === null ? null : this.#bytes.add(bytes), sizeBytes, sha256, mimeType, ending];
  }
}

/** Decodes the messages of a received frame. */
export function messagesOf(frame: Frame): FromWorker[] {
  const messages = JSON.parse(frame.text) as readonly PackedMessage[];
  return messages.map((message) => {
    if (isPackedDone(message)) return unpacked(frame, message);
    return message.kind === 'share_opened' ? unpackedShareOpened(frame, message) : message;
  });
}

function isPackedDone(message: PackedMessage): message is PackedDone {
  return Array.isArray(message);
}

function unpackedShareOpened({ shared }: Frame, message: PackedShareOpened): ShareOpened {
  return { ...message, keys: message.keys === null ? null : (shared[message.keys] as KeysMemory) };
}

function unpacked(frame: Frame, packed: PackedDone): FromWorker {
  const [task, rowsWritten, truncated, output, rejects, failure, busyMilliseconds, rowsRead, report, results] = packed;
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
      ...(results === null || results === undefined ? {} : { results }),
    },
  };
}

function unpackedOutput(frame: Frame, [at, sizeBytes, sha256, mimeType, ending]: PackedOutput): RunOutcomeOutput {
  return { bytes: at === null ? null : bytesAt(frame, at), sizeBytes, sha256, mimeType, ending };
}

// Collects the messages that a thread sends during one turn of its event loop, and posts them together: many small
// Runs end in the same turn.

export class FrameSender {
  readonly #port: MessagePort;
  readonly #encoder = new OutcomeCodec();

  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** The caller must not use the bytes of an output after this call. */
  send(message: FromWorker): void {
    if (this.#encoder.size === 0) setImmediate(() => this.#flush());
    this.#encoder.add(message);
    if (this.#encoder.size >= FRAME_MESSAGES_MAX) this.#flush();
  }

  /** Posts this message and all waiting ones at once, because the end of the current turn may be 8 ms away. */
  sendNow(message: FromWorker): void {
    this.#encoder.add(message);
    this.#flush();
  }

  #flush(): void {
    if (this.#encoder.size === 0) return;
    const frame = this.#encoder.frame();
    this.#port.postMessage(frame, frame.buffers);
  }
}
