// Matching of the Template's columns with a file's headers, and the plan of a Run.

import { test } from 'tap';
import { ExpectedHeaders } from '../../../workers/input/expected-headers.ts';
import type { PlanSettings, RunPlan } from '../../../workers/plan/plan.ts';
import { PreparedTemplate } from '../../../workers/plan/template-cache.ts';
import { Failed, type Failure } from '../../../workers/protocol/failure.ts';
import { done } from '../../../workers/scheduling/time-slices.ts';
import { ColumnPatterns } from '../../../workers/template/column-pattern.ts';
import { headerKey, matchHeaders } from '../../../workers/template/file-columns.ts';
import type { ColumnMatch, FileColumn } from '../../../workers/template/template.ts';
import { fc } from '../../random.ts';
import { sound } from '../template/check-problems.ts';
import { planRun } from './plan-run.ts';

function column(name: string, ...match: ColumnMatch[]): FileColumn {
  return { name, match, ifMissing: 'fail', declared: true };
}

function plan(source: string, headers: readonly string[]): RunPlan {
  return planRun(sound(source), headers);
}

function failure(source: string, headers: readonly string[]): Failure {
  try {
    plan(source, headers);
  } catch (error) {
    if (error instanceof Failed) return error.failure;
    throw error;
  }
  throw new Error('the plan was made');
}

/** `name<field` for each column at the first step, and the column names of the output. */
function shape({ schema, columns, output }: RunPlan): [string[], string[]] {
  const first = columns.map((field, index) => `${schema[index]!.name}<${field ?? 'null'}`);
  return [first, output.schema.map(({ name }) => name)];
}

test('headers on three levels', async (t) => {
  const table: [string, string, 'exact' | 'normal' | 'loose' | null][] = [
    ['Amount', 'Amount', 'exact'],
    ['amount', 'AMOUNT', 'normal'],
    ['Amount', '  Amount\u00a0 ', 'normal'],
    ['Due date', 'Due   \n date', 'normal'],
    ['Amount', '\uFEFFAm\u200Bount', 'normal'],
    ['Nr', 'Ｎｒ', 'normal'],
    ['Straße', 'STRASSE', 'normal'],
    ['ΟΔΟΣ', 'οδος', 'normal'],
    ['Größe', 'Gro\u0308ße', 'normal'],
    ['invoice_no', 'Invoice No.', 'loose'],
    ['Due date', 'due-date', 'loose'],
    ['Amount (EUR)', 'amount/eur', 'loose'],
    ['Größe', 'grosse', 'loose'],
    ['Telefon #', 'telefon:', 'loose'],
    ['Amount', 'Amounts', null],
    ['ŞALI', 'şalı', 'loose'],
    ['GROẞ', 'groß', 'normal'],
  ];
  for (const [name, header, expected] of table) {
    const found = (['exact', 'normal', 'loose'] as const).find(
      (level) => headerKey(name, level) === headerKey(header, level),
    );
    t.equal(found ?? null, expected, `${name} and ${JSON.stringify(header)}`);
  }
});

test('columns are found level by level, never by a guess', async (t) => {
  const fields = (headers: string[], columns: FileColumn[], level: 'exact' | 'normal' | 'loose' = 'normal') => {
    const { fields: found, ambiguous } = done(matchHeaders(headers, columns, level, new ColumnPatterns()));
    return ambiguous.length === 0 ? found : ambiguous.map(({ name, positions }) => `${name} ${positions}`);
  };
  t.strictSame(
    fields(['AMOUNT', 'amount'], [column('amount')]),
    [1],
    'an exact hit goes before one that is only alike',
  );
  t.strictSame(fields(['AMOUNT', 'Amount'], [column('amount')]), ['amount 1,2']);
  t.strictSame(
    fields(['Betrag', 'amount'], [column('amount', 'Betrag')]),
    ['amount 1,2'],
    'name and alias on one level',
  );
  t.strictSame(fields(['betrag', 'amount'], [column('amount', 'Betrag')]), [1]);
  t.strictSame(
    fields(['x', 'X'], [column('a', 'x'), column('b', 'x')]),
    [0, 1],
    'a header that is taken is not in the way',
  );
  t.strictSame(fields(['x'], [column('a', 'x'), column('b', 'x')]), [0, null]);
  t.strictSame(fields(['due-date'], [column('due_date')]), [null]);
  t.strictSame(fields(['due-date'], [column('due_date')], 'loose'), [0]);
  t.strictSame(fields(['DUE_DATE'], [column('due_date')], 'exact'), [null]);
  t.strictSame(fields(['Betrag (EUR)', 'x'], [column('a', { pattern: '^Betrag \\((EUR|USD)\\)$' })]), [0]);
  t.strictSame(fields(['Betrag  (EUR)\u200b'], [column('a', { pattern: '^Betrag \\((EUR|USD)\\)$' })]), [0]);
  t.strictSame(fields(['Betrag (EUR)', 'Betrag (USD)'], [column('a', { pattern: '^Betrag' })]), ['a 1,2']);
  t.strictSame(fields(['x', 'y', 'z'], [column('code', { position: 3 })]), [2]);
  t.strictSame(fields(['x', 'y', 'Code'], [column('code', { position: 1 })]), [2], 'places come after names');
  t.strictSame(fields(['x'], [column('code', { position: 3 })]), [null]);
  t.strictSame(fields(['a', 'b'], [column('b'), column('code', { position: 2 })]), [1, null]);
});

