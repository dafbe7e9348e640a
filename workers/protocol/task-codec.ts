// The way of the main thread's messages to a worker thread: what tasks have in common (Template, limits, tables) crosses
// once and is a number from then on.
import { NO_ACCOUNT } from '../memory/budget.ts';
import { bytesAt, type Frame, FrameBytes, type PackedPlace } from './frame.ts';
import type { RunTask, TaskPart, ToWorker } from './messages.ts';

/** Values that a thread remembers; the oldest makes room. More accounts and Templates than this send theirs again. */
const SHARED_VALUES_MAX = 512;

/**
 * A task as a list: with names, as many fields cost JSON three times as much on both ends, and a small Run feels it. Its
 * source is a path, or the place of its bytes.
 */
type PackedTask = readonly [
  task: number,
  source: string | PackedPlace,
  ending: string,
  delimiter: string | null,
  headerRow: number | null,
  outputPath: string,
  memoryBytesMax: number,
  spillDirectory: string,
  secretsDirectory: string | null,
  startedAt: string,
  reservationBytes: number,
  accountRow: number,
  /** Places of what tasks share. */
  template: number,
  limits: number,
  tables: number,
  part: TaskPart | null,
];

type PackedMessage =
  | Exclude<ToWorker, { kind: 'start' }>
  | PackedTask
  /** A value that the next tasks name by its place. */
  | { readonly kind: 'value'; readonly place: number; readonly value: object };

/** The main thread's end, for one thread. */
export class TaskEncoder {
  /** A value is known by its identity: who makes tasks keeps using the same objects. */
  #places = new Map<object, number>();
  #values: object[] = [];
  #next = 0;
  #bytes = new FrameBytes();
  #messages: PackedMessage[] = [];

  /** Messages for the next frame. */
  get size(): number {
    return this.#messages.length;
  }

  /** The bytes of a task's source must not be used any more. */
  add(message: ToWorker): void {
    // In this order: what is packed may put values before its task.
    const packed = message.kind === 'start' ? this.#packed(message.task) : message;
    this.#messages.push(packed);
  }

  /** Everything that was added since the last one. */
  frame(): Frame {
    const text = JSON.stringify(this.#messages);
    this.#messages = [];
    return this.#bytes.frame(text);
  }

  #packed(task: RunTask): PackedTask {
    const { source, overrides, output } = task;
    return [
      task.task,
      source.kind === 'bytes' ? this.#bytes.add(source.bytes) : source.path,
      task.ending,
      overrides.delimiter,
      overrides.headerRow,
      output.path,
      output.memoryBytesMax,
      task.spillDirectory,
      task.secretsDirectory,
      task.startedAt,
      task.reservationBytes,
      task.accountRow ?? NO_ACCOUNT,
      this.#place(task.template),
      this.#place(task.limits),
      this.#place(task.tables),
      task.part ?? null,
    ];
  }

  #place(value: object): number {
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    const place = this.#next;
    this.#next = (place + 1) % SHARED_VALUES_MAX;
    const former = this.#values[place];
    if (former !== undefined) this.#places.delete(former);
    this.#values[place] = value;
    this.#places.set(value, place);
    this.#messages.push({ kind: 'value', place, value });
    return place;
  }
}

/** The worker thread's end. */
export class TaskDecoder {
  #values: object[] = [];

  messages(frame: Frame): ToWorker[] {
    const messages: ToWorker[] = [];
    for (const message of JSON.parse(frame.text) as readonly PackedMessage[]) {
      if (isPackedTask(message)) messages.push({ kind: 'start', task: this.#unpacked(frame, message) });
      else if (message.kind === 'value') this.#values[message.place] = message.value;
      else messages.push(message);
    }
    return messages;
  }

  #unpacked(frame: Frame, packed: PackedTask): RunTask {
    const [task, source, ending, delimiter, headerRow, outputPath, memoryBytesMax, ...rest] = packed;
    const [spillDirectory, secretsDirectory, startedAt, reservationBytes, accountRow, ...shared] = rest;
    const [template, limits, tables, part] = shared;
    return {
      task,
      template: this.#values[template] as RunTask['template'],
      source:
        typeof source === 'string' ? { kind: 'file', path: source } : { kind: 'bytes', bytes: bytesAt(frame, source) },
      ending,
      overrides: { delimiter, headerRow },
      limits: this.#values[limits] as RunTask['limits'],
      output: { path: outputPath, memoryBytesMax },
      spillDirectory,
      tables: this.#values[tables] as RunTask['tables'],
      secretsDirectory,
      startedAt,
      reservationBytes,
      accountRow,
      part: part ?? undefined,
    };
  }
}

function isPackedTask(message: PackedMessage): message is PackedTask {
  return Array.isArray(message);
}
