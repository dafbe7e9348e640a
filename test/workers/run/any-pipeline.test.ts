// Operations in any combination: output, failure and report do not depend on the size of batches, nor on memory that moves.
import { type Test, test } from 'tap';
import { type Noise, noise } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { type Applied, applyTemplate } from '../apply-template.ts';
import { withMovingMemory } from '../memory/moving-memory.ts';

const PIPELINES = sweep({ short: 10, long: 120 });
const BATCH_ROWS = [1, 7, 4096];

type Pick = <T>(some: readonly T[]) => T;
type Operation = Readonly<Record<string, unknown>>;

const ON_ERROR = ['drop_row', 'blank', 'keep', 'flag'];

/** @param name name of a new column */
function anyOperation(next: Noise, pick: Pick, name: string): Operation {
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
    { op: 'dedupe', any_of: pick([[['a'], ['b', 'g']], [['d']]]), keep: pick(['first', 'last', 'none']) },
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
    [{ op: 'unpivot', pattern: '([ab])()', names_to: ['.value', 'part'], drop_empty: pick([true, false]) }],
    [{ op: 'aggregate', group_by: 'g', metrics: [{ fn: 'count' }, { fn: 'last', column: 'b' }] }],
    [{ op: 'pivot', ...cells, aggregate: 'first', other: { into: 'rest' } }],
    [{ op: 'transpose', header_from: 'b', columns: ['1', '2', '5'], on_error: pick(['drop_row', 'keep']) }],
  ]);
}

function anyInput(next: Noise, pick: Pick): string {
  const rows = Array.from({ length: next(60) }, () => {
    if (next(20) === 0) return 'a,b,g,d';
    const [a, b] = [pick(['', 'x', 'y|z', 'p|q|r', 'zz']), pick(['', '1', '2', '5', '9', 'bad'])];
    return [a, b, pick(['g1', 'g2', '', 'g3']), pick(['01/02/2026', '13/02/2026', '02/13/2026', '', 'x'])].join(',');
  });
  return `a,b,g,d\n${rows.join('\n')}\n`;
}

/** Operations that change no cells or few cells, with an end among them, and the operations that may follow the end. */
function anyEnding(next: Noise, pick: Pick): readonly Operation[] {
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
  // A new column name can be used only once.
  const isMaking = (step: Operation): boolean => 'into' in step || 'to' in step || step['op'] === 'window';
  const isSame = (a: Operation, b: Operation): boolean => a['op'] === b['op'] && a['into'] === b['into'];
  return operations.filter(
    (step, at) => !isMaking(step) || operations.findIndex((other) => isSame(other, step)) === at,
  );
}

/** An operation that forwards its rows one by one. `at` is its position in the chain. */
function mixedStep(pick: Pick, at: number): Operation {
  const columns = pick(['a', 'b', 'd', 'g']);
  const into = `new_${at}`;
  const rest = { on_error: pick(ON_ERROR), ...pick([{}, {}, { where: 'b != "1"' }, { where: 'int(b) > 1' }]) };
  const cells = { columns, ...rest, ...pick([{}, { into }]) };
  return pick<Operation>([
    { op: 'text', steps: ['upper', { prefix: pick(['', '9']) }], ...cells },
    { op: 'replace', find: '1', replace: '9', ...cells },
    { op: 'map_values', ...pick([{ map: { 1: '9', x: null } }, MAPPED]), default: pick(['keep', 'error']), ...cells },
    { op: 'fill_empty', value: '9', ...cells },
    { op: 'blank_if', values: ['x', '5'], ...cells },
    { op: 'parse_number', ...cells, columns: 'b', into },
    { op: 'parse_date', formats: ['dd/MM/yyyy'], ...cells, columns: 'd', into },
    { op: 'parse_date', epoch: pick(['s', 'ms']), ...cells, columns: 'b', into },
    { op: 'parse_time', formats: ['H'], ...cells },
    { op: 'parse_duration', plain: 'min', unit: 'h', ...cells, columns: 'b', into },
    {
      op: 'set',
      columns: pick([{ [into]: 'int(b) + 1' }, { [columns]: pick(['concat_ws("-", a, g)', '"9"']) }]),
      ...rest,
    },
    {
      op: 'split_column',
      column: 'a',
      by: { separator: '|' },
      into: pick([[into], [null, into], [into, null]]),
      ...rest,
      too_many: 'fail',
      keep_source: true,
    },
    {
      op: 'extract',
      column: 'd',
      pattern: '([0-9]+)',
      into: { 1: pick(['d', into]) },
      ...rest,
      on_no_match: 'error',
    },
    { op: 'merge_columns', columns: ['a', 'b'], into: pick(['b', into]), keep_source: true },
    { op: 'mask', keep_last: 1, ...cells },
    { op: 'to_json', columns: ['a', 'b'], into },
    { op: 'explode', column: 'a', separator: '|', on_error: pick(ON_ERROR), max_items: 2 },
    { op: 'fill_down', columns: ['a'], ...pick([{}, { group_by: 'g' }]) },
    { op: 'window', columns: [{ fn: pick(['running_count', 'previous']), column: 'b', as: into }] },
    {
      op: 'validate',
      rules: [{ column: 'b', check: pick(['required', 'digits', 'unique', 'increasing']) }],
      on_error: pick(ON_ERROR),
    },
    {
      op: 'validate',
      rules: [{ column: 'b', check: 'exists_in', table: 'known', key: 'k', on_error: pick(ON_ERROR) }],
    },
    {
      op: 'join',
      table: 'known',
      on: [{ left: 'b', right: 'k' }],
      multiple: pick(['first', 'all']),
      prefix: into,
      type: pick(['left', 'inner']),
    },
    { op: 'sample', ...pick([{ every: 2 }, { fraction: 0.7 }]) },
    { op: 'dedupe', by: ['a', 'd'] },
    { op: 'check_totals', checks: [{ expr: 'count()', between: [0, 1000] }] },
    { op: 'append_rows', rows: [{ b: '9' }] },
    { op: 'expect_columns', columns: ['b'] },
  ]);
}

