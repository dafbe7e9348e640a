// The body of one create_run request: form, size limits, hash, spool, and parameters. Does not respond and does not
// start engines; users of an upload are informed through its listener. States: arriving → whole, refused, disconnected
// (by the client), or failed (disk error), reported once by `end`.
import { createHash } from 'node:crypto';
import { busy, type Refusal, refusal } from '../http/error-codes.ts';
import { FormReader, type FormSink, type ParameterName } from '../http/multipart.ts';
import type { BodySink, RequestBody } from '../http/request-body.ts';
import type { IdleFiles } from './idle-files.ts';
import { type CheckedParameters, checkParameters, type SentParameters } from './parameters.ts';
import { SpooledFile, type SpoolListener, type WriteBlocks } from './spooled-file.ts';

/**
 * Maximum size of everything in the form besides the file, in bytes: boundaries, part headers, parameters, unused
 * parts.
 */
export const FORM_BYTES_MAX = 64 * 1024;

export interface UploadSettings {
  /** Boundary of the form. */
  readonly boundary: string;
  /** Maximum file size in the plan, or null for no limit. */
  readonly fileBytesMax: number | null;
  readonly rowsMax: number | null;
  /** Size of the body according to its header; 0 if it is not known. */
  readonly expectedBytes: number;
  /** Path for a long file, or null if the file is not stored at all. */
  readonly spoolPath: string | null;
  readonly idleFiles: IdleFiles;
  readonly blocks: WriteBlocks;
  /** Input for the fingerprint in addition to file and parameters, or null if no fingerprint is needed. */
  readonly fingerprintOf: string | null;
  /** Receives the reason for a failed write to the disk. The client only learns that it failed. */
  readonly onDiskFault: (fault: unknown) => void;
}

export type UploadEnd =
  | { readonly kind: 'whole'; readonly fingerprint: string; readonly parameters: CheckedParameters }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly cut: 'silent' | 'late' | null }
  | { readonly kind: 'disconnected' };

/** Called while the upload arrives and once it is complete. */
export interface UploadListener {
  /** This many bytes of the spooled file can now be read. */
  grown(bytes: number): void;
  /** A parameter has arrived. */
  parametersChanged(): void;
}

const NO_LISTENER: UploadListener = { grown: () => {}, parametersChanged: () => {} };

export class Upload implements BodySink, FormSink, SpoolListener {
  readonly finished: Promise<UploadEnd>;
  ending = '';
  /** Name of the uploaded file, for expressions of the Template only. It must not reach a response, log or metric. */
  fileName: string | null = null;
  sizeBytes = 0;
  /** Time at which the last byte of the body arrived (performance.now). */
  endedAfter = 0;
  readonly spool: SpooledFile | null;
  listener: UploadListener = NO_LISTENER;
  /** Called when the upload is over, before `finished` resolves. */
  onOver: () => void = () => {};
  #settings: UploadSettings;
  #body: RequestBody;
  #form: FormReader;
  #hash;
  #sent: SentParameters = { delimiter: undefined, header_row: undefined };
  #contentBytes = 0;
  #formWhole = false;
  #resolve: (end: UploadEnd) => void = () => {};
  #over = false;

  constructor(body: RequestBody, settings: UploadSettings) {
    this.#body = body;
    this.#settings = settings;
    this.#form = new FormReader(settings.boundary, this);
    this.#hash = settings.fingerprintOf === null ? null : createHash('sha256');
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { spoolPath, idleFiles, blocks } = settings;
    this.spool = spoolPath === null ? null : new SpooledFile(spoolPath, idleFiles, blocks, this);
  }

  /** Starts reading. Separate from the constructor, so that the listener can be set before the first byte. */
  begin(): void {
    this.#body.flow(this);
  }

  /** Size of the whole body; 0 if it is not known in advance. */
  get expectedBytes(): number {
    return this.#settings.expectedBytes;
  }

