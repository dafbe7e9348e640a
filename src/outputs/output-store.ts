// The interface of stores that keep outputs, and the file names of outputs.

import type { RunOutcomeOutput } from '../../workers/protocol/messages.ts';
import type { CatalogTemplate } from '../catalog/catalog.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { RangeReader } from '../http/send-bytes.ts';

// The file name of an output: the Template's pattern with its name and the Run's id, made safe for all systems.

/** The parts of a checked Template that the service itself needs. */
export interface CheckedTemplate {
  /** Pattern with {template} and {run}. */
  readonly output: { readonly name: string };
  /** Memory that each Run reserves from the budget. */
  readonly reservationBytes: number;
}

/** Characters that some system does not allow in file names. */
const UNSAFE_CHARACTERS = /[\p{C}\\/:*?"<>|]/gu;

/** Maximum length before the extension, in characters: file systems allow 255 bytes. */
const NAME_CHARACTERS_MAX = 80;

/** @param ending file name extension without the dot */
export function outputName(template: CatalogTemplate<CheckedTemplate>, runId: string, ending: string): string {
  const title = template.name ?? template.id;
  const short = [...title].slice(0, NAME_CHARACTERS_MAX - runId.length).join('');
  const name = template.checked.output.name.replaceAll('{template}', () => short).replaceAll('{run}', () => runId);
  const safe = [...name.replace(UNSAFE_CHARACTERS, '_').trim()].slice(0, NAME_CHARACTERS_MAX).join('') || runId;
  return safe.toLowerCase().endsWith(`.${ending}`) ? safe : `${safe}.${ending}`;
}

/** Rejected rows are CSV, whatever the format of the output. */
export const REJECTS_MIME_TYPE = 'text/csv';

/** Name of the file of rejected rows for an output. */
export function rejectsName(output: string): string {
  return `${output.replace(/\.[^.]*$/, '')}-rejects.csv`;
}

/** Placeholder with the length of an id and only characters that are allowed in file names. */
const ID_PLACE = `run_${'0'.repeat(26)}`;

/** Output names of a Template differ only in the Run's id, so the parts around it are computed once. */
export class OutputNames {
  /** For an extension, the name split at the id. Objects of the catalog never change: a new catalog has new objects. */
  #pieces = new WeakMap<CatalogTemplate<CheckedTemplate>, { readonly ending: string; readonly pieces: string[] }>();

  /** Same as outputName. */
  of(template: CatalogTemplate<CheckedTemplate>, runId: string, ending: string): string {
    const known = this.#pieces.get(template);
    if (known !== undefined && known.ending === ending) return known.pieces.join(runId);
    const pieces = outputName(template, ID_PLACE, ending).split(ID_PLACE);
    // If the id was truncated, the placeholder is not found, and the result is not cached.
    const name = outputName(template, runId, ending);
    if (pieces.join(runId) === name) this.#pieces.set(template, { ending, pieces });
    return name;
  }
}

// Interface of stores that keep finished outputs until they expire. The engine writes an output on the node
// (local-outputs.ts); the store then takes it over. The record of the Run is its index.

/** Data needed to remove an output. */
export interface OutputRef {
  readonly sizeBytes: number;
  /** null if it is in memory. */
  readonly path: string | null;
}

/** An output that can be downloaded. */
export interface StoredOutput extends OutputRef {
  /** The whole output if it is in memory, otherwise null. */
  readonly bytes: Uint8Array | null;
  /** In lower-case hex, if known. */
  readonly sha256?: string;
}

/** The Run of a file, and the role of the file. */
export interface KeptFile {
  readonly runId: string;
  readonly file: 'output' | 'rejects';
  /** Retention time, for stores that expire entries themselves. */
  readonly keepMilliseconds: number;
}

/**
 * The output of a Run that has not expired is missing: the file was removed by something else, or the nodes do not
 * share their storage.
 */
export class OutputMissingError extends Error {
  constructor() {
    super('The output of a finished Run is missing.');
    this.name = 'OutputMissingError';
  }
}

export interface OutputStore {
  /** Takes over an output that a task left in memory or at `path`. If it rejects, nothing of the output remains. */
  keep(output: RunOutcomeOutput, path: string, of: KeptFile): MaybePromise<StoredOutput>;

  /**
   * Opens `lengthBytes` of the output from `start` on; positions are relative to `start`. Returns null if it has been
   * removed.
   */
  open(output: StoredOutput, start: number, lengthBytes: number): Promise<RangeReader | null>;

  /** SHA-256 of the whole output in lower-case hex. */
  sha256(output: StoredOutput): Promise<string | null>;

  /** Downloads in progress continue. */
  remove(output: OutputRef): MaybePromise<void>;
}
