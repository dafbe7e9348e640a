// Functions of expressions on long texts: they pause between pieces of one cell, give the same results as without
// pauses, and are not computed again when the memory for their result is too small at first.
// With all tests only: work and memory of large inputs.
import { test } from 'tap';
import { checkExpression } from '../../../../workers/expression/check/checker.ts';
import { compileExpression } from '../../../../workers/expression/compile/compiler.ts';
import { EvaluationError } from '../../../../workers/expression/compile/value.ts';
import { operationTable } from '../../../../workers/operations/index.ts';
import type { Pauses } from '../../../../workers/scheduling/time-slices.ts';
import { PIECE_UNITS } from '../../../../workers/values/text-edits.ts';
import { runOperation } from '../../operations/harness.ts';

/** Length of the cells in characters. */
const UNITS = 12 * PIECE_UNITS;
/** Much less than the result of a cell. */
const ARENA_BYTES = 65_536;
/** A row checks the clock a few times in addition to the pieces of its texts. */
const OTHER_LOOKS = 8;

const textOf = (piece: string, units = UNITS): string => piece.repeat(Math.ceil(units / piece.length)).slice(0, units);

const WORDS = textOf('ÉCOLE b-1 ß "x\\" ');

/** Expressions, and the number of their edits that pause. */
const EXPRESSIONS: Readonly<Record<string, number>> = {
  'title(a)': 1,
  // Normal forms are made in smaller pieces.
  'fingerprint(a)': 7,
  'strip_accents(a)': 8,
  'upper(a)': 1,
  'lower(a)': 1,
  'a.upperAscii()': 1,
  'a.lowerAscii()': 1,
  'a.reverse()': 1,
  'strings.quote(a)': 1,
  'a.replace("b", "ä")': 1,
  'a.replace("", "-")': 1,
  'a.replace("", "-", 700000)': 1,
  // Matches of patterns pause more often.
  'replace_re(a, "[bß]", "yz")': 7,
  'replace_re(a, "(b|-1) ?", "<$1>")': 7,
  // Several edits of one row, some of which depend on others or on conditions.
  'title(strip_accents(a))': 9,
  'a.contains("b") ? title(a) : upper(a)': 1,
  'if_error(int(upper(a)), size(lower(a)))': 2,
  '[1, 2].map(i, i == 1 ? upper(a) : lower(a)).join("").size()': 2,
  // Kernels for short texts, and closures for the middle part.
  'a.reverse() + "x"': 1,
  'upper(a) == lower(a)': 2,
};

class CountingClock implements Pauses {
  looks = 0;

  isDue(): boolean {
    this.looks++;
    return true;
  }
}

/** The text of a result computed without pauses, or the code of its error. */
function withoutPauses(source: string, a: string, b = ''): string {
  const columns = new Map([
    ['a', 'text'],
    ['b', 'text'],
  ] as const);
  const checked = checkExpression(source, { columns });
  if ('problems' in checked) throw new Error(`${source}: ${checked.problems[0]!.message}`);
  const evaluate = compileExpression<string>(checked.expression, { column: (name) => () => (name === 'a' ? a : b) });
  try {
    return String(evaluate(''));
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    return error.code;
  }
}

for (const [source, edits] of Object.entries(EXPRESSIONS)) {
  test(`${source} pauses within a cell`, async (t) => {
    const clock = new CountingClock();
    const options = { clock, arenaBytes: ARENA_BYTES, batchRows: 4 };
    const made = { columns: ['a'], rows: [[WORDS]] };
    const { rows, errors } = runOperation(operationTable.get('set')!, { columns: { n: source } }, made, options);
    t.same(errors, {}, 'no row error');
    t.ok(rows[0]![1] === withoutPauses(source, WORDS), 'the same result as without pauses');
    const pieces = (edits * UNITS) / PIECE_UNITS;
    t.ok(clock.looks >= pieces * 0.7, `${clock.looks} checks of the clock in ${pieces} pieces`);
    t.ok(clock.looks <= pieces * 1.3 + OTHER_LOOKS, `${clock.looks} checks of the clock: each edit is made once`);
  });
}

/** Searches in a cell of commas for a comma, or for a long text that almost occurs at every position of the cell. */
const SEARCHES: readonly string[] = [
  'split_part(a, ",", 700000)',
  'split_part(a, ",", -2)',
  'split_part(a, ",", -900000) == null',
  'a.replace(",", "é", 700000)',
  'split_part(a, b, 2)',
  'split_part(a, b, 3) == null',
  'a.replace(b, "é")',
  'a.replace(b, "é", 1)',
  'a.split(b)[0]',
  'a.contains(b + ",")',
  'a.indexOf(b)',
  'a.lastIndexOf(b)',
];

for (const source of SEARCHES) {
  test(`${source} pauses within a cell`, async (t) => {
    const part = `${','.repeat(40)}x`;
    const searched = `${textOf(',', UNITS / 2)}x${textOf(',', UNITS / 2)}`;
    const clock = new CountingClock();
    const options = { clock, arenaBytes: ARENA_BYTES };
    const table = { columns: ['a', 'b'], rows: [[searched, part]] };
    const { rows, errors } = runOperation(operationTable.get('set')!, { columns: { n: source } }, table, options);
    t.same(errors, {}, 'no row error');
    t.ok(rows[0]![2] === withoutPauses(source, searched, part), 'the same result as without pauses');
    t.ok(clock.looks >= (UNITS / PIECE_UNITS / 2) * 0.9, `${clock.looks} checks of the clock`);
  });
}