test('every column that is found matches, and no column is used twice', async (t) => {
  const name = fc.constantFrom('a', 'A', ' a', 'b', 'B ', 'c-d', 'C D', 'é', 'E', '');
  const columns = fc.array(
    fc.record({ name: name.filter((text) => text !== ''), match: fc.array(name.filter((x) => x !== '')) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(name),
      columns,
      fc.constantFrom('exact', 'normal', 'loose'),
      async (headers, wanted, level) => {
        const { fields, ambiguous } = done(
          matchHeaders(
            headers,
            wanted.map((each) => column(each.name, ...each.match)),
            level as 'loose',
            new ColumnPatterns(),
          ),
        );
        const taken = fields.filter((field) => field !== null);
        if (new Set(taken).size !== taken.length) throw new Error('a header is taken twice');
        for (const [index, field] of fields.entries()) {
          const names = [wanted[index]!.name, ...wanted[index]!.match].map((each) => headerKey(each, level as 'loose'));
          if (field !== null && !names.includes(headerKey(headers[field]!, level as 'loose')))
            throw new Error('it does not fit');
          const free = headers.filter(
            (header, at) => !taken.includes(at) && names.includes(headerKey(header, level as 'loose')),
          );
          const told = ambiguous.some(({ name: each }) => each === wanted[index]!.name);
          if (field === null && free.length > 0 && !told) throw new Error('a header that fits was left');
        }
      },
    ),
  );
  t.pass('held');
});

test('the columns of a file', async (t) => {
  t.strictSame(shape(plan('{}', ['a', '', 'b', ' ']))[1], ['a', 'column_2', 'b', 'column_4']);
  t.strictSame(shape(plan('{}', ['column_2', '', 'a', 'a', 'a_2', 'a']))[1], [
    'column_2',
    'column_2_2',
    'a',
    'a_3',
    'a_2',
    'a_4',
  ]);
  t.strictSame(shape(plan('input: {duplicate_headers: first}', ['a', 'b', 'a']))[0], ['a<0', 'b<1']);
  t.strictSame(shape(plan('input: {duplicate_headers: last}', ['a', 'b', 'a']))[0], ['b<1', 'a<2']);
  t.match(failure('input: {duplicate_headers: fail}', ['a', 'b', 'a']), {
    code: 'MALFORMED_FILE',
    message: /Columns 1 and 3/,
  });
  const declared = 'input: {columns: [{name: amount, match: [Betrag]}, {name: note, required: false}]';
  t.strictSame(shape(plan(`${declared}}`, ['x', 'BETRAG', 'y'])), [
    ['x<0', 'amount<1', 'y<2', 'note<null'],
    ['x', 'amount', 'y', 'note'],
  ]);
  t.strictSame(
    shape(plan(`${declared}, other_columns: drop}\noperations: [{drop: {columns: y}}]`, ['x', 'Betrag', 'y', 'z'])),
    [
      ['amount<1', 'note<null', 'y<2'],
      ['amount', 'note'],
    ],
  );
  const many = Array.from({ length: 16_384 }, () => 'x');
  t.equal(new Set(plan('{}', many).schema.map(({ name }) => name)).size, many.length);
  t.strictSame(shape(plan('operations: [{op: drop, columns: b, if_missing: skip}]', ['a']))[0], ['a<0']);
  t.strictSame(shape(plan("operations: [{op: select, columns: [b, a], if_missing: 'null'}]", ['a'])), [
    ['a<0', 'b<null'],
    ['b', 'a'],
  ]);
});

test('a file that lacks columns, or has too many of them', async (t) => {
  const source = 'input: {columns: [{name: amount, match: [Betrag]}]}\noperations: [{op: drop, columns: [x, y]}]';
  t.match(failure(source, ['secret', 'y']), {
    code: 'TEMPLATE_COLUMNS_MISSING',
    message: 'The file lacks columns that the Template needs: "amount", "x".',
    columns: ['amount', 'x'],
  });
  t.match(failure(source, ['Betrag', 'amount', 'x', 'y']), {
    message: 'The column "amount" is ambiguous: columns 1 and 2 of the file fit.',
    columns: ['amount'],
  });
  const collision = failure('operations: [{rename: {columns: {a: b}}}]', ['a', 'b']);
  t.match(collision, { code: 'TEMPLATE_COLUMNS_MISSING', message: /rename \(line 1, \/operations\/0\)/ });
  const styled = failure('operations: [{op: rename, style: lower}]', ['Geheim', 'GEHEIM']);
  t.notMatch(styled.message, /geheim/i, 'no header of the file is reported');
  const derived = 'operations: [{op: rename, style: snake}, {op: select, columns: [invoice_no, total]}]';
  t.strictSame(shape(plan(derived, ['Invoice No.', 'TOTAL']))[1], ['invoice_no', 'total']);
  t.match(failure(derived, ['Invoice No.', 'x']), { columns: ['total'] });
  const optional = derived.replace('total]', "total], if_missing: 'null'");
  t.strictSame(shape(plan(optional, ['Invoice No.', 'x'])), [
    ['Invoice No.<0', 'x<1', 'total<null'],
    ['invoice_no', 'total'],
  ]);
});

test('steps carry their columns; ids last; the flag column is the last', async (t) => {
  const { steps, schema, columns, flagColumn, output } = plan(
    `
operations:
  - {op: text, columns: a, steps: [trim], on_error: flag}
  - rename: {columns: {a: z}}
  - {op: select, columns: [c, z]}
  - {op: copy, from: z, to: y}
output: {columns: [y, _issues]}
`,
    ['a', 'b', 'c', '_issues'],
  );
  t.equal(flagColumn, true);
  t.strictSame(
    schema.map(({ name }) => name),
    ['a', 'b', 'c', '_issues_2', '_issues'],
  );
  t.strictSame(columns, [0, 1, 2, 3]);
  t.strictSame(
    steps.map((step) => step.layout),
    [
      [0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4],
      [2, 0, 4],
      [0, 1, -1, 2],
    ],
  );
  t.strictSame(
    output.schema.map(({ name }) => name),
    ['y', '_issues'],
  );
  t.strictSame(output.columns, [2, 3]);
  const ids = new Map(steps[0]!.input.map(({ id, name }) => [name, id]));
  t.equal(steps[1]!.output.find(({ name }) => name === 'z')!.id, ids.get('a'));
  for (const step of steps) t.equal(new Set(step.output.map(({ id }) => id)).size, step.output.length);
});

test('the header row is found by the names of the Template', async (t) => {
  const expected = ExpectedHeaders.of(sound('input: {columns: [{name: amount, match: [Betrag, {pattern: "^Sum"}]}]}'))!;
  t.strictSame(
    ['AMOUNT', ' betrag ', 'Summe', 'x'].map((text) => expected.has(text)),
    [true, true, true, false],
  );
  t.equal(ExpectedHeaders.of(sound('{}')), null);
});

test('the plan is the same every time', async (t) => {
  const template = sound('operations: [{op: rename, style: snake}, {op: drop, columns: {pattern: "^x"}}]');
  const names = fc.array(fc.string({ maxLength: 4 }), { maxLength: 30 });
  fc.assert(
    fc.property(names, (headers) => {
      const make = (): unknown => {
        try {
          return shape(planRun(template, headers));
        } catch (error) {
          if (error instanceof Failed) return error.failure;
          throw error;
        }
      };
      const made = make();
      if (Array.isArray(made)) {
        const output = made[1] as string[];
        if (new Set(output).size !== output.length) throw new Error('two columns have one name');
      }
      return JSON.stringify(make()) === JSON.stringify(made);
    }),
  );
  t.pass('held');
});

test('a prepared Template keeps the plans of the last headers', async (t) => {
  const source = JSON.stringify({ format: 1, operations: [{ rename: { columns: { a: 'b' } } }] });
  const prepared = new PreparedTemplate(sound(source));
  const plan = (headers: string[], settings: PlanSettings = {}) => done(prepared.plan(headers, settings));
  const first = plan(['a', 'c']);
  t.equal(plan(['a', 'c']), first, 'the same headers');
  t.same(shape(plan(['c', 'a'])), [
    ['c<0', 'a<1'],
    ['c', 'b'],
  ]);
  t.throws(() => plan(['c']), Failed, 'each time');
  t.throws(() => plan(['c']), Failed);
  t.not(plan(['a', 'c'], { tables: new Map([['t', ['k']]]) }), first, 'a table may be another one');
  for (let other = 0; other < 4; other++) plan(['a', `c${other}`]);
  t.not(plan(['a', 'c']), first, 'the oldest went');
});

test('long names that an operation makes are charged, once', async (t) => {
  const headers = Array.from({ length: 1000 }, (_, index) => `c${index}`);
  const chargedFor = (...operations: readonly object[]): number => {
    let charged = 0;
    const template = sound(JSON.stringify({ operations }));
    planRun(template, headers, { take: (bytes) => (charged += bytes) });
    return charged;
  };
  const named = (letter: string): object => ({ op: 'rename', pattern: '^', replace: letter.repeat(1000) });
  const reordered = { op: 'reorder', first: { pattern: '7$' } };
  const short = chargedFor({ op: 'rename', style: 'upper' }, reordered);
  const long = chargedFor(named('a'), reordered);
  t.ok(long - short > 1_500_000 && long - short < 3_000_000, `${long - short} bytes for a million letters`);
  const twice = chargedFor({ op: 'rename', pattern: '^', replace: 'a'.repeat(1000) }, named('b'), reordered);
  t.ok(twice - long > 1_500_000, 'the names of both steps are kept');
});
