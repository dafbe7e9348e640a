// Runs that have ended, until they expire: numbers, texts and bytes of each in one stretch. Kept as objects, the Runs of
// half an hour were most of what the collector looked through. All are kept for the same time, so that they expire about in
// the order in which they ended; one is forgotten only when those before it are.
import type { FailureCode } from '../../workers/failure.ts';
import { ByteQueue } from '../byte-queue.ts';
import type { OutputPlace } from '../outputs/output-store.ts';
import { PlaceTable } from './place-table.ts';
import type { RunRecord } from './run.ts';
import { textHash } from './text-hash.ts';

// A stretch: the numbers at these places; id, account, Template and error code ('' = none), a line each; the path of the
// output, where it is a file; the JSON; the bytes of the output, where it is in memory.
const EXPIRES_AT = 0;
const CREATED_AT = 8;
/** NO_OUTPUT: the Run failed. */
const OUTPUT_SIZE = 16;
const ID_HASH = 24;
const TEXT_BYTES = 28;
/** 0: it is in memory. */
const PATH_BYTES = 32;
const JSON_BYTES = 36;
const NUMBERS_BYTES = 40;

const NO_OUTPUT = -1;
const NOTHING = new Uint8Array(0);

export interface EndedRunsOptions {
  /** Called with the output of each Run whose time has come, after it has been forgotten. */
  readonly expired: (output: OutputPlace) => void;
  /** Called with what a Run weighs, in bytes, its output left out; negative when it is forgotten. */
  readonly charge: (bytes: number) => void;
}

/** What a Run weighs beyond its stretch: its slots of the table, and the rest of a block. */
const OVERHEAD_BYTES = 100;

export class EndedRuns {
  #queue = new ByteQueue();
  #places = new PlaceTable();
  #size = 0;
  #options: EndedRunsOptions;

  constructor(options: EndedRunsOptions) {
    this.#options = options;
  }

  /** Runs held, those included whose time has come and that no sweep has forgotten yet. */
  get size(): number {
    return this.#size;
  }

  /** Keeps what the Run is now; each Run once. */
  add({ id, account, templateId, createdAt, expiresAt, errorCode, output, json }: RunRecord): void {
    if (json === null) throw new Error('a Run that is not over was to be kept');
    // Ids and codes have ASCII letters only.
    const text = `${id}\n${account}\n${templateId}\n${errorCode ?? ''}`;
    const path = output?.path ?? '';
    const pathBytes = Buffer.byteLength(path);
    const bytes = output?.bytes ?? NOTHING;
    const place = this.#queue.add(NUMBERS_BYTES + text.length + pathBytes + json.length + bytes.length);
    const hash = textHash(id);
    const stretch = this.#queue.at(place);
    stretch.writeDoubleLE(expiresAt, EXPIRES_AT);
    stretch.writeDoubleLE(createdAt, CREATED_AT);
    stretch.writeDoubleLE(output?.sizeBytes ?? NO_OUTPUT, OUTPUT_SIZE);
    stretch.writeUInt32LE(hash, ID_HASH);
    stretch.writeUInt32LE(text.length, TEXT_BYTES);
    stretch.writeUInt32LE(pathBytes, PATH_BYTES);
    stretch.writeUInt32LE(json.length, JSON_BYTES);
    stretch.write(text, NUMBERS_BYTES, 'latin1');
    if (pathBytes > 0) stretch.write(path, NUMBERS_BYTES + text.length);
    stretch.set(json, jsonStart(stretch));
    stretch.set(bytes, jsonEnd(stretch));
    this.#places.add(hash, place);
    this.#size += 1;
    this.#options.charge(weight(stretch));
  }

  /** The Run as it was kept, with bytes of its own; null: unknown, or its time has come at `now`. */
  get(id: string, now: number): RunRecord | null {
    const place = this.#places.find(textHash(id), (each) => textsOf(this.#queue.at(each))[0] === id);
    if (place === null) return null;
    const stretch = this.#queue.at(place);
    const expiresAt = stretch.readDoubleLE(EXPIRES_AT);
    if (expiresAt <= now) return null;
    const [, account, templateId, errorCode] = textsOf(stretch);
    const path = pathOf(stretch);
    const createdAt = stretch.readDoubleLE(CREATED_AT);
    const sizeBytes = stretch.readDoubleLE(OUTPUT_SIZE);
    const status = sizeBytes === NO_OUTPUT ? 'failed' : 'succeeded';
    const bytes = path === null ? Buffer.from(stretch.subarray(jsonEnd(stretch))) : null;
    const output = sizeBytes === NO_OUTPUT ? null : { sizeBytes, path, bytes };
    const json = Buffer.from(stretch.subarray(jsonStart(stretch), jsonEnd(stretch)));
    return { id, account, templateId, createdAt, status, expiresAt, errorCode: errorCode || null, output, json };
  }

  /** Forgets at most `max` Runs whose time has come. Returns how many: `max` = call again soon. */
  sweep(now: number, max: number): number {
    let forgotten = 0;
    for (; forgotten < max; forgotten += 1) {
      const { first } = this.#queue;
      if (first === null) break;
      const stretch = this.#queue.at(first);
      if (stretch.readDoubleLE(EXPIRES_AT) > now) break;
      const path = pathOf(stretch);
      const sizeBytes = stretch.readDoubleLE(OUTPUT_SIZE);
      const bytes = weight(stretch);
      this.#places.remove(stretch.readUInt32LE(ID_HASH), first);
      this.#queue.removeFirst();
      this.#size -= 1;
      this.#options.charge(-bytes);
      if (sizeBytes !== NO_OUTPUT) this.#options.expired({ sizeBytes, path });
    }
    return forgotten;
  }
}

type Texts = [id: string, account: string, templateId: string, errorCode: FailureCode | ''];

function textsOf(stretch: Buffer): Texts {
  const end = NUMBERS_BYTES + stretch.readUInt32LE(TEXT_BYTES);
  return stretch.toString('latin1', NUMBERS_BYTES, end).split('\n') as Texts;
}

function pathOf(stretch: Buffer): string | null {
  const end = jsonStart(stretch);
  const start = end - stretch.readUInt32LE(PATH_BYTES);
  return start === end ? null : stretch.toString('utf8', start, end);
}

function weight(stretch: Buffer): number {
  return OVERHEAD_BYTES + jsonEnd(stretch);
}

function jsonStart(stretch: Buffer): number {
  return NUMBERS_BYTES + stretch.readUInt32LE(TEXT_BYTES) + stretch.readUInt32LE(PATH_BYTES);
}

function jsonEnd(stretch: Buffer): number {
  return jsonStart(stretch) + stretch.readUInt32LE(JSON_BYTES);
}
