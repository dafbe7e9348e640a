// Gathers a thread's messages of one turn of its loop into one post: small Runs end by the dozen.
import type { MessagePort } from 'node:worker_threads';
import type { FromWorker } from './messages.ts';
import { OutcomePacker } from './outcome-packer.ts';

export class Outbox {
  readonly #port: MessagePort;
  readonly #packer = new OutcomePacker();

  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** The bytes of an output must not be used any more. */
  send(message: FromWorker): void {
    if (this.#packer.isEmpty) setImmediate(() => this.#flush());
    this.#packer.add(message);
  }

  #flush(): void {
    const parcel = this.#packer.parcel();
    this.#port.postMessage(parcel, parcel.buffers);
  }
}
