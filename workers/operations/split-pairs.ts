// The operation `split_pairs`: texts such as `Color: red; Size: L` become columns.
import { CellReader } from '../batch/cell-values.ts';
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { type CellEdit, type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { placeText } from '../execution/cells/placed-text.ts';
import { CellFault, valueEdit } from '../execution/cells/value-cells.ts';
import { type WalkedColumns, walkedEdits } from '../execution/cells/walked-cells.ts';
import { PARAMETER_LENGTH_MAX } from '../execution/parameters/base-parameters.ts';
import { columnName } from '../execution/parameters/column-set.ts';
import * as words from '../kernel/layout/split-pairs.ts';
import { pointerSegment } from '../template/pointer.ts';
import type { Scope } from '../template/scope.ts';
import { foldCase } from '../values/text-edits.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';

/** Columns that one operation may make. */
const KEYS_MAX = 100;

const parameters = Type.Object({
  column: columnName,
  pair: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: PARAMETER_LENGTH_MAX,
      default: ';',
      description: 'What stands between two pairs.',
    }),
  ),
  key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: PARAMETER_LENGTH_MAX,
      default: ':',
      description: 'What stands between a key and its value; the first one counts.',
    }),
  ),
  into: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
    minProperties: 1,
    maxProperties: KEYS_MAX,
    description:
      '`{key: column}`: the keys that are wanted and the new columns for their values. Case and outer spaces of keys do not matter; of a key that ' +
      'comes twice the last value counts.',
  }),
  other: Type.Optional(
    Type.Enum(['ignore', 'error'], {
      default: 'ignore',
      description: 'Keys that `into` does not have, and parts that are no pair: `error` is NO_MATCH.',
    }),
  ),
});

interface Plan {
  readonly source: Column;
  readonly targets: readonly CellTarget[];
  /** Of each target. */
  readonly keys: readonly string[];
  readonly pair: string;
  readonly key: string;
  readonly otherIsError: boolean;
}

export const splitPairs = defineOperation({
  name: 'split_pairs',
  summary:
    'Puts the values of pairs in a text (`Color: red; Size: L`) into columns by their keys. The text stays; outer spaces of values go.',
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
  ],
  effect: plan,
  edits: (planned) => editedIds(planned?.targets ?? []),
  start: (planned, context) => (planned === null ? { push: context.next } : startPairs(planned, context)),
});

function startPairs(planned: Plan, context: OperatorContext): Operator {
  const reader = new CellReader('text', context.indexOf(planned.source));
  const indexes = new Map(planned.keys.map((key, index) => [key, index]));
  // A long text is asked for each of its keys in turn, and read once.
  let last: PairValues | null = null;
  const single = (text: string, index: number): string | null | CellFault => {
    const read = last?.text === text ? last : pairValues(text, planned, indexes);
    last = index === planned.keys.length - 1 ? null : read;
    // One error for a row, however many columns it has values for.
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
  const walk = walkOf(planned, context);
  const edits =
    walk === null
      ? planned.keys.map((_, index) => singly(index))
      : walkedEdits(context, {
          pattern: null,
          groups: [],
          finds: 'all',
          column: context.indexOf(planned.source),
          made: planned.keys.length,
          wanted: null,
          trims: false,
          walk,
          single,
          singly,
        });
  return startCellOperator(context, planned.targets, edits);
}

/** Longer ones are searched for in time that grows with both lengths, which the kernel does not do. */
const SEPARATOR_BYTES_MAX = 32;

/** How a kernel finds the values; null where other text may be an error, or is not for it. */
function walkOf({ pair, key, keys, otherIsError }: Plan, context: OperatorContext): WalkedColumns['walk'] | null {
  const isLong = [pair, key].some((text) => Buffer.byteLength(text) > SEPARATOR_BYTES_MAX);
  // Halves of surrogate pairs have no UTF-8 in which they could be found.
  const isOdd = [pair, key, ...keys].some((text) => Buffer.from(text).toString() !== text);
  if (otherIsError || isLong || isOdd) return null;
  const { heap } = context.arena;
  const { indexPairKeys, splitPairs } = context.kernel.exports;
  const [between, behindKey] = [placeText(heap, pair), placeText(heap, key)];
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
  put(words.COLON, behindKey.at);
  put(words.COLON_BYTES, behindKey.bytes);
  put(words.KEYS, list);
  put(words.KEY_COUNT, keys.length);
  put(words.SLOTS, slots);
  put(words.POSITION, 0);
  put(words.NEXT_PAIR, 0);
  indexPairKeys(state);
  return (_walker, { views, rows, count, found, stride, todo }) =>
    splitPairs(state, views, rows, count, found, stride, todo) === 1
      ? count
      : heap.u32[(state + words.POSITION) >>> 2]!;
}

function plan(given: Static<typeof parameters>, scope: Scope): Plan | null {
  const { column, pair = ';', key = ':', into, other = 'ignore' } = given;
  const source = scope.read(column, '/column');
  if (pair === key)
    scope.problem('/key', 'BAD_VALUE', 'Pairs and their keys end with the same text. Write another one.');
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
  return { source, targets, keys, pair, key, otherIsError: other === 'error' };
}

function keyOf(text: string): string {
  return foldCase(text.trim());
}

interface PairValues {
  readonly text: string;
  /** Of each key. */
  readonly values: readonly (string | null)[];
  /** Whether anything else stands in the text. */
  readonly hasOther: boolean;
}

function pairValues(text: string, plan: Plan, indexes: ReadonlyMap<string, number>): PairValues {
  const values: (string | null)[] = plan.keys.map(() => null);
  let hasOther = false;
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf(plan.pair, from);
    const part = text.slice(from, end < 0 ? text.length : end);
    from = end < 0 ? text.length + 1 : end + plan.pair.length;
    const at = part.indexOf(plan.key);
    const index = at < 0 ? undefined : indexes.get(keyOf(part.slice(0, at)));
    if (index !== undefined) values[index] = part.slice(at + plan.key.length).trim() || null;
    else hasOther ||= part.trim() !== '';
  }
  return { text, values, hasOther };
}
