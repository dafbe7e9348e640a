// The operation `split_pairs`: splits texts such as `Color: red; Size: L` into columns.

import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { type CellEdit, type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { type MatchedColumns, matchedEdits } from '../execution/cells/pattern-matcher.ts';
import { placeText } from '../execution/cells/text-chain.ts';
import { CellFault, valueEdit } from '../execution/cells/value-cells.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import * as words from '../kernel/layout/texts.ts';
import { columnName, PARAMETER_LENGTH_MAX } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';
import { pointerSegment } from '../template/source-node.ts';
import { foldCase } from '../values/text-edits.ts';

/** Maximum number of columns of one operation. */
const KEYS_MAX = 100;

const parameters = Type.Object({
  column: columnName,
  pair: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: PARAMETER_LENGTH_MAX,
      default: ';',
      description: 'Separator between two pairs.',
    }),
  ),
  key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: PARAMETER_LENGTH_MAX,
      default: ':',
      description: 'Separator between a key and its value; the first one in the pair is used.',
    }),
  ),
  quote: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1,
      description:
        'Character around values that contain separators, such as `"`. Inside, a doubled quote, or a backslash before a quote or a backslash, is one character. Without it, quotes are part of the values.',
    }),
  ),
  into: Type.Record(anyKey, Type.String({ minLength: 1 }), {
    minProperties: 1,
    maxProperties: KEYS_MAX,
    description:
      '`{key: column}`: the keys, and the new columns for their values. Case and outer spaces of keys are ignored. If a key occurs twice, the last value is used.',
  }),
  other: Type.Optional(
    Type.Enum(['ignore', 'error'], {
      default: 'ignore',
      description: 'Keys that `into` does not contain, and parts that are not pairs: `error` is NO_MATCH.',
    }),
  ),
});

interface Plan {
  readonly source: Column;
  readonly targets: readonly CellTarget[];
  /** Keys, one for each target. */
  readonly keys: readonly string[];
  readonly pair: string;
  readonly key: string;
  readonly quote: string | null;
  readonly otherIsError: boolean;
}

export const splitPairs = defineOperation({
  name: 'split_pairs',
  purpose:
    'writes the values of pairs in a text (`Color: red; Size: L`) to columns named by their keys; `quote` reads quoted values, as in logs',
  summary:
    'Writes the values of pairs in a text (`Color: red; Size: L`) to columns named by their keys. The source column is kept; outer spaces of values are removed.',
  knownAs: [
    {
      names: 'parse_pairs key_values keyvalue parse_kv kv str_to_map query_string',
      form: 'column: ..., into: {key: name}',
    },
  ],
  parameters,
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Attributes of a shop',
      operation: {
        op: 'split_pairs',
        column: 'options',
        into: { color: 'color', size: 'size' },
      },
      input: {
        columns: ['sku', 'options'],
        rows: [
          ['1', 'Color: red; Size: L; Gift: yes'],
          ['2', 'SIZE:M'],
          ['3', 'Color: ; Size: 12:30'],
          ['4', null],
        ],
      },
      output: {
        columns: ['sku', 'options', 'color', 'size'],
        rows: [
          ['1', 'Color: red; Size: L; Gift: yes', 'red', 'L'],
          ['2', 'SIZE:M', null, 'M'],
          ['3', 'Color: ; Size: 12:30', null, '12:30'],
          ['4', null, null, null],
        ],
      },
    },
    {
      title: 'Parameters of an address',
      operation: { op: 'split_pairs', column: 'query', pair: '&', key: '=', into: { utm_source: 'source' } },
      input: { columns: ['query'], rows: [['id=7&utm_source=mail'], ['id=8']] },
      output: {
        columns: ['query', 'source'],
        rows: [
          ['id=7&utm_source=mail', 'mail'],
          ['id=8', null],
        ],
      },
    },
    {
      title: 'A line of a log',
      operation: {
        op: 'split_pairs',
        column: 'line',
        pair: ' ',
        key: '=',
        quote: '"',
        into: { level: 'level', msg: 'message', ms: 'ms' },
      },
      input: { columns: ['line'], rows: [['level=info msg="user \\"Ann\\" logged in" ms=12'], ['msg="" level=warn']] },
      output: {
        columns: ['line', 'level', 'message', 'ms'],
        rows: [
          ['level=info msg="user \\"Ann\\" logged in" ms=12', 'info', 'user "Ann" logged in', '12'],
          ['msg="" level=warn', 'warn', null, null],
        ],
      },
    },
  ],
  effect: plan,
  edits: (planned) => editedIds(planned?.targets ?? []),
  start: (planned, context) => (planned === null ? { push: context.next } : startPairs(planned, context)),
});

