// The operation `split_column`: splits one text into several columns.

import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { type CellEdit, startCellOperator } from '../execution/cells/cell-operator.ts';
import { type MatchedColumns, matchedEdits } from '../execution/cells/pattern-matcher.ts';
import { pausing, placeText } from '../execution/cells/text-chain.ts';
import {
  cut,
  limited,
  merged,
  partsOfWidths,
  patternParts,
  type Span,
  separatedParts,
} from '../execution/cells/text-parts.ts';
import { CellFault, FLAGGED, UNFINISHED, valueEdit } from '../execution/cells/value-cells.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { compileRegularExpression, type RegularExpression } from '../expression/patterns/regular-expression.ts';
import { columnName, PARAMETER_LENGTH_MAX } from '../template/base-parameters.ts';
import { defineOperation, type OperatorContext } from '../template/operation.ts';
import type { ColumnPosition, Scope } from '../template/scope.ts';
import { done, PIECE_UNITS, trimWhiteSpace } from '../values/text-edits.ts';

/** Maximum number of new columns of one operation. */
const PARTS_MAX = 1000;

const parameters = Type.Object({
  column: columnName,
  by: Type.Union(
    [
      Type.Object(
        { separator: Type.String({ minLength: 1, maxLength: PARAMETER_LENGTH_MAX }) },
        { additionalProperties: false },
      ),
      Type.Object({ pattern: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
      Type.Object(
        { widths: Type.Array(Type.Integer({ minimum: 1, maximum: 100_000 }), { minItems: 1, maxItems: PARTS_MAX }) },
        { additionalProperties: false },
      ),
    ],
    { description: '`{separator: "-"}`, `{pattern: "[,;] *"}` (RE2) or `{widths: [3, 2]}` in characters.' },
  ),
  into: Type.Array(Type.Union([Type.String({ minLength: 1 }), Type.Null()]), {
    minItems: 1,
    maxItems: PARTS_MAX,
    description: 'Names of the new columns, in the order of the parts; `null` drops a part.',
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PARTS_MAX,
      description: 'Maximum number of parts; the last one contains the rest.',
    }),
  ),
  from_end: Type.Optional(Type.Boolean({ default: false, description: 'Counts parts and the limit from the end.' })),
  too_few: Type.Optional(
    Type.Enum(['blank', 'fail', 'flag'], {
      default: 'blank',
      description:
        'Fewer parts than columns: null in the other columns (`blank`), null and SPLIT_COUNT in the flag column (`flag`), or the error SPLIT_COUNT (`fail`), which is handled by `on_error`.',
    }),
  ),
  too_many: Type.Optional(
    Type.Enum(['merge_last', 'drop', 'fail'], {
      default: 'merge_last',
      description:
        'More parts than columns: the last column keeps the rest as written, the rest is dropped, or SPLIT_COUNT.',
    }),
  ),
  trim: Type.Optional(Type.Boolean({ default: true, description: 'Removes white space around the parts.' })),
  keep_source: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Keeps the source column, and adds the new columns at the end. By default, they replace the source column, including its cells in rows that `where` excludes.',
    }),
  ),
});

type Parameters = Static<typeof parameters>;

