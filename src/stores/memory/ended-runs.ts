// Runs that have ended, until they expire: numbers, texts and bytes of each in one record. Kept as objects, the Runs of
// half an hour were most of what the collector looked through; and the JSON of each was most of what they weighed, though
// that of Runs of one Template differs in a few words. All are kept for the same time, so that they expire about in
// the order in which they ended; one is forgotten only when those before it are.
import type { FailureCode } from '../../../workers/protocol/failure.ts';
import { HashIndex } from '../../collections/hash-index.ts';
import { SegmentedFifo } from '../../collections/segmented-fifo.ts';
import { textHash } from '../../collections/text-hash.ts';
import type { OutputRef } from '../../outputs/output-store.ts';
import type { RunRecord } from '../../runs/run.ts';
import { readDifference, TextModel } from './text-likeness.ts';

// A record: the numbers at these places; id, account, Template and error code ('' = none), a line each; the paths of the
// output and of the rejected rows, where they are files; the JSON, or how it differs from that of the model; the bytes of
// both, where they are in memory.
const EXPIRES_AT = 0;
const CREATED_AT = 8;
/** NO_OUTPUT: the Run failed. */
const OUTPUT_SIZE = 16;
const ID_HASH = 24;
const TEXT_BYTES = 28;
/** 0: it is in memory. */
const PATH_BYTES = 32;
const JSON_BYTES = 36;
/** NO_OUTPUT: the Run has none. */
const REJECTS_SIZE = 40;
const REJECTS_PATH_BYTES = 48;
/** The place of the Run whose JSON is the model; ITS_OWN: the JSON is written out. */
const MODEL_PLACE = 52;
/** Of the JSON as it was. */
const JSON_LENGTH = 60;
const NUMBERS_BYTES = 64;

const ITS_OWN = -1;

/**
 * Models of a Template in one block: most Templates have one report where all goes well, and a few where cells are in trouble.
 * The oldest makes room for a new one.
 */
const MODELS_MAX = 4;

/** Where a JSON differs by more, in bytes, it is written out. */
const DIFFERENCE_BYTES_MAX = 2_048;

const NO_OUTPUT = -1;
const NOTHING = new Uint8Array(0);

export interface EndedRunsOptions {
  /** Called with the output of each Run whose time has come, after it has been forgotten. */
  readonly expired: (output: OutputRef) => void;
  /** Called with what a Run weighs, in bytes, its output left out; negative when it is forgotten. */
  readonly charge: (bytes: number) => void;
}

/** What a Run weighs beyond its record: its slots of the table, the rest of a block, and its part of models. */
const OVERHEAD_BYTES = 100;

/** A Run whose JSON others are kept by. */
interface Model {
  readonly place: number;
  readonly text: TextModel;
}

/** How the JSON of a Run is kept. */
interface KeptJson {
  readonly bytes: Uint8Array;
  readonly modelPlace: number;
}

export class EndedRuns {
  #queue = new SegmentedFifo();
  #places = new HashIndex();
  #size = 0;
  #options: EndedRunsOptions;
  /** By account and Template, of the last block alone: what is in a block goes together. */
  #models = new Map<string, Model[]>();
  readonly #difference = new Uint8Array(DIFFERENCE_BYTES_MAX);

  constructor(options: EndedRunsOptions) {
    this.#options = options;
  }

