// The kernels over text cells against scalar reference implementations on strings: for any texts, next to any other texts, in
// arenas of any size.

import { test } from 'tap';
import * as replaceSteps from '../../../workers/execution/cells/replace-steps.ts';
import { runTextChain, type TextStep } from '../../../workers/execution/cells/text-chain.ts';
import * as steps from '../../../workers/execution/cells/text-steps.ts';
import { emailStep } from '../../../workers/execution/cells/text-steps.ts';
import {
  compileRegularExpression,
  type RegularExpression,
} from '../../../workers/expression/patterns/regular-expression.ts';
import { VIEW_BYTES } from '../../../workers/kernel/layout/cells.ts';
import type { Heap } from '../../../workers/memory/heap.ts';
import { extract } from '../../../workers/operations/extract.ts';
import { redacted } from '../../../workers/operations/redact.ts';
import { removeTags } from '../../../workers/values/html.ts';
import * as edits from '../../../workers/values/text-edits.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import type { Cell } from '../operations/batch-builder.ts';
import { makeMemory, runOperation } from '../operations/harness.ts';

const SPACES = ['\t', '\n', ' ', '\u0085', '\u00a0', '\u1680', '\u2003', '\u2028', '\u202f', '\u205f', '\u3000'];
const LETTERS = [...'aZß9µÿıİǆΣσςéøŁ漢字ﬁ😀ⱥẞ', ..."'\u2019.!<>\u0301\u200b\ufeff\u0007\u009f"];

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...SPACES, ...LETTERS, 'b', 'Ab', 'aa', '-'), maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('a', 'B', ' ', "'", '.', '7', '<b>'), maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: fc.constantFrom('a', 'a@b', '@', '.', '-', '_', ' ', 'b.c', 'l'.repeat(40), 'é'), maxLength: 16 }),
);
const cells = fc.array(fc.option(text, { nil: null, freq: 6 }), { maxLength: 20 });

function pattern(source: string): RegularExpression {
  const compiled = compileRegularExpression(source);
  if ('problem' in compiled) throw new Error(compiled.problem);
  return compiled;
}

const STEPS: Readonly<Record<string, (heap: Heap) => TextStep>> = {
  trim: () => steps.trimStep(),
  collapse: () => steps.collapseStep(),
  upper: (heap) => steps.caseStep(heap, 'upper'),
  lower: (heap) => steps.caseStep(heap, 'lower'),
  fold: (heap) => steps.caseStep(heap, 'fold'),
  title: () => steps.capitaliseStep('word'),
  sentence: () => steps.capitaliseStep('sentence'),
  controls: (heap) => steps.controlStep(heap),
  digits: (heap) => steps.digitStep(heap),
  letters: (heap) => steps.letterStep(heap),
  'remove ASCII': (heap) => steps.characterStep(heap, "a'-", 'remove'),
  'remove others': (heap) => steps.characterStep(heap, 'aé😀', 'remove'),
  'keep ASCII': (heap) => steps.characterStep(heap, 'aZ9 ', 'keep'),
  'keep others': (heap) => steps.characterStep(heap, 'aß漢', 'keep'),
  around: (heap) => steps.aroundStep(heap, 'é<', '>'),
  'pad left': (heap) => steps.padStep(heap, 12, '0', 'left'),
  'pad right': (heap) => steps.padStep(heap, 9, '漢', 'right'),
  'strip accents': (heap) => steps.accentStep(heap),
  'upper case of ASCII': () => steps.asciiCaseStep('upper'),
  'lower case of ASCII': () => steps.asciiCaseStep('lower'),
  mask: (heap) => steps.maskStep(heap, { first: 2, last: 3, hiddenMin: 4, sign: '*' }),
  'mask with a wide sign': (heap) => steps.maskStep(heap, { first: 0, last: 1, hiddenMin: 1, sign: '漢' }),
  truncate: () => steps.truncateStep(5),
  accents: (heap) => steps.stringStep(heap, 'not_ascii', edits.stripAccents),
  tags: (heap) => steps.stringStep(heap, '<', removeTags),
  emails: (heap) => emailStep(heap, '[e]', (text) => redacted(text, 'email', '[e]')),
  literal: (heap) => replaceSteps.literalStep(heap, 'aa', 'b', null),
  'literal, growing': (heap) => replaceSteps.literalStep(heap, 'a', 'aa ', 2),
  'literal, long': (heap) => replaceSteps.literalStep(heap, "a B'.7a B'.7a B'.7", '', 1),
  'pattern, dropped': (heap) => replaceSteps.patternStep(heap, pattern('[^0-9A-Za-z]'), '', null),
  'pattern, runs': (heap) => replaceSteps.patternStep(heap, pattern('[ \\t]+'), '_', null),
  'pattern, groups': (heap) => replaceSteps.patternStep(heap, pattern('([aB])([7.b])'), '$2$1', 2),
  'pattern, start': (heap) => replaceSteps.patternStep(heap, pattern('^ *([A-Za-z])'), '<$1$0>', null),
  'pattern, end': (heap) => replaceSteps.patternStep(heap, pattern("[b7']{1,2}$"), '', null),
  whole: (heap) => replaceSteps.wholeCellStep(heap, [['a', 'é']], false),
};