/** Operations of this kind, with an end among them. */
function anyMixedEnding(next: Noise, pick: Pick): readonly Operation[] {
  const end: Operation = {
    op: 'stop_when',
    where: pick(['b == "9"', 'g == "g3"', 'd == "x"', 'int(b) == 5', 'a == null && b == null', 'run.row == 17']),
    include: pick([true, false]),
    on_error: pick(ON_ERROR),
  };
  const before = Array.from({ length: 1 + next(4) }, (_, at) => mixedStep(pick, at));
  return [...before, end, ...pick([[], [mixedStep(pick, 9)]])];
}

const MAPPED = { table: 'known', key: 'k', value: 'v' };
const KNOWN = { known: 'k,v\n1,one\n1,eins\n2,two\n9,nine\nx,9\n' };

/**
 * Checks that the result is the same for all batch sizes. Returns the number of results from a Run that ended before its rows
 * did.
 */
async function endings(t: Test, pipeline: number, template: object, input: string): Promise<number> {
  const answers: string[] = [];
  let ended = 0;
  for (const batchRows of BATCH_ROWS) {
    const { text, outcome } = await applyTemplate(template, input, batchRows, KNOWN);
    answers.push(JSON.stringify([text, outcome.failure, outcome.report]));
    const end = outcome.report.operations.find(({ operation }) => operation === 'stop_when')!;
    if (end.rows_in > 0 && outcome.report.rows_read > end.rows_in) ended++;
  }
  const isSame = answers.every((answer) => answer === answers[0]);
  if (!isSame) t.comment(JSON.stringify({ template, input }), answers);
  t.ok(isSame, `pipeline ${pipeline}`);
  return ended;
}

for (const [title, any] of [
  ['state', anyEnding],
  ['cells and state', anyMixedEnding],
] as const) {
  test(`any pipeline with an end after ${title}`, async (t) => {
    const next = noise(1);
    const pick: Pick = (some) => some[next(some.length)]!;
    let ended = 0;
    for (let pipeline = 0; pipeline < PIPELINES; pipeline++) {
      const operations = any(next, pick);
      const defaults = { on_error: pick(['fail', 'flag']) };
      const template = { input: { csv: { header_row: 0 } }, tables: { known: { ref: 'known' } }, defaults, operations };
      ended += await endings(t, pipeline, template, anyInput(next, pick));
    }
    t.ok(ended > PIPELINES, 'many of them end before their rows do');
  });
}

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
  // A row whose column refers to the next row is emitted when the next row has arrived.
  const later = { op: 'window', columns: [{ fn: 'next', column: 'n', as: 'later' }] };
  const ahead = await everyBatch(t, { operations: [later, { op: 'stop_when', where: 'n == "2"' }] }, input);
  t.equal(ahead.text, 'n,c,later\n1,x,2\n');
});

test('any pipeline', async (t) => {
  const next = noise(2);
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
