// Gathers a thread's messages of one turn of its loop into one post: small Runs end by the dozen.
import type { MessagePort, Transferable } from 'node:worker_threads';
import type { FromWorker } from './messages.ts';

export class Outbox {
  readonly #port: MessagePort;
  #messages: FromWorker[] = [];
  #transfer: Transferable[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  send(message: FromWorker, transfer: readonly Transferable[] = []): void {
    if (this.#messages.length === 0) setImmediate(() => this.#flush());
    this.#messages.push(message);
    this.#transfer.push(...transfer);
  }

  #flush(): void {
    this.#port.postMessage(this.#messages, this.#transfer);
    this.#messages = [];
    this.#transfer = [];
  }
}