for (const [name, make] of Object.entries(STEPS)) {
  test(`the step ${name} does as its twin`, async (t) => {
    const { heap, kernel, arena } = makeMemory({ arenaBytes: 8192 });
    const step = make(heap);
    const window = heap.allocate(65_536);
    fc.assert(
      fc.property(cells, (input) => {
        arena.clear();
        const { views, rows } = place(heap, window, input);
        const done = runTextChain([step], kernel, arena, { views, rows, count: input.length });
        if (!done) throw new Error('the arena is full');
        const expected = input.map((cell) => (cell === null ? null : step.edit(cell)));
        const made = input.map((_, row) => read(heap, views, row));
        return JSON.stringify(made) === JSON.stringify(expected);
      }),
      { numRuns: sweep({ short: 75, long: 300 }) },
    );
    t.pass(name);
  });
}

test('the case of every character is changed as its twin does, in the middle of a cell and across steps of 16 bytes', async (t) => {
  const { heap, kernel, arena } = makeMemory({ arenaBytes: 65_536 });
  const window = heap.allocate(65_536);
  // Unpaired surrogates are not characters. Only a part of the higher planes is tried: they are nearly empty.
  const isTried = (point: number): boolean =>
    (point < 0xd800 || point > 0xdfff) && (point < 0x2_0000 || point % 97 === 0);
  const points = Array.from({ length: 0x11_0000 }, (_, point) => point).filter(isTried);
  for (const to of ['upper', 'lower', 'fold'] as const) {
    const step = steps.caseStep(heap, to);
    for (let from = 0; from < points.length; from += 500) {
      const input = points.slice(from, from + 500).map((p) => `${'b'.repeat(p % 17)}${String.fromCodePoint(p)}éAé`);
      arena.clear();
      const { views, rows } = place(heap, window, input);
      const done = runTextChain([step], kernel, arena, { views, rows, count: input.length });
      const wrong = input.findIndex((cell, row) => read(heap, views, row) !== step.edit(cell));
      if (!done || wrong >= 0) t.fail(`${to} of U+${points[from + wrong]?.toString(16)}`);
    }
  }
});

