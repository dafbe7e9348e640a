// Nothing holds a thread: whatever the Template and the file, a Run gives way to others again and again, and a cancelled
// one ends at its next pause. What it makes does not depend on where it paused (any-pipeline.test.ts, operations.test.ts).
import { test } from 'tap';
import { Cancelled } from '../../../workers/protocol/failure.ts';
import type { RunOutcome } from '../../../workers/protocol/messages.ts';
import type { Coroutine } from '../../../workers/thread/coroutine.ts';
import { applyTemplate } from '../apply-template.ts';

/**
 * A time slice is 8 ms; a machine that does other things, compiles and collects garbage takes many times as long now and
 * then (155 were seen). What does not pause at all holds its thread for all of LOOK_MILLISECONDS and longer.
 */
const STEP_MILLISECONDS_MAX = 600;

/** The best of so many counts. */
const TRIES = 3;

/** Each Run is looked at for so long and then cancelled: the worst of them would take hours. */
const LOOK_MILLISECONDS = 1200;

interface NastyCase {
  readonly template: object;
  readonly input: string;
  readonly tables?: Readonly<Record<string, string>>;
  /** STEP_MILLISECONDS_MAX unless set. */
  readonly stepMillisecondsMax?: number;
}

/** A table of equal columns c0, c1, ... */
function wide(columns: number, rows: number): string {
  const head = Array.from({ length: columns }, (_, column) => `c${column}`).join(',');
  return `${head}\n${`${new Array(columns).fill('v').join(',')}\n`.repeat(rows)}`;
}

const many = <T>(count: number, one: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => one(index));

const PATTERN = '^(a|b|c|ab|bc)*[xyz]{2,15}(foo|bar)?$';
const EXPLODED = ['a', 'b', 'c'].map((column) => ({ op: 'explode', column, separator: ';' }));
const THREE_LISTS = `a,b,c\n${many(3, () => many(300, () => 'x').join(';')).join(',')}\n`;
const WIDE = wide(16_384, 12);
const PAIRS = {
  op: 'split_pairs',
  column: 'a',
  into: Object.fromEntries(many(100, (index) => [`shipping_address_line_${index + 10}`, `n${index}`])),
};

