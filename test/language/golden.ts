// Runs tables of golden cases: a Template, a file and the bytes that must come out, worked out by hand. Each case runs
// with batches of one row, of two and of full size, so that no answer depends on how rows fall into batches, and in
// a memory that moves whenever it may.
import { test } from 'tap';
import { parse } from 'yaml';
import type { RunOutcome } from '../../workers/protocol/messages.ts';
import { isLong } from '../sweep.ts';
import { type Applied, applyTemplate } from '../workers/apply-template.ts';
import { withMovingMemory } from '../workers/memory/moving-memory.ts';
import { problemsOf } from '../workers/template/check-problems.ts';

export interface GoldenCase {
  readonly name: string;
  /** YAML, without `format`. */
  readonly template: string;
  /** The file; not needed where the Template itself is refused. */
  readonly input?: string | Uint8Array;
  /** Reference tables by name, as CSV. */
  readonly tables?: Readonly<Record<string, string>>;
  /** The whole output. */
  readonly output?: string;
  /** `CODE` or `CODE: message` of a Run that fails. */
  readonly error?: string;
  /** `pointer CODE` of every problem of a Template that is refused. */
  readonly problems?: readonly string[];
  /** Row errors of the report: `operation or input: CODE count row row...`. */
  readonly errors?: readonly string[];
}

const BATCH_ROWS = [1, 2, 4096];

/** Of small arenas: they are enlarged for each column, for some cells. */
const ARENA_BYTES = [1, 64, 250, 1000, 5000];

/** All of them, or one, so that the cases of a table share them out. */
const arenasOf = (index: number): readonly number[] =>
  isLong ? ARENA_BYTES : [ARENA_BYTES[index % ARENA_BYTES.length]!];

/** One test for the whole table; a case that fails says its name and the size of its batches. */
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