  /** Runs held, those included whose time has come and that no sweep has forgotten yet. */
  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#queue.first === null;
  }

  /** Each Run once. */
  add({ id, account, templateId, createdAt, errorCode, output, rejects, json }: RunRecord, expiresAt: number): void {
    if (json === null) throw new Error('a Run that is not over was to be kept');
    // Ids and codes have ASCII letters only.
    const text = `${id}\n${account}\n${templateId}\n${errorCode ?? ''}`;
    const path = output?.path ?? '';
    const pathBytes = Buffer.byteLength(path);
    const rejectsPath = rejects?.path ?? '';
    const rejectsPathBytes = Buffer.byteLength(rejectsPath);
    const bytes = output?.bytes ?? NOTHING;
    const rejectsBytes = rejects?.bytes ?? NOTHING;
    const head = NUMBERS_BYTES + text.length + pathBytes + rejectsPathBytes;
    const others = head + bytes.length + rejectsBytes.length;
    const modelsId = `${account}\n${templateId}`;
    const { bytes: jsonBytes, modelPlace } = this.#keptJson(modelsId, id, json, others);
    const place = this.#queue.add(others + jsonBytes.length);
    const hash = textHash(id);
    const record = this.#queue.at(place);
    record.writeDoubleLE(expiresAt, EXPIRES_AT);
    record.writeDoubleLE(createdAt, CREATED_AT);
    record.writeDoubleLE(output?.sizeBytes ?? NO_OUTPUT, OUTPUT_SIZE);
    record.writeUInt32LE(hash, ID_HASH);
    record.writeUInt32LE(text.length, TEXT_BYTES);
    record.writeUInt32LE(pathBytes, PATH_BYTES);
    record.writeUInt32LE(jsonBytes.length, JSON_BYTES);
    record.writeDoubleLE(modelPlace, MODEL_PLACE);
    record.writeUInt32LE(json.length, JSON_LENGTH);
    record.writeDoubleLE(rejects?.sizeBytes ?? NO_OUTPUT, REJECTS_SIZE);
    record.writeUInt32LE(rejectsPathBytes, REJECTS_PATH_BYTES);
    record.write(text, NUMBERS_BYTES, 'latin1');
    if (pathBytes > 0) record.write(path, NUMBERS_BYTES + text.length);
    if (rejectsPathBytes > 0) record.write(rejectsPath, jsonStart(record) - rejectsPathBytes);
    record.set(jsonBytes, jsonStart(record));
    record.set(bytes, jsonEnd(record));
    record.set(rejectsBytes, jsonEnd(record) + bytes.length);
    if (modelPlace === ITS_OWN) this.#addModel(modelsId, place, record.subarray(jsonStart(record), jsonEnd(record)));
    this.#places.add(hash, place);
    this.#size += 1;
    this.#options.charge(weight(record));
  }

  /** The Run as it was kept, with bytes of its own; null: unknown, or its time has come at `now`. */
  get(id: string, now: number): RunRecord | null {
    const place = this.#places.find(textHash(id), (each) => textsOf(this.#queue.at(each))[0] === id);
    if (place === null) return null;
    const record = this.#queue.at(place);
    if (record.readDoubleLE(EXPIRES_AT) <= now) return null;
    const [, account, templateId, errorCode] = textsOf(record);
    const createdAt = record.readDoubleLE(CREATED_AT);
    const { output, rejects } = refsOf(record);
    const status = output === null ? 'failed' : 'succeeded';
    const rejectsAt = jsonEnd(record) + (output?.path === null ? output.sizeBytes : 0);
    const stored = output && {
      ...output,
      bytes: output.path === null ? copyOf(record, jsonEnd(record), rejectsAt) : null,
    };
    const json = this.#jsonOf(id, record);
    const run = {
      id,
      account,
      templateId,
      createdAt,
      status,
      errorCode: errorCode || null,
      output: stored,
      json,
    } as const;
    if (rejects === null) return run;
    return {
      ...run,
      rejects: { ...rejects, bytes: rejects.path === null ? copyOf(record, rejectsAt, record.length) : null },
    };
  }

  /** @param otherBytes of the record beside the JSON */
  #keptJson(modelsId: string, id: string, json: Buffer, otherBytes: number): KeptJson {
    // The last block is full, or gone with all that was in it.
    if (!this.#queue.fitsBehindLast(otherBytes)) this.#models.clear();
    const models = this.#models.get(modelsId);
    if (models !== undefined) {
      const name = nameOf(id);
      const target = this.#difference;
      const most = Math.min(DIFFERENCE_BYTES_MAX, json.length >>> 1);
      for (const { place, text } of models) {
        const length = text.writeDifference(json, name, target, most);
        if (length === null || !this.#queue.fitsBehindLast(otherBytes + length)) continue;
        return { bytes: target.subarray(0, length), modelPlace: place };
      }
    }
    // Where it does not fit either, it goes into the next block, which has models of its own.
    if (!this.#queue.fitsBehindLast(otherBytes + json.length)) this.#models.clear();
    return { bytes: json, modelPlace: ITS_OWN };
  }

  #addModel(modelsId: string, place: number, json: Buffer): void {
    const models = this.#models.get(modelsId) ?? [];
    this.#models.set(modelsId, [{ place, text: new TextModel(json) }, ...models].slice(0, MODELS_MAX));
  }

  #jsonOf(id: string, record: Buffer): Buffer {
    const kept = record.subarray(jsonStart(record), jsonEnd(record));
    const modelPlace = record.readDoubleLE(MODEL_PLACE);
    if (modelPlace === ITS_OWN) return Buffer.from(kept);
    const model = this.#queue.at(modelPlace);
    const json = Buffer.allocUnsafeSlow(record.readUInt32LE(JSON_LENGTH));
    readDifference(kept, model.subarray(jsonStart(model), jsonEnd(model)), nameOf(id), json);
    return json;
  }

  /** Forgets at most `max` Runs whose time has come. Returns how many: `max` = call again soon. */
  sweep(now: number, max: number): number {
    let forgotten = 0;
    for (; forgotten < max; forgotten += 1) {
      const { first } = this.#queue;
      if (first === null) break;
      const record = this.#queue.at(first);
      if (record.readDoubleLE(EXPIRES_AT) > now) break;
      const { output, rejects } = refsOf(record);
      const bytes = weight(record);
      this.#places.remove(record.readUInt32LE(ID_HASH), first);
      this.#queue.removeFirst();
      this.#size -= 1;
      this.#options.charge(-bytes);
      for (const one of [output, rejects]) if (one !== null) this.#options.expired(one);
    }
    return forgotten;
  }
}