export const splitColumn = defineOperation({
  name: 'split_column',
  purpose:
    'splits a text by `separator`, `pattern` or `widths`; `too_few` and `too_many` handle other numbers of parts; `null` in `into` drops a part',
  summary: 'Splits a text into parts, which become columns at its position.',
  knownAs: [
    { names: 'split separate str_split text_to_columns', form: 'column: ..., by: {separator: ","}, into: [...]' },
  ],
  parametersKnownAs: {
    separator: 'Write by: {separator: ...}.',
    delimiter: 'Write by: {separator: ...}.',
    pattern: 'Write by: {pattern: ...}.',
    widths: 'Write by: {widths: [...]}.',
  },
  parameters,
  cells: true,
  memory: 'R',
  flags: ({ too_few }: Parameters) => too_few === 'flag',
  examples: [
    {
      title: 'By a separator',
      operation: { op: 'split_column', column: 'name', by: { separator: ',' }, into: ['last', 'first'] },
      input: {
        columns: ['id', 'name', 'x'],
        rows: [
          ['1', 'Lovelace, Ada', 'a'],
          ['2', 'Cher', 'b'],
          ['3', 'a,b,c', 'c'],
          ['4', null, 'd'],
        ],
      },
      output: {
        columns: ['id', 'last', 'first', 'x'],
        rows: [
          ['1', 'Lovelace', 'Ada', 'a'],
          ['2', 'Cher', null, 'b'],
          ['3', 'a', 'b,c', 'c'],
          ['4', null, null, 'd'],
        ],
      },
    },
    {
      title: 'From the end',
      operation: {
        op: 'split_column',
        column: 'path',
        by: { separator: '/' },
        into: ['folder', 'file'],
        from_end: true,
        keep_source: true,
      },
      input: { columns: ['path'], rows: [['a/b/c'], ['c']] },
      output: {
        columns: ['path', 'folder', 'file'],
        rows: [
          ['a/b/c', 'a/b', 'c'],
          ['c', null, 'c'],
        ],
      },
    },
    {
      title: 'By widths and by a pattern',
      operation: { op: 'split_column', column: 'code', by: { widths: [2, 3] }, into: ['country', 'number'] },
      input: { columns: ['code'], rows: [['DE123'], ['ÖX9']] },
      output: {
        columns: ['country', 'number'],
        rows: [
          ['DE', '123'],
          ['ÖX', '9'],
        ],
      },
    },
    {
      title: 'Drop some of the parts',
      operation: { op: 'split_column', column: 'path', by: { separator: '/' }, into: [null, 'year', null, 'file'] },
      input: { columns: ['path'], rows: [['in/2024/05/a.csv'], ['in/2023'], [null]] },
      output: {
        columns: ['year', 'file'],
        rows: [
          ['2024', 'a.csv'],
          ['2023', null],
          [null, null],
        ],
      },
    },
  ],
  effect: planSplit,
  edits: (plan) => (plan === null ? [] : plan.made.map(({ target }) => target.id)),
  start(plan, context) {
    if (plan === null) return { push: context.next };
    const { source, made, spans, given } = plan;
    const reader = new CellReader('text', context.indexOf(source));
    const spansOf = onceForEachText(spans);
    // A wrong number of parts is one error per row, reported with its first column.
    const partInSlices = function* (text: string, index: number): Generator<undefined, unknown, undefined> {
      return part(text, { place: made[index]!.place, tells: index === 0 }, yield* spansOf(text), given);
    };
    const partAt = (text: string, index: number): unknown => done(partInSlices(text, index));
    const singly = (index: number): CellEdit =>
      valueEdit(context, {
        type: 'text',
        bind: (batch) => reader.bind(batch),
        compute(row) {
          const text = reader.text(row);
          if (text === null) return null;
          return text.length > PIECE_UNITS ? UNFINISHED : partAt(text, index);
        },
        finish: (row) => pausing(partInSlices(reader.text(row)!, index), context.clock),
      });
    const run = kernelCallOf(plan, context);
    const edits =
      run === null
        ? made.map((_, index) => singly(index))
        : matchedEdits(context, {
            groups: [],
            finds: 'all',
            column: context.indexOf(source),
            made: given.into.length,
            wanted: made.map(({ place }) => place),
            trims: given.trim ?? true,
            single: partAt,
            singleInSlices: (text, index) => (text.length > PIECE_UNITS ? partInSlices(text, index) : null),
            singly,
            ...run,
          });
    const sourceOf = (target: Column): Column | null => (target.id === source.id ? source : null);
    const targets = made.map(({ target }) => ({ source: sourceOf(target), target, told: source }));
    return startCellOperator(context, targets, edits);
  },
});

/**
 * Returns null for a text that is too long for the pattern. Yields `undefined` wherever the caller may pause in a long
 * text.
 */
type SpansOf = (text: string) => Generator<undefined, Span[] | null, undefined>;

interface SplitPlan {
  readonly source: Column;
  /** The new columns, each with the index of its part. */
  readonly made: readonly { readonly target: Column; readonly place: number }[];
  readonly spans: SpansOf;
  readonly pattern: RegularExpression | null;
  readonly given: Parameters;
}

function planSplit(given: Parameters, scope: Scope): SplitPlan | null {
  const source = scope.read(given.column, '/column');
  const cut = cutOf(given, scope);
  if (source === null || cut === null) return null;
  if (source.type !== 'text') {
    scope.problem('/column', 'WRONG_TYPE', `The column is ${source.type} at this step; this operation takes text.`);
    return null;
  }
  if (given.into.every((name) => name === null)) {
    scope.problem('/into', 'BAD_VALUE', 'All parts are dropped. Name a column for at least one of them.');
    return null;
  }
  const same = given.into.indexOf(source.name);
  // The new columns replace the source if it is removed. Otherwise they go to the end.
  const stays = given.keep_source === true && same < 0;
  const made: { target: Column; place: number }[] = [];
  for (const [place, name] of given.into.entries()) {
    if (name === null) continue;
    const after = same >= 0 && place > same && { column: made.at(-1)!.target, side: 'after' as const };
    const position: ColumnPosition = after || { column: source, side: 'before' };
    const target = place === same ? source : scope.add(name, 'text', `/into/${place}`, stays ? undefined : position);
    made.push({ target, place });
  }
  if (!stays && same < 0) scope.remove(source);
  return { source, made, ...cut, given };
}

