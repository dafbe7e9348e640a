// Records of Runs: running ones as objects, ended ones as byte records until they expire.

import type { FailureCode } from '../../../workers/protocol/failure.ts';
import type { MemoryBudget } from '../../admission/memory-budget.ts';
import { HashIndex, textHash } from '../../collections/hash-index.ts';
import { SegmentedFifo } from '../../collections/segmented-fifo.ts';
import type { OutputRef } from '../../outputs/output-store.ts';
import { keptJson, type RunRecord } from '../../runs/run.ts';
import { InOrder, KeptMemory } from './kept-entries.ts';

// Ended Runs until they expire. Each Run is one byte record with numbers, strings and output. Kept as objects, the
// Runs of half an hour were most of the garbage collector's work. The JSON of a Run was most of its size, although
// Runs of one Template differ in a few words only, so mostly just the difference to a model is stored. All Runs are
// kept for the same time, so they expire roughly in the order in which they ended; a Run is removed only after all
// earlier ones.

// Layout of a record: the numbers at the offsets below; id, account, Template and error code ('' if none), one per
// line; the paths of the output and of the rejected rows, if they are files; the JSON, or its difference to the
// model's JSON; the bytes of output and rejected rows, if they are in memory.
const EXPIRES_AT = 0;
const CREATED_AT = 8;
/** NO_OUTPUT: the Run failed. */
const OUTPUT_SIZE = 16;
const ID_HASH = 24;
const TEXT_BYTES = 28;
/** 0: the output is in memory. */
const PATH_BYTES = 32;
const JSON_BYTES = 36;
/** NO_OUTPUT: the Run has no rejected rows. */
const REJECTS_SIZE = 40;
const REJECTS_PATH_BYTES = 48;
/** Place of the Run whose JSON is the model; ITS_OWN: the JSON is stored in full. */
const MODEL_PLACE = 52;
/** Length of the full JSON, in bytes. */
const JSON_LENGTH = 60;
const NUMBERS_BYTES = 64;

const ITS_OWN = -1;

/**
 * Maximum number of models per Template in one block. Most Templates produce one form of report for Runs without
 * errors, and a few forms for Runs with cell errors. A new model replaces the oldest.
 */
const MODELS_MAX = 4;

/** Maximum size of a stored difference, in bytes. If the difference is larger, the JSON is stored in full. */
const DIFFERENCE_BYTES_MAX = 2_048;

const NO_OUTPUT = -1;
const NOTHING = new Uint8Array(0);

export interface EndedRunsOptions {
  /** Called with the output of each expired Run, after the Run has been removed. */
  readonly expired: (output: OutputRef) => void;
  /** Called with the memory of a Run without its output, in bytes, and its account; negative when the Run is removed. */
  readonly charge: (bytes: number, account: string) => void;
}

/** Memory of a Run beyond its record: its slots in the index, unused space in a block, and its share of models. */
const OVERHEAD_BYTES = 100;

/** A Run whose JSON serves as a model for others. */
interface Model {
  readonly place: number;
  readonly text: TextModel;
}

/** The stored form of a Run's JSON. */
interface KeptJson {
  readonly bytes: Uint8Array;
  readonly modelPlace: number;
}

export class EndedRuns {
  #queue = new SegmentedFifo();
  #places = new HashIndex();
  #size = 0;
  #options: EndedRunsOptions;
  /**
   * Models by account, then by Template, only for the last block: a model must be in the same block as the Runs that
   * refer to it, because the block is freed as a whole.
   */
  #models = new Map<string, Map<string, Model[]>>();
  readonly #difference = new Uint8Array(DIFFERENCE_BYTES_MAX);

  constructor(options: EndedRunsOptions) {
    this.#options = options;
  }