function startPairs(planned: Plan, context: OperatorContext): Operator {
  const reader = new CellReader('text', context.indexOf(planned.source));
  const indexes = new Map(planned.keys.map((key, index) => [key, index]));
  // The columns of a text are requested one after the other, so a long text is parsed only once.
  let last: PairValues | null = null;
  const single = (text: string, index: number): string | null | CellFault => {
    const read = last?.text === text ? last : pairValues(text, planned, indexes);
    last = index === planned.keys.length - 1 ? null : read;
    // Reports one error per row, however many columns have a value.
    return index === 0 && planned.otherIsError && read.hasOther ? new CellFault('NO_MATCH') : read.values[index]!;
  };
  const singly = (index: number): CellEdit =>
    valueEdit(context, {
      type: 'text',
      bind: (batch) => reader.bind(batch),
      compute(row) {
        const text = reader.text(row);
        return text === null ? null : single(text, index);
      },
    });
  const run = kernelCallOf(planned, context);
  const edits =
    run === null
      ? planned.keys.map((_, index) => singly(index))
      : matchedEdits(context, {
          pattern: null,
          groups: [],
          finds: 'all',
          column: context.indexOf(planned.source),
          made: planned.keys.length,
          wanted: null,
          trims: false,
          run,
          single,
          singly,
        });
  return startCellOperator(context, planned.targets, edits);
}

/** Maximum length of a separator for the kernel. Its search time grows with both lengths. */
const SEPARATOR_BYTES_MAX = 32;

/**
 * Returns the kernel call that finds the values. null if other text may be an error, if values have quotes, or if the kernel does not support
 * the separators or keys.
 */
function kernelCallOf(
  { pair, key, keys, quote, otherIsError }: Plan,
  context: OperatorContext,
): MatchedColumns['run'] | null {
  const isLong = [pair, key].some((text) => Buffer.byteLength(text) > SEPARATOR_BYTES_MAX);
  // A lone surrogate has no UTF-8 form, so the kernel cannot search for it.
  const isOdd = [pair, key, ...keys].some((text) => Buffer.from(text).toString() !== text);
  if (otherIsError || quote !== null || isLong || isOdd) return null;
  const { heap } = context.arena;
  const { indexPairKeys, splitPairs } = context.kernel.exports;
  const [between, afterKey] = [placeText(heap, pair), placeText(heap, key)];
  const placed = keys.map((text) => placeText(heap, text));
  const list = heap.allocate(keys.length * 8);
  const slots = heap.allocate(words.KEY_SLOTS * 4);
  const state = heap.allocate(words.STATE_BYTES);
  heap.u32.set(
    placed.flatMap(({ at, bytes }) => [at, bytes]),
    list >>> 2,
  );
  const put = (word: number, value: number): void => {
    heap.u32[(state + word) >>> 2] = value;
  };
  put(words.PAIR, between.at);
  put(words.PAIR_BYTES, between.bytes);
  put(words.COLON, afterKey.at);
  put(words.COLON_BYTES, afterKey.bytes);
  put(words.KEYS, list);
  put(words.KEY_COUNT, keys.length);
  put(words.SLOTS, slots);
  put(words.POSITION, 0);
  put(words.NEXT_PAIR, 0);
  indexPairKeys(state);
  return (_matcher, { views, rows, count, found, stride, todo }) =>
    splitPairs(state, views, rows, count, found, stride, todo) === 1
      ? count
      : heap.u32[(state + words.POSITION) >>> 2]!;
}

