// One create_run body from its first byte to its last: form, size, hash and spool, and what is known of its parameters.
// It does not answer and does not start engines; whoever follows it is informed through its listener.
// States: arriving → whole, refused, gone (the client), or failed (our disk): told once by `end`.
import { createHash } from 'node:crypto';
import { FormReader, type FormSink, type ParameterName } from '../http/multipart.ts';
import { busy, type Refusal, refusal } from '../http/refusal.ts';
import type { BodySink, RequestBody } from '../http/request-body.ts';
import type { IdleFiles } from './idle-files.ts';
import { type CheckedParameters, checkParameters, type SentParameters } from './parameters.ts';
import { SpooledFile, type SpoolListener } from './spooled-file.ts';
import type { WriteBlocks } from './write-blocks.ts';

/** What the form may add to the file, in bytes: boundaries, part headers, parameters, parts that nobody reads. */
export const FORM_BYTES_MAX = 64 * 1024;

export interface UploadSettings {
  /** Of the form. */
  readonly boundary: string;
  /** The plan's ceiling of the file, null = none. */
  readonly fileBytesMax: number | null;
  readonly rowsMax: number | null;
  /** Where a long file goes; null: the file is not kept at all. */
  readonly spoolPath: string | null;
  readonly idleFiles: IdleFiles;
  readonly blocks: WriteBlocks;
  /** Of what the fingerprint is taken besides file and parameters; null: no fingerprint is needed. */
  readonly fingerprintOf: string | null;
  /** Told why the disk refused the file: its client only hears that it did. */
  readonly onDiskFault: (fault: unknown) => void;
}

export type UploadEnd =
  | { readonly kind: 'whole'; readonly fingerprint: string; readonly parameters: CheckedParameters }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly cut: 'silent' | 'late' | null }
  | { readonly kind: 'gone' };

/** Told while the upload arrives and once it is whole. */
export interface UploadListener {
  /** So many bytes of the spooled file can be read. */
  grown(bytes: number): void;
  /** A parameter has arrived. */
  parametersChanged(): void;
}

const NO_LISTENER: UploadListener = { grown: () => {}, parametersChanged: () => {} };

export class Upload implements BodySink, FormSink, SpoolListener {
  readonly finished: Promise<UploadEnd>;
  ending = '';
  sizeBytes = 0;
  /** When the last byte of the body came, on the clock of performance.now. */
  endedAfter = 0;
  readonly spool: SpooledFile | null;
  listener: UploadListener = NO_LISTENER;
  /** Called when it is over, before `finished` resolves. */
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

  /** Begins to read. Apart from the constructor, so that the listener can be set before the first byte. */
  begin(): void {
    this.#body.flow(this);
  }

  /** Whether its client may not send at the moment. */
  get isHeldBack(): boolean {
    return this.#body.isHeldBack;
  }

  /** What is known of the parameters by now. */
  parameters(): CheckedParameters {
    return checkParameters(this.#sent, this.#settings.rowsMax);
  }

  /** The client has gone away. */
  gone(): void {
    this.#finish({ kind: 'gone' });
  }

  /** Ends the upload from outside (a drain). */
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

  /** Of the form, as all down to `whole`. */
  fileStarted(ending: string): void {
    this.ending = ending;
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

  /** Of the spool, as all down to `failed`. */
  grown(bytes: number): void {
    if (!this.#over) this.listener.grown(bytes);
  }

  room(): void {
    this.#body.resume();
  }

  complete(): void {
    if (this.#formWhole) this.#finishWhole();
  }

  failed(fault: unknown): void {
    if (!this.#over) this.#settings.onDiskFault(fault);
    this.#finish(refused(busy('The upload could not be stored: the disk refused it.')));
  }

  /** Parts that nobody reads count as the file does. */
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