  /** Number of Runs held, including expired ones that no sweep has removed yet. */
  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#queue.first === null;
  }

  /** Must be called once per Run. */
  add(run: RunRecord, expiresAt: number): void {
    const { id, account, templateId, createdAt, errorCode, output, rejects, json } = run;
    if (json === null) throw new Error('a running Run cannot be stored');
    // Ids and codes are ASCII.
    const text = `${id}\n${account}\n${templateId}\n${errorCode ?? ''}`;
    const path = output?.path ?? '';
    const pathBytes = Buffer.byteLength(path);
    const rejectsPath = rejects?.path ?? '';
    const rejectsPathBytes = Buffer.byteLength(rejectsPath);
    const bytes = output?.bytes ?? NOTHING;
    const rejectsBytes = rejects?.bytes ?? NOTHING;
    const start = NUMBERS_BYTES + text.length + pathBytes + rejectsPathBytes;
    const others = start + bytes.length + rejectsBytes.length;
    const { bytes: jsonBytes, modelPlace } = this.#keptJson(run, json, others);
    const end = start + jsonBytes.length;
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
    if (rejectsPathBytes > 0) record.write(rejectsPath, start - rejectsPathBytes);
    record.set(jsonBytes, start);
    if (bytes.length > 0) record.set(bytes, end);
    if (rejectsBytes.length > 0) record.set(rejectsBytes, end + bytes.length);
    if (modelPlace === ITS_OWN) this.#addModel(run, place, record.subarray(start, end));
    this.#places.add(hash, place);
    this.#size += 1;
    this.#options.charge(OVERHEAD_BYTES + end, account);
  }

  /** The Run as it was stored, with a copy of its bytes; null: unknown, or expired at `now`. */
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

  /** @param otherBytes size of the record without the JSON */
  #keptJson({ id, account, templateId }: RunRecord, json: Buffer, otherBytes: number): KeptJson {
    // The last block is full, or was freed with everything in it.
    if (!this.#queue.fitsLastBlock(otherBytes)) this.#models.clear();
    const models = this.#models.get(account)?.get(templateId);
    if (models !== undefined) {
      const name = nameOf(id);
      const target = this.#difference;
      const most = Math.min(DIFFERENCE_BYTES_MAX, json.length >>> 1);
      for (const { place, text } of models) {
        const length = text.writeDifference(json, name, target, most);
        if (length === null || !this.#queue.fitsLastBlock(otherBytes + length)) continue;
        return { bytes: target.subarray(0, length), modelPlace: place };
      }
    }
    // A JSON that does not fit into this block either goes into the next block, which has separate models.
    if (!this.#queue.fitsLastBlock(otherBytes + json.length)) this.#models.clear();
    return { bytes: json, modelPlace: ITS_OWN };
  }

  #addModel({ account, templateId }: RunRecord, place: number, json: Buffer): void {
    const ofAccount = this.#models.get(account) ?? new Map<string, Model[]>();
    const models = ofAccount.get(templateId) ?? [];
    ofAccount.set(templateId, [{ place, text: new TextModel(json) }, ...models].slice(0, MODELS_MAX));
    this.#models.set(account, ofAccount);
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

  /** Removes at most `max` expired Runs. Returns the number removed; if it equals `max`, call again soon. */
  sweep(now: number, max: number): number {
    let forgotten = 0;
    for (; forgotten < max; forgotten += 1) {
      const { first } = this.#queue;
      if (first === null) break;
      const record = this.#queue.at(first);
      if (record.readDoubleLE(EXPIRES_AT) > now) break;
      const { output, rejects } = refsOf(record);
      const bytes = weight(record);
      const [, account] = textsOf(record);
      this.#places.remove(record.readUInt32LE(ID_HASH), first);
      this.#queue.removeFirst();
      this.#size -= 1;
      this.#options.charge(-bytes, account);
      for (const one of [output, rejects]) if (one !== null) this.#options.expired(one);
    }
    return forgotten;
  }
}

/** The part of `run_…` that counts as one word. It occurs in the JSON several times. */
function nameOf(id: string): Uint8Array {
  return Buffer.from(id.slice(id.lastIndexOf('_') + 1), 'latin1');
}

type Texts = [id: string, account: string, templateId: string, errorCode: FailureCode | ''];

function textsOf(record: Buffer): Texts {
  const end = NUMBERS_BYTES + record.readUInt32LE(TEXT_BYTES);
  return record.toString('latin1', NUMBERS_BYTES, end).split('\n') as Texts;
}

/** References for removing the output and the rejected rows; null: not present. */
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

// Records of Runs: running ones as objects, ended ones as byte records until they expire.

/** Memory of a running Run: its objects and its entry in the map. */
const RUNNING_BYTES = 800;

export class RunRecords {
  /** Running Runs are small; their output arrives with the record of their end. */
  #running = new Map<string, RunRecord>();
  readonly #ended: InOrder<EndedRuns>;
  readonly #budget: MemoryBudget;

  /** @param expired called with the output of each expired Run */
  constructor(budget: MemoryBudget, expired: (output: OutputRef) => void, kept = new KeptMemory(budget)) {
    this.#budget = budget;
    const charge = (bytes: number, account: string): void => kept.charge(bytes, account);
    this.#ended = new InOrder(() => new EndedRuns({ expired, charge }));
  }

  get size(): number {
    return this.#ended.size + this.#running.size;
  }

  /** Makes a Run readable. */
  begin(run: RunRecord): void {
    this.#running.set(run.id, run);
    this.#budget.charge(RUNNING_BYTES, 'records');
  }

  /** Stores an ended Run, whether it was begun or not, until it expires. */
  finish(run: RunRecord, expiresAt: number): void {
    // Throws when the record is too long.
    keptJson(run);
    this.#ended.storeFor(expiresAt).add(run, expiresAt);
    this.remove(run.id);
  }

  /** Null: unknown, expired at `now`, or of another account. */
  get(account: string, id: string, now: number): RunRecord | null {
    const run = this.#running.get(id) ?? this.#endedRun(id, now);
    return run !== null && run.account === account ? run : null;
  }

  /** Removes a running Run, if it was begun. */
  remove(id: string): void {
    if (this.#running.delete(id)) this.#budget.release(RUNNING_BYTES, 'records');
  }

  /** Removes at most `max` expired Runs. */
  sweep(now: number, max: number): number {
    return this.#ended.sweep(now, max);
  }

  #endedRun(id: string, now: number): RunRecord | null {
    for (const ended of this.#ended.stores) {
      const run = ended.get(id, now);
      if (run !== null) return run;
    }
    return null;
  }
}

// Stores a text as its difference to a similar text, a model, if only single words differ. This is the case for the
// JSON of Runs of one Template. Works on UTF-8 bytes and does not interpret them.
//
// Format of a difference, repeated: the number of bytes equal to the model, as a variable-length number of 7 bits per
// byte; the length of the word that replaces the model's word; the bytes of that word. The rest of the text is equal
// to the model.

/** Used instead of a length: the word is the text's name. */
const OWN_NAME = 255;
const WORD_BYTES_MAX = 254;

const CONTINUED = 0x80;

/** ASCII letters and digits. */
const IS_WORD = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** Shorter stretches are compared byte by byte, which is faster than a call of the runtime. */
const CALL_BYTES_MIN = 32;

/**
 * Number of stretches whose lengths are remembered. A text with more differing words is compared byte by byte after
 * them.
 */
const STRETCHES_MAX = 32;

/** A model with which texts are compared, one after the other. */
export class TextModel {
  readonly #other: Buffer;
  /**
   * Length of the common end after the last differing word of the previous text, in bytes; 0: unknown. The next text
   * mostly ends the same way, which one call of the runtime can check. The common end begins with a byte that is not
   * part of a word, so that a word before it ends there.
   */
  #tailBytes = 0;
  /** Lengths of the equal stretches of the previous text. */
  readonly #stretchBytes: number[] = [];

  constructor(other: Buffer) {
    this.#other = other;
  }

  /**
   * Writes the difference between `text` and the model into `target`.
   * @param name an ASCII word that may occur in the text several times
   * @param targetBytes number of bytes of the target that may be written
   * @returns the number of bytes written; null: the texts differ in more than words, or the difference is too large
   */
  writeDifference(text: Buffer, name: Uint8Array, target: Uint8Array, targetBytes: number): number | null {
    const other = this.#other;
    const tailBytes = this.#hasTail(text) ? this.#tailBytes : 0;
    const textEnd = text.length - tailBytes;
    const otherEnd = other.length - tailBytes;
    let at = 0;
    let there = 0;
    let copied = 0;
    let written = 0;
    for (let stretch = 0; ; stretch++) {
      const alike = this.#alikeBytes(text, at, textEnd, there, otherEnd, stretch);
      at += alike;
      there += alike;
      if (at === textEnd && there === otherEnd) break;
      let start = at;
      while (start > copied && IS_WORD[text[start - 1]!] === 1) start--;
      const end = wordEnd(text, at);
      const endThere = wordEnd(other, there);
      if (end === at && endThere === there) return null;
      const isName = isAt(text, start, end, name);
      const bytes = isName ? 0 : end - start;
      if (bytes > WORD_BYTES_MAX || written + bytes + NUMBERS_BYTES_MAX > targetBytes) return null;
      written = writeNumber(target, written, start - copied);
      target[written++] = isName ? OWN_NAME : bytes;
      for (let byte = 0; byte < bytes; byte++) target[written++] = text[start + byte]!;
      at = end;
      there = endThere;
      copied = end;
    }
    this.#tailBytes = copied === 0 ? 0 : text.length - copied;
    return written;
  }

  /**
   * Number of equal bytes from `at` in the text and `there` in the model, up to the ends. A stretch between two words
   * is mostly as long as in the previous text, which one call of the runtime can check.
   */
  #alikeBytes(text: Buffer, at: number, textEnd: number, there: number, otherEnd: number, stretch: number): number {
    const other = this.#other;
    const most = Math.min(textEnd - at, otherEnd - there);
    const former = this.#stretchBytes[stretch] ?? 0;
    const isWorthACall = former >= CALL_BYTES_MIN && former <= most;
    const isAlike = isWorthACall && text.compare(other, there, there + former, at, at + former) === 0;
    let bytes = isAlike ? former : 0;
    while (bytes < most && text[at + bytes] === other[there + bytes]) bytes++;
    if (stretch < STRETCHES_MAX) this.#stretchBytes[stretch] = bytes;
    return bytes;
  }

  #hasTail(text: Buffer): boolean {
    const bytes = this.#tailBytes;
    const other = this.#other;
    if (bytes === 0 || bytes > text.length) return false;
    return text.compare(other, other.length - bytes, other.length, text.length - bytes, text.length) === 0;
  }
}

