// The operation `extract`: copies the parts of a text that match groups of a pattern into columns.

import type { Column } from '../batch/schema.ts';
import { Type } from '../bundled/type-box.ts';
import { type CellEdit, type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { foundEdit, matchedEdits } from '../execution/cells/pattern-matcher.ts';
import { pausing } from '../execution/cells/text-chain.ts';
import { CellFault, UNFINISHED, valueEdit } from '../execution/cells/value-cells.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { firstInSlices, isLongFind } from '../expression/patterns/long-find.ts';
import {
  canSearch,
  compileRegularExpression,
  type PatternMatch,
  type RegularExpression,
} from '../expression/patterns/regular-expression.ts';
import { columnName } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';
import { pointerSegment } from '../template/source-node.ts';

/** Maximum number of new columns of one operation. */
const GROUPS_MAX = 100;

interface Plan {
  readonly source: Column;
  readonly pattern: RegularExpression;
  readonly targets: readonly CellTarget[];
  /** For each target, its group. */
  readonly groups: readonly number[];
  readonly missIsError: boolean;
}

export const extract = defineOperation({
  name: 'extract',
  purpose: "writes the groups of a pattern's first match to columns",
  summary:
    "Writes the groups of a pattern's first match to columns. A group that does not take part in the match is null.",
  knownAs: [
    {
      names: 'capture regex_extract regexp_extract str_extract parse_regex grok',
      form: "column: ..., pattern: '...', into: {1: ..., 2: ...}",
    },
  ],
  parameters: Type.Object({
    column: columnName,
    pattern: Type.String({
      minLength: 1,
      description: 'RE2 pattern that is searched in the text; `(?P<name>...)` or `(?<name>...)` names a group.',
    }),
    into: Type.Record(anyKey, Type.String({ minLength: 1 }), {
      minProperties: 1,
      maxProperties: GROUPS_MAX,
      description:
        '`{group: column}`: name or number of a group (`0` is the whole match), and a new column for it, or `column` itself.',
    }),
    on_no_match: Type.Optional(
      Type.Enum(['blank', 'error'], {
        default: 'blank',
        description: 'Texts without a match: `blank` gives nulls, `error` is NO_MATCH.',
      }),
    ),
  }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Named groups',
      operation: {
        op: 'extract',
        column: 'text',
        pattern: 'Invoice (?P<no>[0-9]+)(?: of (?P<day>[0-9-]+))?',
        into: { no: 'invoice', day: 'date' },
      },
      input: { columns: ['text'], rows: [['Invoice 17 of 2026-01-31'], ['for Invoice 18'], ['none'], [null]] },
      output: {
        columns: ['text', 'invoice', 'date'],
        rows: [
          ['Invoice 17 of 2026-01-31', '17', '2026-01-31'],
          ['for Invoice 18', '18', null],
          ['none', null, null],
          [null, null, null],
        ],
      },
    },
    {
      title: 'Groups by number, in place',
      operation: { op: 'extract', column: 'size', pattern: '([0-9]+) *(kg|g)', into: { 1: 'size', 2: 'unit' } },
      input: { columns: ['size', 'x'], rows: [['ca. 12 kg', 'a']] },
      output: { columns: ['size', 'x', 'unit'], rows: [['12', 'a', 'kg']] },
    },
  ],
  effect(given, scope): Plan | null {
    const source = scope.read(given.column, '/column');
    const pattern = compileRegularExpression(given.pattern);
    if ('problem' in pattern) scope.problem('/pattern', 'BAD_PATTERN', pattern.problem);
    if (source === null || 'problem' in pattern) return null;
    if (source.type !== 'text') {
      const message = `The column is ${source.type} at this step; this operation takes text.`;
      scope.problem('/column', 'WRONG_TYPE', message);
      return null;
    }
    const groups = Object.keys(given.into).map((name) => groupOf(name, pattern, scope));
    const targets = Object.entries(given.into).map(([group, name]) => ({
      source: name === source.name ? source : null,
      told: source,
      target: name === source.name ? source : scope.add(name, 'text', `/into/${pointerSegment(group)}`),
    }));
    return { source, pattern, targets, groups, missIsError: given.on_no_match === 'error' };
  },
  edits: (plan) => editedIds(plan?.targets ?? []),
  start(plan, context) {
    if (plan === null) return { push: context.next };
    const { source, pattern, targets, groups, missIsError } = plan;
    const column = context.indexOf(source);
    const reader = new CellReader('text', column);
    // Reports one error per row, however many columns lack a match.
    const missOf = (index: number): CellFault | null => (missIsError && index === 0 ? new CellFault('NO_MATCH') : null);
    const cellOf = (found: PatternMatch['groups'] | null, index: number): unknown =>
      found === null ? missOf(index) : found[groups[index]!] || null;
    const single = (text: string, index: number): unknown =>
      canSearch(pattern, text) ? cellOf(pattern.first(text)?.groups ?? null, index) : new CellFault('TOO_LONG');
    const isLong = (text: string): boolean => isLongFind(pattern, text) && canSearch(pattern, text);
    const long = function* (text: string, index: number): Generator<undefined, unknown, undefined> {
      return cellOf(yield* firstInSlices(pattern, text), index);
    };
    const singly = (index: number): CellEdit =>
      valueEdit(context, {
        type: 'text',
        bind: (batch) => reader.bind(batch),
        compute(row) {
          const text = reader.text(row);
          if (text === null) return null;
          return isLong(text) ? UNFINISHED : single(text, index);
        },
        finish: (row) => pausing(long(reader.text(row)!, index), context.clock),
      });
    const matched = matchedEdits(context, {
      pattern,
      groups,
      finds: 'group',
      column,
      made: groups.length,
      wanted: null,
      trims: false,
      run: (matcher, { views, rows, count, found, stride, todo }, from) =>
        context.kernel.exports.findCaptures(
          ...([views, rows, count, from, matcher!.machine, matcher!.wanted, groups.length, 0] as const),
          ...([missIsError ? 1 : 0, found, stride, todo] as const),
        ),
      single,
      singleInSlices: (text, index) => (isLong(text) ? long(text, index) : null),
      singly,
    });
    const { greedy } = pattern;
    const edits = matched.map((edit, index) => {
      const wanted = greedy && { pattern: greedy, group: groups[index]!, column, missIsError: missOf(index) !== null };
      return (wanted && foundEdit(context, wanted, (text) => single(text, index))) ?? edit;
    });
    return startCellOperator(context, targets, edits);
  },
});

function groupOf(name: string, pattern: RegularExpression, scope: Scope): number {
  const named = pattern.groupNames.get(name);
  if (named !== undefined) return named;
  const number = /^[0-9]{1,4}$/.test(name) ? Number(name) : -1;
  if (number >= 0 && number <= pattern.groupCount) return number;
  const known = [...pattern.groupNames.keys(), ...Array.from({ length: pattern.groupCount + 1 }, (_, index) => index)];
  const message = `The pattern has no group ${JSON.stringify(name)}. It has ${known.join(', ')}.`;
  scope.problem(`/into/${pointerSegment(name)}`, 'UNKNOWN_GROUP', message);
  return 0;
}
