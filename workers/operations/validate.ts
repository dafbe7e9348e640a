// The operation `validate`: checks rows by rules, and decides what happens to rows that violate them. The checks are in
// execution/validate.
import { type Static, Type } from '../bundled/type-box.ts';
import { checks, ruleSchema } from '../execution/validate/checks.ts';
import { planRules, specialChecks } from '../execution/validate/plan-rules.ts';
import { startValidation } from '../execution/validate/validator.ts';
import { defineOperation } from '../template/operation.ts';

/** Maximum number of rules of one operation, because each costs time for every row. */
const RULES_MAX = 500;

const known = [...specialChecks, ...checks];

const parameters = Type.Object({
  rules: Type.Array(ruleSchema(known.map(([name]) => name)), {
    minItems: 1,
    maxItems: RULES_MAX,
    description:
      'Rules of the form `{column, check, ...}`, with the parameters of the check, and `where` (only these rows), `on_error` ' +
      "(instead of the operation's) and `message` (for a Run that ends with this rule). Every rule checks the original row. " +
      'Empty cells pass every check except `required`. After a rule drops a row, no further rules apply to it. `blank` has ' +
      `no effect for rules on whole rows. The checks: ${known.map(([name, { summary }]) => `\`${name}\`: ${summary}`).join('. ')}.`,
  }),
});

type Parameters = Static<typeof parameters>;

/** Checks whose names are also used by other operations. */
const OWN_WORDS = new Set(['expr', 'unique', 'type', 'min', 'max']);

/** Shortest form of a rule. */
function ruleForm(name: string, check: (typeof known)[number][1]): string {
  const needed = (check.needs[0] ?? []).map((one) => `${one}: ${/s$/.test(one) ? '[...]' : '...'}`);
  const column = 'column' in check && check.column !== 'needed' ? [] : ['column: ...'];
  return `{${[...column, `check: ${name}`, ...needed].join(', ')}}`;
}

const RULES_HINT = 'Write rules: [{column: ..., check: required}, ...].';

/** Checks that compare a row with all earlier rows. */
const DISTINCT_CHECKS = ['unique', 'unique_together'];

const has = (rules: Parameters['rules'], ...names: readonly string[]): boolean =>
  rules.some(({ check }) => names.includes(check));

export const validate = defineOperation({
  name: 'validate',
  purpose: 'checks rows by `rules`; each may have its own `where`, `on_error` and `message`',
  summary: 'Checks rows with rules. `on_error` determines what happens to a row that breaks a rule.',
  knownAs: [
    {
      names: 'check assert assert_that expect not_null rules',
      form: 'rules: [{column: ..., check: required}]',
    },
    ...known
      .filter(([name]) => !OWN_WORDS.has(name))
      .map(([name, check]) => ({ names: name, form: `rules: [${ruleForm(name, check)}]` })),
  ],
  parametersKnownAs: { column: RULES_HINT, columns: RULES_HINT, check: RULES_HINT, required: RULES_HINT },
  parameters,
  cells: false,
  memory: ({ rules }: Parameters) => {
    if (has(rules, ...DISTINCT_CHECKS, 'exists_in')) return 'K';
    return has(rules, 'increasing') ? 'O' : 'R';
  },
  worksInParts: ({ rules }: Parameters) => !has(rules, ...DISTINCT_CHECKS, 'increasing'),
  rejects: ({ rules }: Parameters) => rules.some(({ on_error }) => on_error === 'reject'),
  flags: ({ rules }: Parameters) => rules.some(({ on_error }) => on_error === 'flag'),
  examples: [
    {
      title: 'Rules with different `on_error`',
      operation: {
        op: 'validate',
        rules: [
          { column: 'id', check: 'required', on_error: 'drop_row' },
          { column: 'iban', check: 'iban', on_error: 'blank' },
          { column: 'status', check: 'in', values: ['paid', 'open'], match: 'case_insensitive', on_error: 'drop_row' },
          { column: 'amount', check: 'between', min: 0, max: '999.99', on_error: 'blank' },
        ],
      },
      input: {
        columns: ['id', 'iban', 'status', 'amount'],
        rows: [
          ['1', 'DE89 3704 0044 0532 0130 00', 'paid', '10.50'],
          [null, null, 'paid', '1'],
          ['3', 'DE89370400440532013001', 'Open', '1000'],
          ['4', null, 'void', '5'],
          ['5', null, null, 'n/a'],
        ],
      },
      output: {
        columns: ['id', 'iban', 'status', 'amount'],
        rows: [
          ['1', 'DE89 3704 0044 0532 0130 00', 'paid', '10.50'],
          ['3', null, 'Open', null],
          ['5', null, null, null],
        ],
      },
    },
    {
      title: 'Unique, and a condition on the row',
      operation: {
        op: 'validate',
        rules: [
          { check: 'unique_together', columns: ['no', 'line'], on_error: 'drop_row' },
          { column: 'mail', check: 'unique', match: 'case_insensitive', where: 'no != "0"', on_error: 'blank' },
          { check: 'expr', expr: 'net <= gross', message: 'Net is above gross.', on_error: 'drop_row' },
        ],
      },
      input: {
        columns: ['no', 'line', 'mail', 'net', 'gross'],
        rows: [
          ['1', '1', 'a@x.org', '1', '2'],
          ['1', '2', 'A@x.org', '2', '2'],
          ['1', '1', 'b@x.org', '1', '1'],
          ['0', '1', 'a@x.org', '1', null],
          ['2', null, null, '3', '2'],
          ['2', null, null, '1', '2'],
        ],
      },
      output: {
        columns: ['no', 'line', 'mail', 'net', 'gross'],
        rows: [
          ['1', '1', 'a@x.org', '1', '2'],
          ['1', '2', null, '2', '2'],
          ['0', '1', 'a@x.org', '1', null],
          ['2', null, null, '1', '2'],
        ],
      },
    },
    {
      title: 'Numbers that ascend from row to row',
      operation: { op: 'validate', rules: [{ column: 'no', check: 'increasing', on_error: 'drop_row' }] },
      input: { columns: ['no'], rows: [['1'], ['5'], ['4'], ['6']] },
      output: { columns: ['no'], rows: [['1'], ['5'], ['6']] },
    },
  ],
  effect: ({ rules }, scope) => planRules(rules, scope),
  edits: (rules) => rules.flatMap(({ column }) => (column === null ? [] : [column.id])),
  start: startValidation,
});
