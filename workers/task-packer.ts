// The way of the main thread's messages to a worker thread: what tasks have in common (Template, limits, tables) crosses
// once and is a number from then on.
import type { RunTask, ToWorker } from './messages.ts';
import { bytesAt, type PackedPlace, type Parcel, ParcelBytes } from './parcel.ts';

/** Values that a thread remembers; the oldest makes room. More accounts and Templates than this send theirs again. */
const SHARED_VALUES_MAX = 512;

type SharedName = 'template' | 'limits' | 'tables';

type PackedSource =
  | Exclude<RunTask['source'], { kind: 'bytes' }>
  | { readonly kind: 'bytes'; readonly at: PackedPlace };

type PackedTask = Omit<RunTask, SharedName | 'source'> & {
  readonly [Name in SharedName]: number;
} & { readonly source: PackedSource };

type PackedMessage =
  | Exclude<ToWorker, { kind: 'start' }>
  | { readonly kind: 'start'; readonly task: PackedTask }
  /** A value that the next tasks name by its place. */
  | { readonly kind: 'value'; readonly place: number; readonly value: object };

/** The main thread's end, for one thread. */
export class TaskPacker {
  /** A value is known by its identity: who makes tasks keeps using the same objects. */
  #places = new Map<object, number>();
  #values: object[] = [];
  #next = 0;
  #bytes = new ParcelBytes();
  #messages: PackedMessage[] = [];

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** The bytes of a task's source must not be used any more. */
  add(message: ToWorker): void {
    // In this order: what is packed may put values before its task.
    const packed = message.kind === 'start' ? ({ kind: 'start', task: this.#packed(message.task) } as const) : message;
    this.#messages.push(packed);
  }

  /** Everything that was added since the last one. */
  parcel(): Parcel {
    const text = JSON.stringify(this.#messages);
    this.#messages = [];
    return this.#bytes.parcel(text);
  }

  #packed(task: RunTask): PackedTask {
    const { source } = task;
    // Field by field: the engine copies an object with `...` many times as slowly, and this is done for each Run.
    return {
      task: task.task,
      template: this.#place(task.template),
      source: source.kind === 'bytes' ? { kind: 'bytes', at: this.#bytes.add(source.bytes) } : source,
      ending: task.ending,
      overrides: task.overrides,
      limits: this.#place(task.limits),
      output: task.output,
      spillDirectory: task.spillDirectory,
      tables: this.#place(task.tables),
      secretsDirectory: task.secretsDirectory,
      startedAt: task.startedAt,
      reservationBytes: task.reservationBytes,
    };
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
export class TaskUnpacker {
  #values: object[] = [];

  messages(parcel: Parcel): ToWorker[] {
    const messages: ToWorker[] = [];
    for (const message of JSON.parse(parcel.text) as readonly PackedMessage[]) {
      if (message.kind === 'value') this.#values[message.place] = message.value;
      else if (message.kind !== 'start') messages.push(message);
      else messages.push({ kind: 'start', task: this.#unpacked(parcel, message.task) });
    }
    return messages;
  }

  #unpacked(parcel: Parcel, task: PackedTask): RunTask {
    const { source } = task;
    return {
      task: task.task,
      template: this.#values[task.template] as RunTask['template'],
      source: source.kind === 'bytes' ? { kind: 'bytes', bytes: bytesAt(parcel, source.at) } : source,
      ending: task.ending,
      overrides: task.overrides,
      limits: this.#values[task.limits] as RunTask['limits'],
      output: task.output,
      spillDirectory: task.spillDirectory,
      tables: this.#values[task.tables] as RunTask['tables'],
      secretsDirectory: task.secretsDirectory,
      startedAt: task.startedAt,
      reservationBytes: task.reservationBytes,
    };
  }
}
