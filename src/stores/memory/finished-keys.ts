// Idempotency-Keys of Runs that have ended, until these expire: texts of each in one record of a block, as the Runs themselves
// (ended-runs.ts). One is forgotten only when those before it are.
import type { FailureCode } from '../../../workers/protocol/failure.ts';
import { HashIndex } from '../../collections/hash-index.ts';
import { SegmentedFifo } from '../../collections/segmented-fifo.ts';
import { textHash } from '../../collections/text-hash.ts';

// A record: the numbers at these places; Template, error code ('' = none), Run and fingerprint, a line each; the id of the key.
const EXPIRES_AT = 0;
const ID_HASH = 8;
const TEXT_BYTES = 12;
/** 1: another Run has the key now. */
const IS_REMOVED = 16;
const NUMBERS_BYTES = 17;

/** What a key weighs beyond its record: its slots of the table, and the rest of a block. */
const OVERHEAD_BYTES = 60;

/** Of its Run what a claim asks for: the record is kept elsewhere. */
export interface FinishedKey {
  readonly phase: 'finished';
  readonly templateId: string;
  readonly runId: string;
  readonly fingerprint: string;
  readonly errorCode: FailureCode | null;
}

export class FinishedKeys {
  #queue = new SegmentedFifo();
  #places = new HashIndex();
  #size = 0;
  readonly #charge: (bytes: number) => void;

  /** @param charge called with what a key weighs, in bytes; negative when it is forgotten */
  constructor(charge: (bytes: number) => void) {
    this.#charge = charge;
  }

  /** Keys held, those included whose time has come and that no sweep has forgotten yet. */
  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#queue.first === null;
  }

  /** Each id once, until it is removed. @param id of ASCII */
  add(id: string, { templateId, errorCode, runId, fingerprint }: FinishedKey, expiresAt: number): void {
    const text = `${templateId}\n${errorCode ?? ''}\n${runId}\n${fingerprint}`;
    const place = this.#queue.add(NUMBERS_BYTES + text.length + id.length);
    const hash = textHash(id);
    const record = this.#queue.at(place);
    record.writeDoubleLE(expiresAt, EXPIRES_AT);
    record.writeUInt32LE(hash, ID_HASH);
    record.writeUInt32LE(text.length, TEXT_BYTES);
    record[IS_REMOVED] = 0;
    record.write(text, NUMBERS_BYTES, 'latin1');
    record.write(id, NUMBERS_BYTES + text.length, 'latin1');
    this.#places.add(hash, place);
    this.#size += 1;
    this.#charge(weight(record));
  }

  /** null: unknown, or its time has come at `now`. */
  get(id: string, now: number): FinishedKey | null {
    const place = this.#find(id);
    if (place === null) return null;
    const record = this.#queue.at(place);
    if (record.readDoubleLE(EXPIRES_AT) <= now) return null;
    const text = record.toString('latin1', NUMBERS_BYTES, textEnd(record));
    const [templateId, errorCode, runId, fingerprint] = text.split('\n') as [string, FailureCode | '', string, string];
    return { phase: 'finished', templateId, runId, fingerprint, errorCode: errorCode || null };
  }

  /** Another Run gets the key; does nothing where it is not there. What it weighs goes with its time. */
  remove(id: string): void {
    const place = this.#find(id);
    if (place === null) return;
    this.#places.remove(textHash(id), place);
    this.#queue.at(place)[IS_REMOVED] = 1;
    this.#size -= 1;
  }

  /** Forgets at most `max` keys whose time has come. Returns how many: `max` = call again soon. */
  sweep(now: number, max: number): number {
    let forgotten = 0;
    for (; forgotten < max; forgotten += 1) {
      const { first } = this.#queue;
      if (first === null) break;
      const record = this.#queue.at(first);
      if (record.readDoubleLE(EXPIRES_AT) > now) break;
      if (record[IS_REMOVED] === 0) {
        this.#places.remove(record.readUInt32LE(ID_HASH), first);
        this.#size -= 1;
      }
      const bytes = weight(record);
      this.#queue.removeFirst();
      this.#charge(-bytes);
    }
    return forgotten;
  }

  #find(id: string): number | null {
    return this.#places.find(textHash(id), (place) => {
      const record = this.#queue.at(place);
      return record.toString('latin1', textEnd(record)) === id;
    });
  }
}

function textEnd(record: Buffer): number {
  return NUMBERS_BYTES + record.readUInt32LE(TEXT_BYTES);
}

function weight(record: Buffer): number {
  return OVERHEAD_BYTES + record.length;
}
