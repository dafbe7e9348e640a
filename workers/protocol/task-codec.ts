// Encodes messages from the main thread to a worker thread. Values that tasks share (Template, limits, tables) are
// sent once; later tasks refer to them by number.
import { bytesAt, type Frame, FrameBytes, type KeysMemory, type PackedPlace, type Shared } from './frame.ts';
import {
  type FileParts,
  NO_ACCOUNT,
  type RunTask,
  type TaskFile,
  type TaskGroups,
  type TaskRanges,
  type ToWorker,
} from './messages.ts';

/**
 * Number of shared values that a thread remembers. The oldest value is replaced first; if more accounts and Templates
 * than this are active, their values are sent again.
 */
const SHARED_VALUES_MAX = 512;

const NO_FILES: readonly TaskFile[] = [];

/**
 * A task as an array. With property names, JSON with this many fields costs three times as much on both sides, which
 * is noticeable for a small Run. The source is either a path or the position of the bytes in the frame.
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
  /** Numbers of the shared values. */
  template: number,
  limits: number,
  tables: number,
  /** Its shared memory by index in the frame. */
  parts: (Omit<FileParts, 'turns' | 'keys'> & { readonly turns: number; readonly keys: number | null }) | null,
  showsHeaders: boolean,
  fileName: string | null,
  more: readonly TaskFile[],
  groups: TaskGroups | null,
  ranges: TaskRanges | null,
];

type PackedMessage =
  | Exclude<ToWorker, { kind: 'start' }>
  | PackedTask
  /** A shared value, which the following tasks refer to by its number. */
  | { readonly kind: 'value'; readonly place: number; readonly value: object };

/** The main thread's side, for one thread. */
export class TaskEncoder {
  /** Shared values are compared by identity: the code that creates tasks reuses the same objects. */
  #places = new Map<object, number>();
  #values: object[] = [];
  #next = 0;
  #bytes = new FrameBytes();
  #messages: PackedMessage[] = [];
  #shared: Shared[] = [];

  /** Number of messages in the next frame. */
  get size(): number {
    return this.#messages.length;
  }

  /** The caller must not use the bytes of a task's source after this call. */
  add(message: ToWorker): void {
    // Pack first: packing a task may add shared values to the messages, and these must precede the task.
    const packed = message.kind === 'start' ? this.#packed(message.task) : message;
    this.#messages.push(packed);
  }

  /** Returns a frame with all messages added since the previous frame. */
  frame(): Frame {
    const text = JSON.stringify(this.#messages);
    const shared = this.#shared;
    this.#messages = [];
    if (shared.length > 0) this.#shared = [];
    return this.#bytes.frame(text, [], shared);
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
      task.parts === undefined ? null : this.#packedParts(task.parts),
      task.showsHeaders ?? false,
      task.fileName ?? null,
      task.more ?? NO_FILES,
      task.groups ?? null,
      task.ranges ?? null,
    ];
  }

  #packedParts({ turns, keys, ...parts }: FileParts): PackedTask[15] {
    const place = (shared: Shared): number => this.#shared.push(shared) - 1;
    return { ...parts, turns: place(turns), keys: keys === null ? null : place(keys) };
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

/** The worker thread's side. */
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
    const [template, limits, tables, parts, showsHeaders, fileName, more, groups, ranges] = shared;
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
      parts: parts === null ? undefined : unpackedParts(frame, parts),
      showsHeaders,
      fileName,
      more,
      ...(groups === null ? {} : { groups }),
      ...(ranges === null ? {} : { ranges }),
    };
  }
}

function unpackedParts({ shared }: Frame, parts: NonNullable<PackedTask[15]>): FileParts {
  const keys = parts.keys === null ? null : (shared[parts.keys] as KeysMemory);
  return { ...parts, turns: shared[parts.turns] as SharedArrayBuffer, keys };
}

function isPackedTask(message: PackedMessage): message is PackedTask {
  return Array.isArray(message);
}
