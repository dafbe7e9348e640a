// Operations in any combination: output, failure and report do not depend on the size of batches,
// nor on a memory that moves.
import { type Test, test } from 'tap';
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

/** Operations that leave cells as they are or change few, an end among them, and what may come behind it. */
function anyEnding(next: (most: number) => number, pick: Pick): readonly Operation[] {
  const end: Operation = {
    op: 'stop_when',
    where: pick(['b == "9"', 'a == "zz" && b != null', 'int(b) == 5', 'run.row == 12', 'g == "g9"', 'd == "x"']),
    include: pick([true, false]),
    on_error: pick(ON_ERROR),
  };
  const before = (): Operation =>
    pick<Operation>([
      { op: 'fill_down', columns: [pick(['a', 'b'])], ...pick([{}, { group_by: 'g' }]) },
      { op: 'fill_down', columns: ['a'], into: 'filled', where: 'int(b) > 1', on_error: pick(ON_ERROR) },
      { op: 'blank_down', columns: pick(['d', '*']) },
      { op: 'dedupe', by: [pick(['a', 'd'])] },
      { op: 'filter', where: pick(['b != "5"', 'int(b) != 1']), on_error: pick(ON_ERROR) },
      { op: 'drop_repeated_headers' },
      { op: 'drop_blank_rows', columns: ['a', 'b'] },
      { op: 'copy', from: 'a', to: 'copied' },
      { op: 'reorder', first: ['d', 'b'] },
      { op: 'text', columns: ['a'], steps: ['upper'] },
      { op: 'window', columns: [{ fn: 'next', column: 'b', as: 'later' }] },
      { op: 'sort', by: [pick(['a', 'b'])] },
      { op: 'slice', skip: 1, limit: 20 },
    ]);
  const operations = [...Array.from({ length: 1 + next(3) }, before), end, ...pick([[], [before()]])];
  // A new name can be made once only.
  const isMaking = (step: Operation): boolean => 'into' in step || 'to' in step || step['op'] === 'window';
  const isSame = (a: Operation, b: Operation): boolean => a['op'] === b['op'] && a['into'] === b['into'];
  return operations.filter(
    (step, at) => !isMaking(step) || operations.findIndex((other) => isSame(other, step)) === at,
  );
}

test('any pipeline with an end behind state', async (t) => {
  const next = noise(20_261_122);
  const pick: Pick = (some) => some[next(some.length)]!;
  let ended = 0;
  for (let pipeline = 0; pipeline < PIPELINES; pipeline++) {
    const operations = anyEnding(next, pick);
    const template = { input: { csv: { header_row: 0 } }, defaults: { on_error: pick(['fail', 'flag']) }, operations };
    const input = anyInput(next, pick);
    const answers: string[] = [];
    for (const batchRows of BATCH_ROWS) {
      const { text, outcome } = await applyTemplate(template, input, batchRows);
      answers.push(JSON.stringify([text, outcome.failure, outcome.report]));
      const end = outcome.report.operations.find(({ operation }) => operation === 'stop_when')!;
      if (end.rows_in > 0 && outcome.report.rows_read > end.rows_in) ended++;
    }
    const isSame = answers.every((answer) => answer === answers[0]);
    if (!isSame) t.comment(JSON.stringify({ template, input }), answers);
    t.ok(isSame, `pipeline ${pipeline}`);
  }
  t.ok(ended > PIPELINES, 'many of them end before their rows do');
});

async function everyBatch(t: Test, template: object, input: string) {
  const results = [];
  for (const batchRows of BATCH_ROWS) {
    const { text, outcome } = await applyTemplate(template, input, batchRows);
    results.push({ text, report: outcome.report.operations });
  }
  for (const result of results) t.strictSame(result, results[0], 'the same whatever the batches');
  return results[0]!;
}

test('an end that only the operations before it make is exact too', async (t) => {
  const input = 'n,c\n1,x\n2,\n3,\n4,y\n5,\n';
  const fill = { op: 'fill_down', columns: ['c'] };
  const made = await everyBatch(
    t,
    { operations: [fill, { op: 'stop_when', where: 'c == "x" && n == "3"', include: true }] },
    input,
  );
  t.equal(made.text, 'n,c\n1,x\n2,x\n3,x\n');
  t.match(made.report, [{ rows_in: 3, cells_changed: 2 }, { rows_in: 3 }], 'of a cell that was filled');
  const named = [
    fill,
    { op: 'rename', columns: { n: 'c2' } },
    { op: 'reorder', first: ['c2'] },
    { op: 'stop_when', where: 'c2 == "4"' },
  ];
  const seen = await everyBatch(t, { operations: named }, input);
  t.equal(seen.text, 'c2,c\n1,x\n2,x\n3,x\n');
  t.match(seen.report, [{ rows_in: 4, cells_changed: 2 }, { rows_in: 4 }, { rows_in: 4 }, { rows_in: 4 }]);
  const sorted = [{ op: 'sort', by: [{ column: 'n', order: 'desc' }] }, fill, { op: 'stop_when', where: 'n == "2"' }];
  const last = await everyBatch(t, { operations: sorted }, input);
  t.equal(last.text, 'n,c\n5,\n4,y\n3,y\n');
  t.match(last.report, [{ rows_in: 5 }, { rows_in: 4, cells_changed: 2 }, { rows_in: 4, rows_out: 3 }]);
  // A row that looks ahead comes when the next one has come.
  const later = { op: 'window', columns: [{ fn: 'next', column: 'n', as: 'later' }] };
  const ahead = await everyBatch(t, { operations: [later, { op: 'stop_when', where: 'n == "2"' }] }, input);
  t.equal(ahead.text, 'n,c,later\n1,x,2\n');
});

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
