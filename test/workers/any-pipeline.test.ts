// Operations in any combination: output, failure and report do not depend on the size of batches,
// nor on a memory that moves.
import { test } from 'tap';
import { type Applied, applyTemplate } from './apply-template.ts';
import { withMovingMemory } from './moving-memory.ts';

const PIPELINES = 120;
const BATCH_ROWS = [1, 7, 4096];

type Pick = <T>(some: readonly T[]) => T;
type Operation = Readonly<Record<string, unknown>>;

/** Repeatable noise: whole numbers below `most`. */
function noise(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

const ON_ERROR = ['drop_row', 'blank', 'keep', 'flag'];

/** `name`: of a new column. */
function anyOperation(next: (most: number) => number, pick: Pick, name: string): Operation {
  const group = pick([{}, { group_by: 'g' }]);
  const formats = ['dd/MM/yyyy', 'MM/dd/yyyy'];
  const where = { where: pick(['a != "x"', 'int(b) > 1']), on_error: pick(ON_ERROR) };
  const neighbour = { fn: pick(['next', 'previous', 'last', 'first']), column: 'b', as: name };
  return pick<Operation>([
    { op: 'fill_up', columns: [pick(['a', 'b'])], ...group, ...pick([{}, where, { ...where, into: name }]) },
    { op: 'fill_down', columns: ['b'], ...group, ...pick([{}, { reset_when: 'g == "g1"' }]) },
    { op: 'fill_down', columns: ['a'], ...group, ...pick([where, { into: name }, { ...where, into: name }]) },
    { op: 'blank_down', columns: [pick(['a', 'g'])], ...pick([{}, where, { ...where, into: name }]) },
    { op: 'drop_repeated_headers' },
    { op: 'explode', column: 'a', separator: '|', max_items: 1 + next(3), on_error: pick(ON_ERROR) },
    { op: 'window', ...pick([{}, { partition_by: 'g' }]), ...pick([{}, { order_by: ['b'] }]), columns: [neighbour] },
    { op: 'sample', ...pick<object>([{ n: 1 + next(30) }, { fraction: 0.7 }, { every: 1 + next(3) }]) },
    { op: 'append_rows', rows: [{ a: 'x|y' }, { g: 'g1', b: '7' }] },
    { op: 'filter', where: pick(['b != "5"', 'a != null', 'size(coalesce(a, "")) > 1']) },
    { op: 'slice', skip: next(3), limit: 5 + next(30) },
    { op: 'stop_when', where: 'b == "9"' },
    { op: 'dedupe', by: ['a', 'g'], keep: pick(['first', 'last']) },
    { op: 'sort', by: [pick(['a', 'b'])] },
    { op: 'top', n: 1 + next(3), by: ['b'], group_by: 'g' },
    { op: 'set', columns: { [name]: 'run.row' } },
    {
      op: 'validate',
      rules: [{ column: 'b', check: 'in', values: ['1', '2', '5'], on_error: pick(['flag', 'drop_row']) }],
    },
    { op: 'parse_date', columns: ['d'], into: name, formats, ambiguous: 'column_vote', on_error: pick(ON_ERROR) },
    { op: 'to_json', columns: ['a', 'b'], into: name },
  ]);
}

function anyEnd(pick: Pick): readonly Operation[] {
  const cells = { group_by: 'g', names_from: 'b', values_from: 'a', values: ['1', '2'] };
  return pick<readonly Operation[]>([
    [],
    [{ op: 'unpivot', columns: ['a', 'b'], drop_empty: pick([true, false]) }],
    [{ op: 'aggregate', group_by: 'g', metrics: [{ fn: 'count' }, { fn: 'last', column: 'b' }] }],
    [{ op: 'pivot', ...cells, aggregate: 'first', other: { into: 'rest' } }],
  ]);
}

function anyInput(next: (most: number) => number, pick: Pick): string {
  const rows = Array.from({ length: next(60) }, () => {
    if (next(20) === 0) return 'a,b,g,d';
    const [a, b] = [pick(['', 'x', 'y|z', 'p|q|r', 'zz']), pick(['', '1', '2', '5', '9', 'bad'])];
    return [a, b, pick(['g1', 'g2', '', 'g3']), pick(['01/02/2026', '13/02/2026', '02/13/2026', '', 'x'])].join(',');
  });
  return `a,b,g,d\n${rows.join('\n')}\n`;
}

test('any pipeline', async (t) => {
  const next = noise(20_260_131);
  const pick: Pick = (some) => some[next(some.length)]!;
  let sound = 0;
  for (let pipeline = 0; pipeline < PIPELINES; pipeline++) {
    const steps = Array.from({ length: 1 + next(4) }, (_, index) => anyOperation(next, pick, `new_${index}`));
    const operations = [...steps, ...anyEnd(pick)];
    const template = { input: { csv: { header_row: 0 } }, defaults: { on_error: pick(['fail', 'flag']) }, operations };
    const input = anyInput(next, pick);
    const answers: string[] = [];
    const note = ({ text, outcome }: Applied): void => {
      answers.push(JSON.stringify([text, outcome.failure, outcome.report]));
      if (text !== null) sound++;
    };
    for (const batchRows of BATCH_ROWS) note(await applyTemplate(template, input, batchRows));
    note(await withMovingMemory(1 + next(2000), () => applyTemplate(template, input)));
    const isSame = answers.every((answer) => answer === answers[0]);
    if (!isSame) t.comment(JSON.stringify({ template, input }), answers);
    t.ok(isSame, `pipeline ${pipeline}`);
  }
  t.ok(sound > PIPELINES, 'most of them give an output');
});
