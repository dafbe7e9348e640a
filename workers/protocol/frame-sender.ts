// Gathers a thread's messages of one turn of its loop into one post: small Runs end by the dozen.
import type { MessagePort } from 'node:worker_threads';
import { FRAME_MESSAGES_MAX } from './frame.ts';
import type { FromWorker } from './messages.ts';
import { OutcomeCodec } from './outcome-codec.ts';

export class FrameSender {
  readonly #port: MessagePort;
  readonly #encoder = new OutcomeCodec();

  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** The bytes of an output must not be used any more. */
  send(message: FromWorker): void {
    if (this.#encoder.size === 0) setImmediate(() => this.#flush());
    this.#encoder.add(message);
    if (this.#encoder.size >= FRAME_MESSAGES_MAX) this.#flush();
  }

  #flush(): void {
    if (this.#encoder.size === 0) return;
    const frame = this.#encoder.frame();
    this.#port.postMessage(frame, frame.buffers);
  }
}