test('patterns for the kernel replace as their engine does', async (t) => {
  const { heap, kernel, arena } = makeMemory();
  const window = heap.allocate(65_536);
  const set = fc.constantFrom('a', 'b', '[ab]', '[^a]', '\\d', '\\D', '[0-9b]', '.', '\\s', '\\W');
  const times = fc.constantFrom('', '', '', '+', '*', '?', '{2}', '{1,2}', '{0,3}', '{2,}');
  const item = fc.tuple(set, times).map((parts) => parts.join(''));
  const group = fc.array(
    fc.tuple(set, fc.constantFrom('', '{2}', '{1,2}')).map((parts) => parts.join('')),
    { minLength: 1, maxLength: 2 },
  );
  const piece = fc.oneof(
    { weight: 3, arbitrary: item },
    group.map((items) => `(${items.join('')})`),
    group.map((items) => `(?:${items.join('')})`),
  );
  const source = fc
    .tuple(fc.constantFrom('', '^'), fc.array(piece, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '', '$'))
    .map(([start, pieces, end]) => start + pieces.join('') + end);
  // Lengths around the steps of 16 bytes that the kernel takes.
  const unit = fc.constantFrom('a', 'a', 'b', 'b', '0', '1', ' ', '-', 'é');
  const texts = fc.array(fc.oneof(fc.string({ unit, maxLength: 14 }), fc.string({ unit, maxLength: 40 })), {
    minLength: 1,
    maxLength: 8,
  });
  const count = fc.constantFrom(null, 1, 2);
  let run = 0;
  fc.assert(
    fc.property(source, texts, fc.constantFrom('', 'x', '<$0>', '$0$0-'), count, (made, input, put, most) => {
      const compiled = pattern(made);
      if (compiled.greedy === null) return true;
      run++;
      arena.clear();
      const last = `\${${compiled.groupCount}}`;
      const step = replaceSteps.patternStep(heap, compiled, put + last, most);
      const { views, rows } = place(heap, window, input);
      if (!runTextChain([step], kernel, arena, { views, rows, count: input.length }))
        throw new Error('the arena is full');
      return JSON.stringify(input.map((_, row) => read(heap, views, row))) === JSON.stringify(input.map(step.edit));
    }),
    { numRuns: sweep({ short: 1000, long: 4000 }) },
  );
  t.ok(run > 400, 'many of the patterns are for the kernel');
});

test('extract finds what the engine finds, by the kernel and without', (t) => {
  const sources = [
    '([a-z]+)',
    '^([ab]*)([0-9]{1,2})-',
    '(?P<x>b)([0-9])([0-9]?)$',
    '([ab])|([0-9])',
    'b+?([0-9])',
    '^(a)(?:b|0)',
  ];
  const texts = fc.array(
    fc.option(fc.string({ unit: fc.constantFrom('a', 'b', '0', '1', '-', 'é'), maxLength: 30 }), {
      nil: null,
      freq: 9,
    }),
    { minLength: 1, maxLength: 20 },
  );
  const inPlace = fc.boolean();
  fc.assert(
    fc.property(fc.constantFrom(...sources), texts, fc.boolean(), inPlace, (source, cells, error, over) => {
      const compiled = pattern(source);
      const groups = Array.from({ length: compiled.groupCount + 1 }, (_, group) => group);
      const into = Object.fromEntries(groups.map((group) => [group, group === 0 && over ? 'a' : `g${group}`]));
      const operation = {
        op: 'extract',
        column: 'a',
        pattern: source,
        into,
        ...(error ? { on_no_match: 'error' } : {}),
      };
      const rows = cells.map((cell) => [cell]);
      const made = runOperation(extract, operation, { columns: ['a'], rows }, { arenaBytes: 4096, sparse: error });
      let misses = 0;
      const expected = cells.map((cell) => {
        const match = cell === null ? null : compiled.first(cell);
        if (cell !== null && match === null) misses++;
        const found = groups.map((group) => match?.groups[group] || null);
        return over ? found : [cell, ...found];
      });
      return (
        JSON.stringify(made.rows) === JSON.stringify(expected) &&
        (made.errors.NO_MATCH?.count ?? 0) === (error ? misses : 0)
      );
    }),
    { numRuns: sweep({ short: 150, long: 600 }) },
  );
  t.pass();
  t.end();
});

test('a chain does as its twins, one after the other', async (t) => {
  const { heap, kernel, arena } = makeMemory();
  const all = Object.values(STEPS).map((make) => make(heap));
  const window = heap.allocate(65_536);
  fc.assert(
    fc.property(cells, fc.array(fc.nat(all.length - 1), { maxLength: 5 }), (input, chosen) => {
      arena.clear();
      const chain = chosen.map((index) => all[index]!);
      const { views, rows } = place(heap, window, input);
      runTextChain(chain, kernel, arena, { views, rows, count: input.length });
      const expected = input.map((cell) =>
        cell === null ? null : chain.reduce((made, step) => step.edit(made), cell),
      );
      return JSON.stringify(input.map((_, row) => read(heap, views, row))) === JSON.stringify(expected);
    }),
    { numRuns: sweep({ short: 100, long: 500 }) },
  );
  t.pass();
});

