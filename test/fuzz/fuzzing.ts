// Fuzzes one service: sends cases by their number, checks each response, and records the findings.
import { type Answer, type Client, pause } from '../blackbox/client.ts';
import type { AnyTemplate } from './any-template.ts';
import type { FuzzCase } from './case.ts';
import { fuzzCase } from './cases.ts';

/** Codes of a failed Run that no upload and no Template may cause. */
const OUR_FAULTS: ReadonlySet<string> = new Set(['INTERNAL_ERROR', 'RUN_INTERRUPTED', 'RUN_TIMEOUT']);

/** What the service may work until it answers, three cases at once; a busy machine makes it longer by the clock of the wall. */
const WORK_MILLISECONDS_MAX = 60_000;

/** One that is refused for longer has been locked out. */
const BUSY_MILLISECONDS_MAX = 60_000;
const BUSY_PAUSE_MILLISECONDS = 200;

export class Fuzzing {
  readonly findings: string[] = [];
  /** Answers by status and code. */
  readonly answers = new Map<string, number>();
  readonly #seed: number;
  readonly #any: ReadonlyMap<string, AnyTemplate>;
  readonly #client: Client;
  /** The service's, in ms of processors. */
  readonly #now: () => number;
  readonly #underWay = new Set<number>();

  constructor(seed: number, any: ReadonlyMap<string, AnyTemplate>, client: Client, now: () => number) {
    this.#seed = seed;
    this.#any = any;
    this.#client = client;
    this.#now = now;
  }

  /** Numbers of the cases whose answers have not come. */
  underWay(): readonly number[] {
    return [...this.#underWay];
  }

  async send(number: number): Promise<void> {
    this.#underWay.add(number);
    const made = fuzzCase(this.#seed, number, this.#any);
    try {
      if (made.vanishesAt === null) await this.#judge(made, await this.#ended(await this.#served(made)));
      else await this.#vanish(made, made.vanishesAt);
    } catch (error) {
      this.#found(made, error instanceof Error ? error.message : String(error));
    } finally {
      this.#underWay.delete(number);
    }
  }

  /** A Run that goes on is followed to its end, unless it works for too long. */
  async #ended(answer: Answer): Promise<Answer> {
    const begun = this.#now();
    let last = answer;
    while (last.status === 202 || last.run.status === 'running') {
      if (this.#now() - begun > WORK_MILLISECONDS_MAX) return answer;
      await pause(BUSY_PAUSE_MILLISECONDS);
      last = await this.#client.get(`/api/v1/runs/${answer.run.id}`);
    }
    // As if it had been waited for.
    return answer.status === 202 ? { ...last, status: last.status === 200 ? 201 : last.status } : last;
  }

  /** A node that is busy is asked again, as its answer says. */
  async #served({ template, form, chunked }: FuzzCase): Promise<Answer> {
    const end = performance.now() + BUSY_MILLISECONDS_MAX;
    for (;;) {
      const answer = await this.#client.upload(template, form, { chunked });
      if (answer.status !== 503 || performance.now() > end) return answer;
      this.#count('503');
      await pause(BUSY_PAUSE_MILLISECONDS);
    }
  }

  async #vanish({ template, form }: FuzzCase, at: number): Promise<void> {
    const upload = this.#client.hold(template, form, Math.max(1, at));
    const gone = upload.answer.catch(() => 'gone');
    // A turn of the loop, so that the bytes are sent.
    await new Promise((resolve) => setImmediate(resolve));
    upload.vanish();
    await gone;
    this.#count('vanished');
  }

  async #judge(made: FuzzCase, answer: Answer): Promise<void> {
    const { status, code, run } = answer;
    this.#count(`${status} ${code ?? run.error?.code ?? ''}`.trim());
    if (status === 202) this.#found(made, `was still running after ${WORK_MILLISECONDS_MAX} ms of work`);
    else if (status === 201 && run.status === 'succeeded') await this.#judgeOutput(made, answer);
    else if (status === 201 && OUR_FAULTS.has(run.error!.code)) this.#found(made, `ended ${run.error!.code}`);
    else if (status >= 500) this.#found(made, `was answered ${status} ${code}`);
    else if (status < 400 && status !== 201) this.#found(made, `was answered ${status}`);
  }

  async #judgeOutput(made: FuzzCase, answer: Answer): Promise<void> {
    const output = async (): Promise<string> => {
      const got = await this.#client.get(`/api/v1/runs/${answer.run.id}/output`);
      if (got.status !== 200) throw new Error(`its output was answered ${got.status}`);
      return got.body.toString();
    };
    const wrong = await made.wrong(answer, output);
    if (wrong !== null) this.#found(made, wrong);
  }

  #count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
  }

  #found({ name, template }: FuzzCase, what: string): void {
    this.findings.push(`case ${name} on ${template}: ${what}`);
  }
}
