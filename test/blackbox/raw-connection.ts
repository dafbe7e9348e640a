// One bare connection: the test decides which bytes go in which packet, and sees each answer and how the connection ends.
import net from 'node:net';

export interface RawAnswer {
  readonly status: string;
  readonly head: string;
  readonly body: string;
  /** It says that the connection will be closed. */
  readonly closes: boolean;
}

/** Between two packets, so that the service reads them one by one. */
const PACKET_MILLISECONDS = 2;

export class RawConnection {
  /** Code of the socket's error, such as ECONNRESET, or null. */
  error: string | null = null;
  #socket: net.Socket;
  #text = '';
  #closed = false;
  #wake = (): void => {};

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1');
      this.#wake();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code ?? error.message;
    });
    socket.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
  }

  /** @param localAddress any of 127.0.0.0/8 */
  static open(port: number, localAddress = '127.0.0.1'): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: '127.0.0.1', localAddress });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawConnection(socket)));
    });
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Received bytes that were not part of a response. */
  get unread(): string {
    return this.#text;
  }

  async send(...packets: readonly (Buffer | string)[]): Promise<void> {
    for (const [index, packet] of packets.entries()) {
      if (index > 0) await new Promise((resolve) => setTimeout(resolve, PACKET_MILLISECONDS));
      if (packet.length > 0 && !this.#closed) this.#socket.write(packet);
    }
  }

  /** Takes the next answer; null: none came in time, or the connection was closed before. */
  async answer(milliseconds: number, toHead = false): Promise<RawAnswer | null> {
    let answer = this.#take(toHead);
    const end = performance.now() + milliseconds;
    while (answer === null && !this.#closed && performance.now() < end) {
      await this.#change(end);
      answer = this.#take(toHead);
    }
    return answer;
  }

  /** Resolves to true if the service closes the connection in time. */
  async closed(milliseconds: number): Promise<boolean> {
    const end = performance.now() + milliseconds;
    while (!this.#closed && performance.now() < end) await this.#change(end);
    return this.#closed;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #change(end: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, end - performance.now()));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #take(toHead: boolean): RawAnswer | null {
    const headEnd = this.#text.indexOf('\r\n\r\n') + 4;
    if (headEnd < 4) return null;
    const head = this.#text.slice(0, headEnd);
    const length = toHead ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (this.#text.length < headEnd + length) return null;
    const body = this.#text.slice(headEnd, headEnd + length);
    this.#text = this.#text.slice(headEnd + length);
    const [, status = ''] = /^HTTP\/1\.1 (\d{3}) /.exec(head) ?? [];
    return { status, head, body, closes: /^connection: close/im.test(head) };
  }
}
