// One fuzzing case: what it sends, and what its response must fulfil in addition to the general rules.
import type { Answer } from '../blackbox/client.ts';
import type { Form } from '../blackbox/multipart.ts';

export interface FuzzCase {
  /** Tells the case in a message: its kind and its number, which with the seed make it again. */
  readonly name: string;
  readonly template: string;
  readonly form: Form;
  /** Sends its body in chunks. */
  readonly chunked: boolean;
  /** Closes the connection after so many bytes of the body; null: waits for its answer. */
  readonly vanishesAt: number | null;
  /** Says what is wrong with a Run that succeeded, null: nothing. `output` gives its output's text. */
  readonly wrong: (answer: Answer, output: () => Promise<string>) => Promise<string | null>;
}

export async function nothingMore(): Promise<null> {
  return null;
}