function plan(given: Static<typeof parameters>, scope: Scope): Plan | null {
  const { column, pair = ';', key = ':', quote = null, into, other = 'ignore' } = given;
  const source = scope.read(column, '/column');
  if (pair === key)
    scope.problem('/key', 'BAD_VALUE', 'Pairs and their keys end with the same text. Write another one.');
  if (quote !== null && (pair.includes(quote) || key.includes(quote)))
    scope.problem('/quote', 'BAD_VALUE', 'The quote is also part of a separator. Write another quote, or none.');
  const keys = Object.keys(into).map(keyOf);
  for (const [index, name] of Object.keys(into).entries()) {
    const pointer = `/into/${pointerSegment(name)}`;
    if (keys[index] === '') scope.problem(pointer, 'BAD_VALUE', 'A key has characters other than spaces.');
    else if (keys.indexOf(keys[index]!) < index)
      scope.problem(pointer, 'BAD_VALUE', 'The key is listed twice: case and outer spaces do not matter.');
  }
  if (source === null) return null;
  if (source.type !== 'text') {
    const message = `The column is ${source.type} at this step; this operation takes text.`;
    scope.problem('/column', 'WRONG_TYPE', message);
    return null;
  }
  const targets = Object.entries(into).map(
    ([name, made]): CellTarget => ({
      source: null,
      told: source,
      target: scope.add(made, 'text', `/into/${pointerSegment(name)}`),
    }),
  );
  return { source, targets, keys, pair, key, quote, otherIsError: other === 'error' };
}

function keyOf(text: string): string {
  return foldCase(text.trim());
}

interface QuotedValue {
  readonly value: string;
  /** Position after the closing quote. */
  readonly end: number;
}

/** Returns the quoted value that begins at a position, after spaces, or null if there is none. */
function quotedValue(text: string, from: number, quote: string): QuotedValue | null {
  let at = from;
  while (text[at] === ' ') at++;
  if (text[at] !== quote) return null;
  const parts: string[] = [];
  for (let copied = ++at; at < text.length; at++) {
    const next = text[at + 1];
    const isEscape = text[at] === '\\' && (next === quote || next === '\\');
    if (isEscape || (text[at] === quote && next === quote)) {
      parts.push(text.slice(copied, at));
      copied = ++at;
    } else if (text[at] === quote) return { value: parts.join('') + text.slice(copied, at), end: at + 1 };
  }
  return null;
}

/** Returns the length of the text if it does not contain the other one. */
function indexFrom(text: string, searched: string, from: number): number {
  const at = text.indexOf(searched, from);
  return at < 0 ? text.length : at;
}

interface PairValues {
  readonly text: string;
  /** Values, one for each key. */
  readonly values: readonly (string | null)[];
  /** True if the text contains anything else. */
  readonly hasOther: boolean;
}

function pairValues(text: string, plan: Plan, indexes: ReadonlyMap<string, number>): PairValues {
  const values: (string | null)[] = plan.keys.map(() => null);
  let hasOther = false;
  let nextKey = -1;
  for (let from = 0; from <= text.length; ) {
    let end = text.indexOf(plan.pair, from);
    let quoted: QuotedValue | null = null;
    if (plan.quote !== null) {
      // Searched again only after the last key, so that a text without keys takes linear time.
      if (nextKey < from) nextKey = indexFrom(text, plan.key, from);
      const isInPair = nextKey < text.length && (end < 0 || nextKey < end);
      quoted = isInPair ? quotedValue(text, nextKey + plan.key.length, plan.quote) : null;
      if (quoted !== null) end = text.indexOf(plan.pair, quoted.end);
      if (quoted !== null && text.slice(quoted.end, end < 0 ? text.length : end).trim() !== '') quoted = null;
    }
    const part = text.slice(from, end < 0 ? text.length : end);
    from = end < 0 ? text.length + 1 : end + plan.pair.length;
    const at = part.indexOf(plan.key);
    const index = at < 0 ? undefined : indexes.get(keyOf(part.slice(0, at)));
    if (index !== undefined) values[index] = (quoted?.value ?? part.slice(at + plan.key.length).trim()) || null;
    else hasOther ||= part.trim() !== '';
  }
  return { text, values, hasOther };
}