const CASES: Readonly<Record<string, () => NastyCase>> = {
  'one row becomes 27 million': () => ({ template: { operations: EXPLODED }, input: THREE_LISTS }),
  'and each of them is edited': () => {
    const edits = many(10, () => ({ op: 'set', columns: { a: 'replace_re(a, "x+(y?)z*", "$1x")' } }));
    return { template: { operations: [...EXPLODED, ...edits] }, input: THREE_LISTS };
  },
  'texts of 16,384 columns, 30 times': () => ({
    template: { operations: many(30, () => ({ op: 'text', columns: '*', steps: ['upper', 'nfkc'] })) },
    input: WIDE,
  }),
  'new columns by 300 operations over a wide file': () => ({
    template: { operations: many(300, (index) => ({ op: 'set', columns: { [`n${index}`]: 'c1 + "x"' } })) },
    input: wide(4000, 3),
  }),
  'a thousand operations on each column': () => ({
    template: { operations: many(1000, () => ({ op: 'text', columns: '*', steps: ['trim'] })) },
    input: wide(1000, 3),
  }),
  'hundreds of patterns for the headers': () => ({
    template: {
      input: {
        columns: many(300, (index) => ({
          name: `n${index}`,
          match: [{ pattern: `^(c|d)+x${index}$` }],
          required: false,
        })),
      },
      operations: [],
    },
    input: wide(16_384, 1),
  }),
  'a pattern that is slow from the first row': () => ({
    template: { operations: [{ op: 'filter', where: `!a.matches("${PATTERN}")` }] },
    input: `a,b\n${`${'abcabcaxbc'.repeat(10)},1\n`.repeat(20_000)}`,
  }),
  'a pattern that becomes slow after cheap rows': () => ({
    template: { operations: [{ op: 'set', columns: { n: `a.matches("${PATTERN}")` } }] },
    input: `a,b\n${',1\n'.repeat(9000)}${`${'abcabcaxbc'.repeat(10)},1\n`.repeat(20_000)}`,
  }),
  'a long expression': () => ({
    template: {
      operations: [
        {
          op: 'set',
          columns: { n: many(50, (index) => `extract(a, "([a-z]+)[0-9]{${1 + (index % 9)}}") == null`).join(' && ') },
        },
      ],
    },
    input: `a,b\n${`${'abc'.repeat(30)},1\n`.repeat(20_000)}`,
  }),
  'many rows of a table for each row': () => ({
    template: {
      tables: { t: { ref: 't' } },
      operations: [{ op: 'join', table: 't', on: 'k', multiple: 'all', columns: ['v'] }],
    },
    input: `k\n${'1\n'.repeat(1000)}`,
    tables: { t: `k,v\n${many(50_000, (index) => `1,${index}\n`).join('')}` },
  }),
  'all columns become rows': () => ({
    template: { operations: [{ op: 'unpivot', columns: { except: ['c0', 'c1', 'c2'] } }] },
    input: wide(8000, 60),
  }),
  'hundreds of functions over all rows': () => {
    const columns = many(60, (index) => ({ fn: index % 2 === 0 ? 'previous' : 'next', column: 'v', as: `w${index}` }));
    return {
      template: { operations: [{ op: 'window', partition_by: 'g', order_by: ['v'], columns }] },
      input: `g,v\n${many(20_000, (index) => `g${index % 7},${(index * 7919) % 50_021}\n`).join('')}`,
    };
  },
  // Of U+FDFA its normal form makes four words.
  'a text that grows tenfold, and its words': () => {
    const steps = ['nfkc', 'title', 'collapse_spaces', 'strip_accents'];
    return {
      template: { operations: [{ op: 'text', columns: '*', steps, on_error: 'blank' }] },
      input: `a\n"${'\ufdfa'.repeat(280_000)}"\n`,
    };
  },
  'cells of pairs whose keys are all but one of a hundred': () => ({
    template: { operations: [PAIRS] },
    input: `a,b\n${`"${'shipping_address_line_9x:v;'.repeat(150_000)}",1\n`.repeat(3)}`,
    // Compared with each key and in one go a cell took 580.
    stepMillisecondsMax: 200,
  }),
  'a row of 60 cells of 4 MiB': () => ({
    template: { operations: many(60, (index) => ({ op: 'copy', from: 'a', to: `a${index}` })) },
    input: `a,b\n"${'x""'.repeat(1_300_000)}",1\n`,
  }),
};

/** Milliseconds of processor time that the longest synchronous step took, as far as they passed. */
async function longestStep({ template, input, tables }: NastyCase): Promise<{ longest: number; end: string }> {
  let longest = 0;
  const begun = performance.now();
  const used = (): number => (({ user, system }) => (user + system) / 1000)(process.cpuUsage());
  const drive = async (work: Coroutine<RunOutcome>): Promise<RunOutcome> => {
    for (;;) {
      const [at, cpu] = [performance.now(), used()];
      const step = work.next();
      // Threads that compile and collect count as the process's time, other processes as time that passes.
      longest = Math.max(longest, Math.min(performance.now() - at, used() - cpu));
      if (step.done) return step.value;
      await step.value;
    }
  };
  const cancelled = (): boolean => performance.now() - begun > LOOK_MILLISECONDS;
  try {
    const { outcome } = await applyTemplate(template, input, 4096, tables, {
      drive,
      cancelled,
      outputBytesMax: 2 ** 29,
    });
    return { longest, end: outcome.failure?.code ?? 'done' };
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    return { longest, end: 'cancelled' };
  }
}

for (const [name, make] of Object.entries(CASES)) {
  test(name, async (t) => {
    const nasty = make();
    const { stepMillisecondsMax = STEP_MILLISECONDS_MAX } = nasty;
    let best = Number.POSITIVE_INFINITY;
    for (let left = TRIES; left > 0 && best > stepMillisecondsMax; left--) {
      const { longest, end } = await longestStep(nasty);
      t.ok(['done', 'cancelled', 'RUN_RESOURCE_LIMIT'].includes(end), end);
      best = Math.min(best, longest);
    }
    t.comment(`${best.toFixed(0)} ms`);
    t.ok(best <= stepMillisecondsMax, `held its thread for ${best.toFixed(0)} ms`);
  });
}