test('a text without spaces has a fingerprint in pieces too, which is that of its parts', async (t) => {
  const clock = new CountingClock();
  const word = textOf('Éß１');
  const { rows } = runOperation(
    operationTable.get('set')!,
    { columns: { n: 'fingerprint(a)' } },
    { columns: ['a'], rows: [[word]] },
    { clock },
  );
  t.ok(rows[0]![1] === textOf('ess1', (UNITS / 3) * 4), 'the same letters');
  t.ok(clock.looks >= (UNITS / PIECE_UNITS) * 0.7, `${clock.looks} checks of the clock`);
});

test('conditions pause within a cell', async (t) => {
  const table = { columns: ['a'], rows: [[WORDS], ['b'], [WORDS]] };
  for (const where of ['title(a) != "B"', 'size(title(a)) > 5', 'lower(a) == lower(lower(a)) && title(a) != "B"']) {
    const clock = new CountingClock();
    const { rows } = runOperation(operationTable.get('filter')!, { where }, table, { clock });
    t.same(rows.length, 2, where);
    t.ok(clock.looks >= (UNITS / PIECE_UNITS) * 2 * 0.7, `${where}: ${clock.looks} checks of the clock`);
  }
});

test('the current cell, and the texts of fill_empty', async (t) => {
  const table = { columns: ['a', 'b'], rows: [[WORDS, null]] };
  for (const [operation, parameters] of [
    ['set', { each: 'a', expr: 'title(value)', into: 'n' }],
    ['fill_empty', { columns: 'b', expr: 'title(a)' }],
  ] as const) {
    const clock = new CountingClock();
    const { rows, problems } = runOperation(operationTable.get(operation)!, parameters, table, { clock });
    t.same(problems, []);
    t.ok(rows[0]!.includes(withoutPauses('title(a)', WORDS)), operation);
    t.ok(clock.looks >= (UNITS / PIECE_UNITS) * 0.7, `${operation}: ${clock.looks} checks of the clock`);
  }
});

test('a test of a pattern with many states pauses, in conditions and rules', async (t) => {
  const found = 'a'.repeat(60_000);
  const other = `${found}b`;
  const table = { columns: ['a'], rows: [[found], [other]] };
  const pattern = '(a{1,20}){1,20}$';
  for (const [operation, parameters] of [
    ['filter', { where: `a.matches("${pattern}")` }],
    ['validate', { rules: [{ column: 'a', check: 'pattern', pattern, on_error: 'drop_row' }] }],
  ] as const) {
    const clock = new CountingClock();
    const { rows, problems } = runOperation(operationTable.get(operation)!, parameters, table, { clock });
    t.same(problems, []);
    t.ok(rows.length === 1 && rows[0]![0] === found, operation);
    t.ok(clock.looks >= 6, `${operation}: ${clock.looks} checks of the clock`);
  }
});

test('rules of validate pause within a cell, and judge the same rows', async (t) => {
  const table = { columns: ['a'], rows: [[WORDS], ['b'], ['B'], [WORDS]] };
  const clock = new CountingClock();
  const rules = [
    { check: 'expr', expr: 'title(a) != "B"', where: 'fingerprint(a) != "b" || a == "b"', on_error: 'drop_row' },
    { check: 'expr', expr: 'size(upper(a)) < 10', on_error: 'flag' },
  ];
  const { rows, errors, problems } = runOperation(operationTable.get('validate')!, { rules }, table, { clock });
  t.same(problems, []);
  t.same(rows.length, 3, 'one row is dropped');
  t.same(errors['OUT_OF_RANGE']?.count, 3, JSON.stringify(errors));
  t.ok(clock.looks >= (UNITS / PIECE_UNITS) * 6 * 0.7, `${clock.looks} checks of the clock`);
});

test('an edit that fails in the middle of a cell fails its row', async (t) => {
  const quotes = textOf('"', 3 * 1024 * 1024);
  const table = { columns: ['a'], rows: [['b'], [quotes], ['c']] };
  const { rows, errors } = runOperation(operationTable.get('set')!, { columns: { n: 'strings.quote(a)' } }, table);
  t.same(Object.keys(errors), ['TOO_LONG']);
  t.same(
    rows.map(([, made]) => made),
    ['"b"', null, '"c"'],
  );
  // Exceeds the maximum length of a cell only in bytes.
  const wide = textOf('ab', 2_000_000);
  const grown = runOperation(
    operationTable.get('set')!,
    { columns: { n: 'a.replace("a", "字")' } },
    { columns: ['a'], rows: [[wide]] },
    { arenaBytes: ARENA_BYTES },
  );
  t.same(Object.keys(grown.errors), []);
  t.equal(Buffer.byteLength(String(grown.rows[0]![1])), 4_000_000);
  const tooWide = runOperation(
    operationTable.get('set')!,
    { columns: { n: 'a.replace("a", "字字")' } },
    { columns: ['a'], rows: [[wide]] },
    { arenaBytes: ARENA_BYTES },
  );
  t.same(Object.keys(tooWide.errors), ['TOO_LONG']);
});
