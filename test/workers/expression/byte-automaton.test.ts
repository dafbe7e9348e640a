// The automaton of a pattern finds a match in the bytes of a text if and only if re2js finds one in the text.
import { test } from 'tap';
import {
  ByteAutomaton,
  byteProgram,
  STATE_DEAD,
  STATE_MATCHED,
  utf8Ranges,
} from '../../../workers/expression/patterns/byte-automaton.ts';
import { testInSlices } from '../../../workers/expression/patterns/long-find.ts';
import { CASED } from '../../../workers/expression/patterns/pattern-program.ts';
import { compileRegularExpression, patternProgram } from '../../../workers/expression/patterns/regular-expression.ts';
import { fc, noise } from '../../random.ts';
import { sweep } from '../../sweep.ts';

const atoms = fc.constantFrom(
  ...[
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\d',
    '\\w',
    '\\W',
    '\\s',
    '[a-ß]',
    'é',
    '😀',
    '[^é]',
    '\\pL',
    '[^\\x00-\\x{ffff}]',
  ],
  ...[
    '^',
    '$',
    '\\b',
    '\\B',
    '\\A',
    '\\z',
    '(?i:k)',
    '(?i:straße)',
    '(?i:Σ)',
    '(?s:.)',
    '(?m:^)',
    '(?m:$)',
    '[[:alpha:]]',
    'ab',
  ],
);
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    atoms,
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?'))
      .map(([a, times]) => `(${a})${times}`),
  ),
}));
const texts = fc.string({ unit: fc.constantFrom(...'ab1 _-\nkKéßẞſΣσς\u212a', '😀', '漢', 'straSSe'), maxLength: 10 });

function automatonOf(source: string): ByteAutomaton | null {
  const program = patternProgram(source);
  const bytes = program === null ? null : byteProgram(program);
  return bytes === null ? null : new ByteAutomaton(bytes);
}

function isFound(automaton: ByteAutomaton, text: string): boolean {
  let state = automaton.start;
  for (const byte of [...Buffer.from(text), -1]) {
    if (state === STATE_DEAD || state === STATE_MATCHED) break;
    const next = automaton.next(state, byte < 0 ? automaton.endClass : automaton.classes[byte]!);
    if (next === null) throw new Error('these patterns have few states');
    state = next;
  }
  return state === STATE_MATCHED;
}

test('a long text is tested in slices as re2js tests it', async (t) => {
  // The last two need more states than the maximum of an automaton.
  const sources = [
    '(a{1,30}){1,30}$',
    '[ab]*a[ab]{3}c',
    '(?i)(straße|ß|ss){1,50}q',
    '\\bé+😀$',
    '[ab]*a[ab]{14}c',
    '[ab]*a[ab]{60}$',
  ];
  const random = noise(7);
  const mixed = Array.from({ length: 20_000 }, () => 'ab'[random(2)]).join('');
  let pauses = 0;
  for (const source of sources) {
    const expression = compileRegularExpression(source);
    if ('problem' in expression) throw new Error(expression.problem);
    for (const text of [
      mixed,
      `${mixed}c`,
      `${'a'.repeat(66_000)}aa😀c`,
      `ßé 😀 éé😀`,
      `${'straSSe'.repeat(10_000)}Q`,
      '',
    ]) {
      const work = testInSlices(expression.bytes()!, text);
      let step = work.next();
      for (; !step.done; step = work.next()) pauses++;
      if (step.value !== expression.test(text)) t.fail(`${source} on ${text.slice(-20)}: ${step.value}`);
    }
  }
  t.ok(pauses > 3_000, `${pauses} pauses`);
});

test('an automaton finds the same matches as re2js', async (t) => {
  let compared = 0;
  fc.assert(
    fc.property(pattern, fc.array(texts, { minLength: 4, maxLength: 4 }), (source, inputs) => {
      const reference = compileRegularExpression(source, 're2');
      if ('problem' in reference) return;
      const automaton = automatonOf(source);
      if (automaton === null) return;
      for (const input of inputs) {
        if (isFound(automaton, input) !== reference.test(input)) throw new Error(JSON.stringify({ source, input }));
      }
      compared++;
    }),
    { numRuns: sweep({ short: 250, long: 10_000 }) },
  );
  t.ok(compared > sweep({ short: 108, long: 4_200 }), `${compared} patterns were compared`);
});

test('ranges of bytes correspond to ranges of characters', async (t) => {
  const points = fc.integer({ min: 0, max: 0x10ffff });
  const isScalar = (point: number): boolean => point < 0xd800 || point > 0xdfff;
  fc.assert(
    fc.property(points, points, fc.array(points, { minLength: 8, maxLength: 8 }), (a, b, others) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const sequences = utf8Ranges(from, to);
      for (const point of [from, to, from - 1, to + 1, ...others].filter(
        (one) => one >= 0 && one <= 0x10ffff && isScalar(one),
      )) {
        const bytes = [...Buffer.from(String.fromCodePoint(point))];
        const held = sequences.filter(
          (ranges) =>
            ranges.length === bytes.length &&
            ranges.every(([low, high], at) => bytes[at]! >= low && bytes[at]! <= high),
        );
        if (held.length !== Number(point >= from && point <= to)) throw new Error(`${from} to ${to}: ${point}`);
      }
    }),
    { numRuns: sweep({ short: 120, long: 5000 }) },
  );
  t.pass('every character is in one sequence, or in none');
});

test('a pattern with too many positions has no automaton', async (t) => {
  t.equal(automatonOf('(?:\\pL\\pN\\pP\\pS\\pM\\pZ\\pC){40}'), null);
  t.ok(automatonOf('^[a-z]+$'));
});

test('every letter that has a case is in the range in which such letters are searched', async (t) => {
  const missed: string[] = [];
  for (let point = 0; point <= 0x1ffff; point++) {
    const letter = String.fromCodePoint(point);
    if (letter.toLowerCase() === letter && letter.toUpperCase() === letter) continue;
    if (!CASED.some((from, at) => at % 2 === 0 && point >= from && point <= CASED[at + 1]!))
      missed.push(point.toString(16));
  }
  t.same(missed, []);
});