test('kernels say that the arena is full instead of writing past it', async (t) => {
  const writing = ['pattern, start', 'collapse', 'upper', 'title', 'around', 'literal, growing'];
  for (const name of writing) {
    const { heap, kernel, arena } = makeMemory({ arenaBytes: 256 });
    const step = STEPS[name]!(heap);
    const window = heap.allocate(65_536);
    const guard = heap.allocate(4096);
    heap.u8.fill(0x5a, guard, guard + 4096);
    const input = Array.from({ length: 12 }, () => `a  b1 ${'a'.repeat(40)}`);
    const { views, rows } = place(heap, window, input);
    t.notOk(runTextChain([step], kernel, arena, { views, rows, count: input.length }), name);
    t.ok(heap.u8.subarray(guard, guard + 4096).every((byte) => byte === 0x5a));
  }
});

test('a cell over the maximum is reported with its length', async (t) => {
  const { heap, kernel, arena } = makeMemory({ arenaBytes: 16 * 1024 * 1024 });
  const step = replaceSteps.literalStep(heap, 'a', 'x'.repeat(1000), null);
  const window = heap.allocate(1024 * 1024);
  const { views, rows } = place(heap, window, ['a'.repeat(500_000)]);
  t.ok(runTextChain([step], kernel, arena, { views, rows, count: 1 }));
  t.ok(heap.u32[(views >>> 2) + 1]! > 4 * 1024 * 1024);
  t.ok(step.edit('a'.repeat(500_000)).length > 4 * 1024 * 1024);
});

test('white space follows Unicode', async (t) => {
  for (let point = 0; point < 0x10000; point++) {
    if (point >= 0xd800 && point < 0xe000) continue;
    const character = String.fromCharCode(point);
    const isSpace = /\p{White_Space}/u.test(character);
    if ((edits.trimWhiteSpace(character) === '') !== isSpace) t.fail(`U+${point.toString(16)}`);
  }
  const { heap, kernel, arena } = makeMemory();
  const window = heap.allocate(2 * 1024 * 1024);
  const points = Array.from({ length: 0x3100 }, (_, point) => String.fromCharCode(point));
  const { views, rows } = place(heap, window, points);
  runTextChain([steps.trimStep()], kernel, arena, { views, rows, count: points.length });
  for (const [row, character] of points.entries()) {
    const isSpace = /\p{White_Space}/u.test(character);
    if ((read(heap, views, row) === '') !== isSpace) t.fail(`kernel U+${row.toString(16)}`);
  }
});

/** Places cells next to each other, so that a kernel that reads or writes too far reaches the next cell. */
function place(heap: Heap, window: number, input: readonly Cell[]): { views: number; rows: number } {
  let at = window;
  const take = (bytes: number): number => {
    const start = Math.ceil(at / 8) * 8;
    at = start + bytes;
    return start;
  };
  const views = take(input.length * VIEW_BYTES);
  const rows = take(input.length * 4);
  for (const [row, cell] of input.entries()) {
    heap.u32[(rows >>> 2) + row] = row;
    const bytes = Buffer.from(cell ?? '', 'utf8');
    heap.u8.set(bytes, at);
    heap.u32.set([cell === null ? 0 : at, bytes.length], (views + row * VIEW_BYTES) >>> 2);
    at += bytes.length;
  }
  return { views, rows };
}

function read(heap: Heap, views: number, row: number): Cell {
  const at = (views + row * VIEW_BYTES) >>> 2;
  const start = heap.u32[at]!;
  if (start === 0) return null;
  return Buffer.from(heap.u8.subarray(start, start + heap.u32[at + 1]!)).toString('utf8');
}
