// The operation `validate`: rules that rows must keep, and what becomes of rows that do not. The checks are in validate/.
import { type Static, Type } from '../bundled/type-box.ts';
import { checks } from '../execution/validate/checks.ts';
import { planRules, specialChecks } from '../execution/validate/plan-rules.ts';
import { ruleSchema } from '../execution/validate/rule.ts';
import { startValidation } from '../execution/validate/stages.ts';
import { defineOperation } from './operation.ts';

/** Rules of one operation: each costs time with every row. */
const RULES_MAX = 500;

const known = [...specialChecks, ...checks];

const parameters = Type.Object({
  rules: Type.Array(ruleSchema(known.map(([name]) => name)), {
    minItems: 1,
    maxItems: RULES_MAX,
    description:
      '`{column, check, ...}` each, with the parameters of its check, and `where` (only these rows), `on_error` (instead ' +
      "of the operation's) and `message` (told when the Run ends with this rule). Every rule sees the row as it came in; " +
      'empty cells pass every check but `required`; a row that is dropped meets no further rule; rules on whole rows have ' +
      `no cell to blank. The checks: ${known.map(([name, { summary }]) => `\`${name}\`: ${summary}`).join('. ')}.`,
  }),
});

type Parameters = Static<typeof parameters>;

/** Checks whose names other operations take for theirs. */
const OWN_WORDS = new Set(['expr', 'unique', 'type', 'min', 'max']);

/** A rule as it is written at least. */
function ruleForm(name: string, check: (typeof known)[number][1]): string {
  const needed = (check.needs[0] ?? []).map((one) => `${one}: ${/s$/.test(one) ? '[...]' : '...'}`);
  const column = 'column' in check && check.column !== 'needed' ? [] : ['column: ...'];
  return `{${[...column, `check: ${name}`, ...needed].join(', ')}}`;
}

const RULES_HINT = 'Write rules: [{column: ..., check: required}, ...].';

export const validate = defineOperation({
  name: 'validate',
  summary: 'Checks rows by rules; what becomes of a row that breaks one is said by `on_error`.',
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
    const has = (...names: readonly string[]) => rules.some(({ check }) => names.includes(check));
    return has('unique', 'unique_together', 'exists_in') ? 'K' : has('increasing') ? 'O' : 'R';
  },
  rejects: ({ rules }: Parameters) => rules.some(({ on_error }) => on_error === 'reject'),
  flags: ({ rules }: Parameters) => rules.some(({ on_error }) => on_error === 'flag'),
  examples: [
    {
      title: 'Rules with their own outcomes',
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
  ],
  effect: ({ rules }, scope) => planRules(rules, scope),
  edits: (rules) => rules.flatMap(({ column }) => (column === null ? [] : [column.id])),
  start: startValidation,
});