/**
 * Returns the kernel call that splits the cells, or null if parts are counted from the end, or if their number may be
 * an error.
 */
function kernelCallOf(
  { pattern, given }: SplitPlan,
  { kernel, arena }: OperatorContext,
): Pick<MatchedColumns, 'pattern' | 'run'> | null {
  const { by, limit, from_end: fromEnd, too_few: tooFew = 'blank', too_many: tooMany = 'merge_last' } = given;
  if (fromEnd === true || tooFew !== 'blank' || tooMany === 'fail') return null;
  const parts = given.into.length;
  // Index of the part that contains the rest. A rest after the last column is unused.
  const last = Math.min(limit ?? Number.POSITIVE_INFINITY, tooMany === 'merge_last' ? parts : PARTS_MAX + 1) - 1;
  if ('separator' in by && Buffer.byteLength(by.separator) <= SEPARATOR_BYTES_MAX) {
    const { at, bytes } = placeText(arena.heap, by.separator);
    const run: MatchedColumns['run'] = (_matcher, { views, rows, count, found, stride }) => {
      kernel.exports.splitCells(views, rows, count, at, bytes, parts, last, found, stride);
      return count;
    };
    return { pattern: null, run };
  }
  if (pattern === null) return null;
  const { splitCaptures } = kernel.exports;
  return {
    pattern,
    run: (matcher, { views, rows, count, found, stride, todo }, from) =>
      splitCaptures(views, rows, count, from, matcher!.machine, parts, last, found, stride, todo),
  };
}

/** Maximum length of a separator for the kernel. Its search time grows with both lengths. */
const SEPARATOR_BYTES_MAX = 32;

/** Splits each text only once, although all columns request its parts: it may have 4 MiB. */
function onceForEachText(spans: SpansOf): SpansOf {
  let last: { readonly text: string; readonly spans: Span[] | null } | null = null;
  return function* (text) {
    if (last?.text !== text) last = { text, spans: yield* spans(text) };
    return last.spans;
  };
}

/** Returns the part at `place`. If `tells` is true, also reports an error of the text. */
function part(
  text: string,
  { place, tells }: { place: number; tells: boolean },
  all: Span[] | null,
  given: Parameters,
): unknown {
  const { into, too_few: tooFew = 'blank', too_many: tooMany = 'merge_last', trim = true } = given;
  if (all === null) return tells ? new CellFault('TOO_LONG') : null;
  const found = limited(all, given);
  const wanted = into.length;
  const isWrong = (found.length < wanted && tooFew === 'fail') || (found.length > wanted && tooMany === 'fail');
  if (isWrong) return tells ? new CellFault('SPLIT_COUNT') : null;
  const fitted = tooMany === 'merge_last' ? merged(found, wanted, given) : cut(found, wanted, given);
  const at = given.from_end === true ? place - (wanted - fitted.length) : place;
  const span = fitted[at];
  const made = span === undefined ? '' : text.slice(span[0], span[1]);
  const cell = (trim ? trimWhiteSpace(made) : made) || null;
  const isFlagged = tells && found.length < wanted && tooFew === 'flag';
  return isFlagged ? new CellFault('SPLIT_COUNT', { value: cell, rule: FLAGGED }) : cell;
}

/** A text of 4 MiB takes about 50 ms. */
function widthsOf(widths: readonly number[]): SpansOf {
  // biome-ignore lint/correctness/useYield: it has no pauses
  return function* (text) {
    return partsOfWidths(text, widths);
  };
}

function cutOf(given: Parameters, scope: Scope): Pick<SplitPlan, 'spans' | 'pattern'> | null {
  const { by, into, limit = 0, from_end: fromEnd = false } = given;
  const wanted = { most: Math.max(into.length, limit), fromEnd };
  if ('separator' in by) return { spans: (text) => separatedParts(text, by.separator, wanted), pattern: null };
  if ('widths' in by) return { spans: widthsOf(by.widths), pattern: null };
  const pattern = compileRegularExpression(by.pattern);
  if (!('problem' in pattern)) return { spans: (text) => patternParts(text, pattern, wanted), pattern };
  scope.problem('/by/pattern', 'BAD_PATTERN', pattern.problem);
  return null;
}
