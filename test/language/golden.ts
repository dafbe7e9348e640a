// Runs tables of golden cases: a Template, a file and the exact output, worked out by hand. Each case runs with batches of one
// row, two rows and full size, and with memory that moves whenever possible, so that no result depends on batches or addresses.
import { test } from 'tap';
import { parse } from 'yaml';
import type { RunOutcome } from '../../workers/protocol/messages.ts';
import { isLong } from '../sweep.ts';
import { type Applied, applyTemplate } from '../workers/apply-template.ts';
import { withMovingMemory } from '../workers/memory/moving-memory.ts';
import { problemsOf } from '../workers/template/check-problems.ts';

export interface GoldenCase {
  readonly name: string;
  /** YAML without `format`. */
  readonly template: string;
  /** The file; not needed if the Template is refused. */
  readonly input?: string | Uint8Array;
  /** Reference tables by name, as CSV. */
  readonly tables?: Readonly<Record<string, string>>;
  /** The complete output. */
  readonly output?: string;
  /** `CODE` or `CODE: message` of a failed Run. */
  readonly error?: string;
  /** `pointer CODE` of every problem of a refused Template. */
  readonly problems?: readonly string[];
  /** Row errors of the report: `operation or input: CODE count row row...`. */
  readonly errors?: readonly string[];
}

const BATCH_ROWS = [1, 2, 4096];

/** Sizes of small arenas: they have to grow for each column, or for some cells. */
const ARENA_BYTES = [1, 64, 250, 1000, 5000];

/** All sizes with all tests; otherwise one per case, so that the cases of a table cover all sizes. */
const arenasOf = (index: number): readonly number[] =>
  isLong ? ARENA_BYTES : [ARENA_BYTES[index % ARENA_BYTES.length]!];

/** One test for the whole table. A failed case reports its name and the size of its batches. */
export function golden(title: string, cases: readonly GoldenCase[]): void {
  test(title, async (t) => {
    for (const [index, one] of cases.entries()) {
      if (one.problems !== undefined) {
        const found = problemsOf(one.template).map(({ pointer, code }) => `${pointer} ${code}`);
        t.strictSame(found, one.problems, one.name);
        continue;
      }
      const apply = (rows: number) => applyTemplate(parse(one.template), one.input ?? '', rows, one.tables);
      const check = ({ text, outcome }: Applied, name: string): void => {
        t.strictSame(answerOf(one, text, outcome), one.error ?? one.output, name);
        if (one.errors !== undefined) t.strictSame(errorsOf(outcome), one.errors, `${name}: errors`);
      };
      for (const rows of BATCH_ROWS) check(await apply(rows), `${one.name} (batches of ${rows})`);
      for (const bytes of arenasOf(index)) {
        check(await withMovingMemory(bytes, () => apply(4096)), `${one.name} (arena of ${bytes} bytes)`);
      }
    }
  });
}

function answerOf({ error }: GoldenCase, text: string | null, { failure }: RunOutcome): string | null {
  if (failure === null) return text;
  return error !== undefined && !error.includes(': ') ? failure.code : `${failure.code}: ${failure.message}`;
}

function errorsOf({ report }: RunOutcome): string[] {
  const places = [{ operation: 'input', errors: report.input.errors }, ...report.operations];
  return places.flatMap(({ operation, errors }) =>
    Object.entries(errors).map(([code, { count, rows }]) => `${operation}: ${code} ${count} ${rows.join(' ')}`),
  );
}