  /** True if the client may not send at the moment. */
  get isHeldBack(): boolean {
    return this.#body.isHeldBack;
  }

  /** Parameters received so far. */
  parameters(): CheckedParameters {
    return checkParameters(this.#sent, this.#settings.rowsMax);
  }

  /** Called when the client has disconnected. */
  disconnected(): void {
    this.#finish({ kind: 'disconnected' });
  }

  /** Ends the upload from outside (during a drain). */
  refuse(why: Refusal): void {
    this.#finish(refused(why));
  }

  chunk(bytes: Buffer): void {
    const { fileBytesMax } = this.#settings;
    if (fileBytesMax !== null && this.#body.receivedBytes > fileBytesMax + FORM_BYTES_MAX) this.#tooLarge();
    if (!this.#over) this.#form.write(bytes);
  }

  end(): void {
    this.endedAfter = performance.now();
    this.#form.end();
  }

  cut(why: 'silent' | 'late'): void {
    const message = why === 'silent' ? 'The body stopped arriving.' : 'The body took too long to arrive.';
    this.#finish({ kind: 'refused', refusal: refusal('MALFORMED_FILE', message), cut: why });
  }

  /** Called by the form, as are the following methods up to `whole`. */
  fileStarted(ending: string, fileName: string): void {
    this.ending = ending;
    this.fileName = fileName === '' ? null : fileName;
  }

  fileBytes(bytes: Buffer): void {
    if (this.#over) return;
    this.sizeBytes += bytes.length;
    this.#count(bytes.length);
    if (this.#over) return;
    this.#hash?.update(bytes);
    if (this.spool !== null && !this.spool.write(bytes)) this.#body.pause();
  }

  otherBytes(count: number): void {
    this.#count(count);
  }

  parameter(name: ParameterName, value: string | null): void {
    this.#sent[name] = this.#sent[name] === undefined ? value : null;
    this.listener.parametersChanged();
  }

  broken(message: string): void {
    this.#finish(refused(refusal('MALFORMED_FILE', message)));
  }

  whole(): void {
    this.#formWhole = true;
    if (this.sizeBytes === 0) this.#finish(refused(refusal('MALFORMED_FILE', 'The file is empty.')));
    else if (this.spool === null) this.#finishWhole();
    else this.spool.end();
  }

  /** Called by the spool, as are the following methods up to `failed`. */
  grown(bytes: number): void {
    if (!this.#over) this.listener.grown(bytes);
  }

  drained(): void {
    this.#body.resume();
  }

  complete(): void {
    if (this.#formWhole) this.#finishWhole();
  }

  failed(fault: unknown): void {
    if (!this.#over) this.#settings.onDiskFault(fault);
    this.#finish(refused(busy('The upload could not be stored: the disk refused it.')));
  }

  /** Unused parts count like the file. */
  #count(bytes: number): void {
    const { fileBytesMax } = this.#settings;
    this.#contentBytes += bytes;
    if (fileBytesMax !== null && this.#contentBytes > fileBytesMax) this.#tooLarge();
  }

  #tooLarge(): void {
    const message = `The file is larger than the plan's ceiling of ${this.#settings.fileBytesMax} bytes.`;
    this.#finish(refused(refusal('FILE_TOO_LARGE', message)));
  }

  #finishWhole(): void {
    const parameters = this.parameters();
    this.#finish({ kind: 'whole', fingerprint: this.#fingerprint(parameters), parameters });
  }

  #fingerprint({ canonical }: CheckedParameters): string {
    if (this.#hash === null) return '';
    const parts = [this.#settings.fingerprintOf, this.#hash.digest('hex'), canonical];
    return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  }

  #finish(end: UploadEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.listener = NO_LISTENER;
    if (end.kind !== 'whole') this.#form.abandon();
    this.onOver();
    this.#resolve(end);
  }
}

function refused(why: Refusal): UploadEnd {
  return { kind: 'refused', refusal: why, cut: null };
}