/** Of `run_…`, what is a word: it stands in the JSON again and again. */
function nameOf(id: string): Uint8Array {
  return Buffer.from(id.slice(id.lastIndexOf('_') + 1), 'latin1');
}

type Texts = [id: string, account: string, templateId: string, errorCode: FailureCode | ''];

function textsOf(record: Buffer): Texts {
  const end = NUMBERS_BYTES + record.readUInt32LE(TEXT_BYTES);
  return record.toString('latin1', NUMBERS_BYTES, end).split('\n') as Texts;
}

/** What output and rejected rows are removed by; null: there are none. */
function refsOf(record: Buffer): { readonly output: OutputRef | null; readonly rejects: OutputRef | null } {
  const end = jsonStart(record);
  const middle = end - record.readUInt32LE(REJECTS_PATH_BYTES);
  const start = middle - record.readUInt32LE(PATH_BYTES);
  const ref = (sizeBytes: number, from: number, to: number): OutputRef | null =>
    sizeBytes === NO_OUTPUT ? null : { sizeBytes, path: from === to ? null : record.toString('utf8', from, to) };
  return {
    output: ref(record.readDoubleLE(OUTPUT_SIZE), start, middle),
    rejects: ref(record.readDoubleLE(REJECTS_SIZE), middle, end),
  };
}

function copyOf(record: Buffer, from: number, to: number): Buffer {
  return Buffer.from(record.subarray(from, to));
}

function weight(record: Buffer): number {
  return OVERHEAD_BYTES + jsonEnd(record);
}

function jsonStart(record: Buffer): number {
  const paths = record.readUInt32LE(PATH_BYTES) + record.readUInt32LE(REJECTS_PATH_BYTES);
  return NUMBERS_BYTES + record.readUInt32LE(TEXT_BYTES) + paths;
}

function jsonEnd(record: Buffer): number {
  return jsonStart(record) + record.readUInt32LE(JSON_BYTES);
}
