// Results of operations that move and edit cells, for each native kind.
import { createHash } from 'node:crypto';
import { CELLS, type Entry, KEPT, none, one, TEXTS } from './entry.ts';

export const MOVING: Readonly<Record<string, readonly Entry[]>> = {
  select: [one('select', { columns: ['v'] }, KEPT)],
  drop: [one('drop', { columns: ['id'] }, KEPT)],
  rename: [one('rename', { columns: { v: 'w' } }, KEPT, 'w')],
  reorder: [one('reorder', { first: ['v'] }, KEPT)],
  copy: [one('copy', { from: 'v', to: 'w' }, KEPT, 'w')],
  set: [
    one('set', { columns: { w: 'v' } }, TEXTS, 'w'),
    one('set', { columns: { v: 'v == "x" ? null : v' } }, KEPT),
    one('set', { each: { pattern: '^v$' }, expr: 'value == "x" ? null : value' }, KEPT),
    one('set', { each: 'v', expr: 'value', into: 'w' }, TEXTS, 'w'),
    one(
      'set',
      { columns: { v: 'v + "x"' } },
      TEXTS.map((text) => `${text}x`),
    ),
  ],
  merge_columns: [
    one(
      'merge_columns',
      { columns: ['id', 'v'], into: 'w' },
      CELLS.map((cell, row) => `text:${row} ${cell![1]}`),
      'w',
    ),
  ],
  split_column: [
    one('split_column', { column: 'v', by: { separator: '|' }, into: ['w'], too_many: 'drop' }, TEXTS, 'w'),
    one('split_column', { column: 'v', by: { separator: '|' }, into: ['w', null] }, TEXTS, 'w'),
  ],
  split_pairs: [one('split_pairs', { column: 'v', into: { 13: 'w' } }, [...none.slice(0, 5), 'text:05:00', null], 'w')],
  extract: [one('extract', { column: 'v', pattern: '^(?P<w>.*)$', into: { w: 'w' } }, TEXTS, 'w')],
  text: [
    one('text', { columns: 'v', steps: ['trim', 'collapse_spaces'] }, KEPT),
    one(
      'text',
      { columns: 'v', steps: [{ prefix: '#' }] },
      CELLS.map((cell) => `text:#${cell![1]}`),
    ),
    one('text', { columns: 'v', steps: ['trim'], into: 'w' }, TEXTS, 'w'),
    one('text', { columns: 'v', steps: [{ suffix: '!' }], where: 'id == "1"' }, KEPT.with(1, 'text:1.234!')),
  ],
  replace: [
    one('replace', { columns: 'v', find: '2026', replace: '2027' }, [
      ...KEPT.slice(0, 3),
      'text:2027-01-31',
      'text:2027-01-31T13:05:00.5',
      ...KEPT.slice(5),
    ]),
  ],
  map_values: [
    one('map_values', { columns: 'v', map: { true: 'yes' } }, KEPT.with(2, 'text:yes')),
    one('map_values', { columns: 'v', map: { true: 'yes' }, default: 'blank' }, none.with(2, 'text:yes')),
  ],
  fill_empty: [
    one('fill_empty', { columns: 'v', value: 'x' }, KEPT),
    one('fill_empty', { columns: 'none', from: ['v'] }, KEPT, 'none'),
    one(
      'fill_empty',
      { columns: 'none', value: 'x' },
      CELLS.map(() => 'text:x'),
      'none',
    ),
  ],
  fill_down: [one('fill_down', { columns: 'v' }, KEPT), one('fill_down', { columns: 'none', into: 'w' }, none, 'w')],
  fill_up: [one('fill_up', { columns: 'v', into: 'w' }, KEPT, 'w')],
  blank_if: [one('blank_if', { columns: 'v', values: ['true'] }, KEPT.with(2, null))],
  blank_down: [one('blank_down', { columns: 'v', into: 'w' }, KEPT, 'w')],
  filter: [one('filter', { where: 'v != "x"' }, KEPT)],
  drop_blank_rows: [one('drop_blank_rows', {}, KEPT)],
  drop_repeated_headers: [one('drop_repeated_headers', {}, KEPT)],
  slice: [one('slice', { skip: 1 }, KEPT.slice(1)), one('slice', { skip_last: 1 }, KEPT.slice(0, 6))],
  stop_when: [one('stop_when', { where: 'v == "13:05:00"' }, KEPT.slice(0, 5))],
  dedupe: [
    one('dedupe', { by: ['v'] }, KEPT),
    one('dedupe', { by: ['v'], keep: 'last' }, KEPT),
    one('dedupe', { by: ['id'], keep: 'none' }, KEPT),
    one('dedupe', { by: ['v'], count_into: 'w' }, KEPT),
    one('dedupe', { any_of: ['v', ['id']], count_into: 'w' }, KEPT),
  ],
  sort: [
    one('sort', { by: [{ column: 'id', order: 'desc' }] }, KEPT.toReversed()),
    one('sort', { by: [{ column: 'v', compare: { order: ['x', 'true', '1.234'] } }] }, [
      ...[2, 1, 0, 5, 3, 4, 6].map((row) => KEPT[row]!),
    ]),
  ],
  top: [one('top', { n: 3, by: ['id'] }, KEPT.slice(0, 3))],
  sample: [one('sample', { n: 7, seed: 1 }, KEPT)],
  merge_rows: [
    one('merge_rows', { when: 'false', join: ['v'] }, KEPT),
    one('merge_rows', { when: 'id == "3"', join: ['none'] }, KEPT.toSpliced(3, 1)),
    one('merge_rows', { when: 'id == "3"', join: ['v'] }, KEPT.with(2, 'text:true 2026-01-31').toSpliced(3, 1)),
  ],
  explode: [
    one('explode', { column: 'v', separator: '|' }, KEPT),
    one('explode', { column: 'v', separator: '-' }, [
      ...KEPT.slice(0, 3),
      ...['text:2026', 'text:01', 'text:31', 'text:2026', 'text:01', 'text:31T13:05:00.5'],
      ...KEPT.slice(5),
    ]),
    one('explode', { column: 'v', json: true, ...{ on_error: 'keep' } }, [...KEPT.slice(0, 6), 'text:1', 'text:b']),
  ],
  unpivot: [
    one('unpivot', { columns: ['v'] }, KEPT, 'value'),
    one('unpivot', { columns: ['v'], pattern: '(v)', names_to: ['.value'] }, KEPT),
    {
      steps: [
        { op: 'cast', columns: { id: 'integer' } },
        { op: 'unpivot', columns: ['v', 'id'] },
        { op: 'filter', where: 'name == "v"' },
      ],
      column: 'value',
      gives: KEPT,
    },
  ],
  transpose: [
    {
      steps: [
        { op: 'filter', where: 'id == "0"' },
        { op: 'transpose', header_from: 'same', columns: ['s'] },
        { op: 'filter', where: 'same == "v"' },
      ],
      column: 's',
      gives: KEPT.slice(0, 1),
    },
  ],
  pivot: [
    one('pivot', { group_by: ['id'], names_from: 'same', values_from: 'v', values: ['s'] }, KEPT, 's'),
    one('pivot', { group_by: ['v'], names_from: 'same', values_from: 'id', values: ['s'] }, KEPT),
    one('pivot', { group_by: ['id'], names_from: 'same', values_from: 'v' }, KEPT, 's'),
    one(
      'pivot',
      { group_by: ['id'], names_from: 'same', values_from: 'v', values: ['s'], aggregate: 'max' },
      KEPT,
      's',
    ),
    one(
      'pivot',
      { group_by: ['id'], names_from: 'same', values_from: 'v', values: ['s'], aggregate: 'join' },
      TEXTS,
      's',
    ),
  ],
  aggregate: [
    one('aggregate', { group_by: ['v'], metrics: [{ fn: 'count' }] }, KEPT),
    one('aggregate', { group_by: ['v'], metrics: [{ fn: 'count' }], totals: { label: 'x' } }, [...KEPT, 'text:x']),
    one('aggregate', { group_by: ['id'], metrics: [{ fn: 'count' }], rest: 'first' }, KEPT),
    one('aggregate', { group_by: ['v', 'id'], metrics: [{ fn: 'count' }], totals: { label: 'x', by: 'v' } }, [
      ...KEPT.flatMap((cell) => [cell, cell]),
      'text:x',
    ]),
    ...['first', 'last', 'min', 'max'].map((fn) =>
      one('aggregate', { group_by: ['id'], metrics: [{ fn, column: 'v', as: 'w' }] }, KEPT, 'w'),
    ),
    ...['mode', 'join'].map((fn) =>
      one('aggregate', { group_by: ['id'], metrics: [{ fn, column: 'v', as: 'w' }] }, TEXTS, 'w'),
    ),
  ],
  complete: [
    {
      steps: [
        { op: 'cast', columns: { id: 'integer' } },
        { op: 'complete', column: 'id' },
      ],
      column: 'v',
      gives: KEPT,
    },
    {
      steps: [
        { op: 'cast', columns: { id: 'integer' } },
        { op: 'complete', column: 'id', group_by: ['v'], range: { to: 7 } },
        { op: 'filter', where: 'id == 7' },
        { op: 'dedupe', by: ['v'] },
        { op: 'filter', where: 'v == "true"' },
      ],
      column: 'v',
      gives: KEPT.filter((cell) => cell === 'boolean:true'),
    },
  ],
  window: [
    one('window', { columns: [{ fn: 'row_number' }] }, KEPT),
    one('window', { columns: [{ fn: 'previous', column: 'v', as: 'w' }] }, [null, ...KEPT.slice(0, 6)], 'w'),
    one('window', { columns: [{ fn: 'next', column: 'v', as: 'w' }] }, [...KEPT.slice(1), null], 'w'),
    one(
      'window',
      { columns: [{ fn: 'previous', column: 'v', offset: 3, as: 'w' }] },
      [null, null, null, ...KEPT.slice(0, 4)],
      'w',
    ),
    one('window', { partition_by: ['id'], columns: [{ fn: 'min', column: 'v', as: 'w' }] }, KEPT, 'w'),
    one(
      'window',
      { columns: [{ fn: 'max', column: 'v', frame: 'up_to_here', as: 'w', where: 'id == "2"' }] },
      [null, null, ...KEPT.slice(0, 5).fill('boolean:true')],
      'w',
    ),
    one('window', { partition_by: ['id'], columns: [{ fn: 'first', column: 'v', as: 'w' }] }, KEPT, 'w'),
    one('window', { partition_by: ['id'], columns: [{ fn: 'last', column: 'v', as: 'w' }] }, KEPT, 'w'),
  ],
  append_rows: [one('append_rows', { rows: [{ v: '9' }] }, [...KEPT, 'text:9'])],
  join: [
    {
      ...one('join', { table: 'others', on: [{ left: 'same', right: 'key' }], multiple: 'all', columns: ['w'] }, KEPT),
      tables: { others: 'key,w\ns,1\n' },
    },
    {
      ...one(
        'join',
        { table: 'others', on: [{ left: 'v', right: 'key' }], columns: ['w'] },
        none.with(1, 'text:found'),
        'w',
      ),
      tables: { others: 'key,w\n1.234,found\n' },
    },
  ],
  lookup_range: [
    {
      ...one('lookup_range', { table: 'ranges', value: 'same', from: 'low', to: 'high' }, KEPT),
      tables: { ranges: 'low,high,w\na,z,1\n' },
    },
    {
      ...one('lookup_range', { table: 'ranges', value: 'v', from: 'low', to: 'high' }, none.with(1, 'text:found'), 'w'),
      tables: { ranges: 'low,high,w\n1.234,1.234,found\n' },
    },
  ],
  validate: [
    one('validate', { rules: [{ column: 'v', check: 'required' }] }, KEPT),
    one('validate', { rules: [{ column: 'v', check: 'not_in', values: ['true'], on_error: 'blank' }] }, [
      ...KEPT.slice(0, 2),
      null,
      ...KEPT.slice(3),
    ]),
  ],
  check_totals: [one('check_totals', { checks: [{ expr: 'count()', equals: 7 }] }, KEPT)],
  expect_columns: [one('expect_columns', { columns: ['v'] }, KEPT)],
  mask: [
    one(
      'mask',
      { columns: 'v', keep_last: 1 },
      CELLS.map((cell) => `text:${masked(cell![1])}`),
    ),
  ],
  hash: [
    one(
      'hash',
      { columns: 'v', method: 'sha256_unkeyed' },
      CELLS.map((cell) => `text:${createHash('sha256').update(cell![1]).digest('hex')}`),
    ),
  ],
  redact: [one('redact', { columns: 'v', patterns: ['email'] }, KEPT)],
};

function masked(text: string): string {
  return text.length < 5 ? '*'.repeat(text.length) : '*'.repeat(text.length - 1) + text.at(-1);
}
