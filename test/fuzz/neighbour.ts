// Another account that sends Runs of 1 KB while the service is fuzzed, and measures their duration.
import { type Client, pause } from '../blackbox/client.ts';
import { file, form } from '../blackbox/multipart.ts';

const BETWEEN_MILLISECONDS = 50;

export interface Stall {
  /** Of processors, that the service was at work. */
  readonly milliseconds: number;
  /** Numbers of the cases that were under way. */
  readonly beside: readonly number[];
}

export class Neighbour {
  /** How long the service was at work while each Run waited, in milliseconds of processors. */
  readonly times: number[] = [];
  readonly stalls: Stall[] = [];
  /** Answers other than 201, by status. */
  readonly refused = new Map<number, number>();
  #isAtWork = true;
  #done: Promise<void>;

  constructor(client: Client, now: () => number, stallMilliseconds: number, underWay: () => readonly number[]) {
    this.#done = this.#ask(client, now, stallMilliseconds, underWay);
  }

  /** Resolves when the last Run has been answered. */
  async end(): Promise<void> {
    this.#isAtWork = false;
    await this.#done;
  }

  async #ask(
    client: Client,
    now: () => number,
    stallMilliseconds: number,
    underWay: () => readonly number[],
  ): Promise<void> {
    while (this.#isAtWork) {
      const before = underWay();
      const begun = now();
      const { status } = await client.upload('pick', SMALL);
      const milliseconds = now() - begun;
      if (status === 201) this.times.push(milliseconds);
      else this.refused.set(status, (this.refused.get(status) ?? 0) + 1);
      if (milliseconds > stallMilliseconds) this.stalls.push({ milliseconds, beside: [...before, ...underWay()] });
      await pause(BETWEEN_MILLISECONDS);
    }
  }
}

const SMALL = form([file(`id,amount\n${'17,19.90\n'.repeat(110)}`)]);