/** Maximum size of the numbers before a word: five bytes for the number of equal bytes, one for the length. */
const NUMBERS_BYTES_MAX = 6;

/** @param target must be as long as the text */
export function readDifference(difference: Uint8Array, other: Uint8Array, name: Uint8Array, target: Uint8Array): void {
  let at = 0;
  let there = 0;
  let read = 0;
  while (read < difference.length) {
    let copied = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = difference[read++]!;
      copied |= (byte & (CONTINUED - 1)) << shift;
      if (byte < CONTINUED) break;
    }
    target.set(other.subarray(there, there + copied), at);
    at += copied;
    there = wordEnd(other, there + copied);
    const bytes = difference[read++]!;
    const word = bytes === OWN_NAME ? name : difference.subarray(read, read + bytes);
    if (bytes !== OWN_NAME) read += bytes;
    target.set(word, at);
    at += word.length;
  }
  target.set(other.subarray(there), at);
}

function wordEnd(text: Uint8Array, start: number): number {
  let at = start;
  while (at < text.length && IS_WORD[text[at]!] === 1) at++;
  return at;
}

function isAt(text: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start !== name.length) return false;
  for (let byte = 0; byte < name.length; byte++) if (text[start + byte] !== name[byte]) return false;
  return true;
}

function writeNumber(target: Uint8Array, at: number, number: number): number {
  let end = at;
  let rest = number;
  for (; rest >= CONTINUED; rest >>>= 7) target[end++] = (rest & (CONTINUED - 1)) | CONTINUED;
  target[end++] = rest;
  return end;
}
