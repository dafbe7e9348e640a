// Random chains of operations over untidy cells: output, failure and report must not depend on how rows fall into batches. A
// chain with different results is printed.
import { test } from 'tap';
import { Chance } from '../fuzz/chance.ts';
import { seed } from '../random.ts';
import { sweep } from '../sweep.ts';
import { applyTemplate } from '../workers/apply-template.ts';

const CHAINS = sweep({ short: 15, long: 250 });
const BATCH_ROWS = [1, 7, 4096];

const CELLS = [
  ...['', '', 'x', 'X ', ' y', 'straße', '1.234,50', '12', '-3.5', '007', '31.01.2026', '2026-02-30', 'a;b', 'q"uote'],
  ...['l\nf', '😀', 'e\u0301', 'Ada  Lovelace', '=1+1', '-x', 'NULL', 'true', '1e5', '99999999999999999999', '\u00a0'],
];
const CONDITIONS = ['a == "x"', 'size(b) > 1', 'c != null', 'run.row % 2 == 1', 'is_blank(d)', 'int(a) > 1'];
const EXPRESSIONS = [
  ...['a + b', 'upper(c)', 'a == b', 'size(a) + size(d)', 'coalesce(a, b, "z")', 'int(a) * 2', 'decimal(b) / 3'],
  ...[
    'run.row',
    'extract(d, "([0-9]+)")',
    'a < b ? c : d',
    'concat_ws("|", a, b, c)',
    'if_error(int(c), -1)',
    '[a, b]',
  ],
];

/** A linear congruential generator (Numerical Recipes): the same chains in every run. */
class Choices extends Chance {
  #names = 0;

  column(): string {
    return this.of(['a', 'b', 'c', 'd']);
  }

  name(): string {
    return `n${this.#names++}`;
  }

  /** `on_error`, and sometimes `where`. */
  cell(): object {
    const onError = this.of(['drop_row', 'blank', 'keep', 'flag', 'fail']);
    return { on_error: onError, ...(this.below(3) === 0 ? { where: this.of(CONDITIONS) } : {}) };
  }
}

function cellOperation(chance: Choices): object {
  const columns = chance.column();
  const into = chance.name();
  return chance.of(
    [
      {
        op: 'text',
        columns: chance.of([columns, '*']),
        steps: [chance.of(['trim', 'upper', 'title', 'nfc', 'digits_only'])],
      },
      { op: 'replace', columns, find: chance.of(['x', 'a', '.']), replace: chance.of(['', 'é']) },
      {
        op: 'replace',
        columns,
        mode: 'regex',
        find: chance.of(['[0-9]+', '(.)(.)', '(a|ab)(c|b)*', 'x*']),
        replace: '#$0',
      },
      { op: 'parse_number', columns, into, decimal: chance.of([',', '.']), scale: 1, rounding: 'half_up' },
      { op: 'parse_date', columns, into, formats: ['dd.MM.yyyy', 'yyyy-MM-dd'] },
      { op: 'set', columns: { [into]: chance.of(EXPRESSIONS) } },
      { op: 'fill_empty', columns, ...chance.of([{ value: 'f' }, { from: ['a', 'b'] }, { expr: 'upper(b)' }]) },
      { op: 'blank_if', columns: '*', values: ['x', 'NULL'] },
      { op: 'map_values', columns, map: { x: 'mapped', 12: '13' }, default: chance.of(['keep', 'blank', 'error']) },
      {
        op: 'split_column',
        column: columns,
        by: { separator: ' ' },
        into: [into, chance.name()],
        too_few: chance.of(['flag', 'fail']),
        keep_source: true,
      },
      { op: 'extract', column: columns, pattern: '([a-z]+)|([0-9]+)', into: { 1: into }, on_no_match: 'error' },
      { op: 'mask', columns, keep_last: 2 },
    ].map((operation) => ({ ...operation, ...chance.cell() })),
  );
}

function rowOperation(chance: Choices): object {
  const by = [...new Set([chance.column(), chance.column()])];
  return chance.of([
    { op: 'filter', where: chance.of(CONDITIONS), mode: chance.of(['keep', 'drop']), on_error: 'flag' },
    { op: 'drop_blank_rows', columns: by },
    { op: 'slice', skip: chance.below(3), skip_last: chance.below(3), limit: chance.below(30) },
    { op: 'stop_when', where: chance.of(['a == "NULL"', 'run.row > 25']), include: true },
    { op: 'dedupe', by, keep: chance.of(['first', 'last', 'none']), match: chance.of(['exact', 'normal', 'loose']) },
    {
      op: 'sort',
      by: by.map((column) => ({ column, order: chance.of(['asc', 'desc']), compare: chance.of(['typed', 'natural']) })),
    },
    { op: 'top', n: 1 + chance.below(5), by },
    { op: 'fill_down', columns: by[0] },
    { op: 'blank_down', columns: by },
    {
      op: 'validate',
      rules: [{ column: by[0], check: chance.of(['required', 'digits', 'unique', 'increasing']) }],
      on_error: 'flag',
    },
  ]);
}

const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

test('chains of operations do not see batches', async (t) => {
  const chance = new Choices(seed);
  let succeeded = 0;
  for (let chain = 0; chain < CHAINS; chain++) {
    const operations = Array.from({ length: 1 + chance.below(4) }, () =>
      chance.below(3) === 0 ? rowOperation(chance) : cellOperation(chance),
    );
    const template = { input: { csv: { header_row: 0, delimiter: ',' } }, operations };
    const rows = Array.from({ length: 1 + chance.below(40) }, () =>
      [1, 2, 3, 4].map(() => quoted(chance.of(CELLS))).join(','),
    );
    const answers = new Set<string>();
    for (const batchRows of BATCH_ROWS) {
      const { text, outcome } = await applyTemplate(template, `a,b,c,d\n${rows.join('\n')}\n`, batchRows);
      if (text !== null) succeeded++;
      answers.add(JSON.stringify([text, outcome.failure, outcome.report, outcome.rowsWritten]));
    }
    if (answers.size > 1) t.fail(`chain ${chain} differs`, { operations, rows });
  }
  t.ok(succeeded > CHAINS, 'most chains come to an output');
});
