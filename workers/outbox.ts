// Gathers a thread's messages of one turn of its loop into one post: small Runs end by the dozen.
import type { MessagePort } from 'node:worker_threads';
import type { FromWorker } from './messages.ts';
import { OutcomePacker } from './outcome-packer.ts';
import { PARCEL_MESSAGES_MAX } from './parcel.ts';

export class Outbox {
  readonly #port: MessagePort;
  readonly #packer = new OutcomePacker();

  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** The bytes of an output must not be used any more. */
  send(message: FromWorker): void {
    if (this.#packer.size === 0) setImmediate(() => this.#flush());
    this.#packer.add(message);
    if (this.#packer.size >= PARCEL_MESSAGES_MAX) this.#flush();
  }

  #flush(): void {
    if (this.#packer.size === 0) return;
    const parcel = this.#packer.parcel();
    this.#port.postMessage(parcel, parcel.buffers);
  }
}
