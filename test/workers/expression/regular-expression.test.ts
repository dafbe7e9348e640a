// Compares the native path of regular expressions with re2js.

import { test } from 'tap';
import {
  compileRegularExpression,
  type RegularExpression,
} from '../../../workers/expression/patterns/regular-expression.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

function compile(source: string, engine?: 're2'): RegularExpression {
  const compiled = compileRegularExpression(source, engine);
  if ('problem' in compiled) throw new Error(compiled.problem);
  return compiled;
}

const atoms = fc.constantFrom(
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '\\d',
  '\\w',
  '\\s',
  '\\D',
  '[a-c0-2]',
  'é',
  '😀',
  '\\.',
  '-',
  '[\\d.]',
  '[^\\s]',
);
const quantifiers = fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{1,3}', '{2,}');
const pieces = fc.tuple(atoms, quantifiers).map(([atom, quantifier]) => atom + quantifier);
const groups = fc
  .tuple(
    fc.constantFrom('(', '(?:'),
    fc.array(fc.array(atoms, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  )
  .map(([opening, choices]) => `${opening}${choices.map((choice) => choice.join('')).join('|')})`);
const sequences = fc
  .tuple(
    fc.constantFrom('(', '(?:', '(?P<name>'),
    fc.array(fc.oneof(pieces, pieces, groups), { minLength: 1, maxLength: 3 }),
  )
  .map(([opening, parts]) => `${opening}${parts.join('')})`);
const patterns = fc
  .tuple(
    fc.constantFrom('', '^'),
    fc.array(fc.oneof(pieces, pieces, groups), { maxLength: 3 }),
    fc.oneof(fc.constant(''), sequences),
    fc.array(fc.oneof(pieces, pieces, groups), { maxLength: 2 }),
    fc.constantFrom('', '$'),
  )
  .map(([start, before, sequence, after, end]) => start + before.join('') + sequence + after.join('') + end);
const texts = fc
  .array(fc.constantFrom('a', 'b', 'c', '0', '1', '.', '-', ' ', '\n', '\r', '\u2028', 'é', '😀', 'x', 'ab'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

test('both engines find the same matches', async (t) => {
  let native = 0;
  fc.assert(
    fc.property(patterns, fc.array(texts, { minLength: 4, maxLength: 4 }), (source, inputs) => {
      const chosen = compile(source);
      if (chosen.engineName !== 'native') return true;
      native++;
      const reference = compile(source, 're2');
      return inputs.every(
        (text) =>
          chosen.test(text) === reference.test(text) &&
          JSON.stringify(chosen.first(text)) === JSON.stringify(reference.first(text)) &&
          JSON.stringify([...chosen.all(text)]) === JSON.stringify([...reference.all(text)]),
      );
    }),
    { numRuns: sweep({ short: 190, long: 3000 }) },
  );
  t.ok(native > sweep({ short: 37, long: 600 }), `${native} patterns ran on the native engine`);
});

test('patterns that skip re2js are valid for it, with as many groups', async (t) => {
  const unit = fc.constantFrom(...'^$.|()[]\\*+?-:,_ !ab09dDwWsSntfrzZA~`@/', '\\d', '[a-c]', '(a', 'b)', ')', '[^');
  let native = 0;
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 10 }), (source) => {
      const chosen = compileRegularExpression(source);
      if ('problem' in chosen || chosen.engineName !== 'native') return true;
      native++;
      const { groupCount, groupNames } = compile(source, 're2');
      return chosen.groupCount === groupCount && chosen.groupNames.size === 0 && groupNames.size === 0;
    }),
    { numRuns: sweep({ short: 1_250, long: 20_000 }) },
  );
  t.ok(native > sweep({ short: 37, long: 600 }), `${native} patterns ran on the native engine`);
  for (let code = 0; code < 128; code++) {
    for (const source of [
      `\\${String.fromCharCode(code)}`,
      `[\\${String.fromCharCode(code)}]`,
      `[${String.fromCharCode(code)}-~]`,
    ]) {
      const [chosen, reference] = [compileRegularExpression(source), compileRegularExpression(source, 're2')];
      t.equal('problem' in chosen, 'problem' in reference, JSON.stringify(source));
    }
  }
});

test('the engine is native only where it is provably linear', async (t) => {
  const engines: readonly (readonly [string, 'native' | 're2'])[] = [
    ['^[A-Z]{2}[0-9]+$', 'native'],
    ['INV-[0-9]+', 'native'],
    ['paid|open|sent', 'native'],
    ['^\\d+[.,]\\d*$', 'native'],
    ['^SKU-(\\d+)-(\\d+)$', 'native'],
    ['^(?:a*)(?P<digits>[0-9]+)$', 'native'],
    ['(?:a*)b', 're2'],
    ['^(a+|b)$', 're2'],
    ['a+$', 're2'],
    ['a+b', 're2'],
    ['^a+a', 're2'],
    ['^a*b?a*$', 're2'],
    ['(a+)+', 're2'],
    ['^(a|b)*$', 're2'],
    ['a{0,9}a{0,9}a{0,9}b', 're2'],
    ['(?i)abc', 're2'],
    ['\\bword\\b', 're2'],
    ['\\pL', 're2'],
    ['a*?', 're2'],
    ['[[:alpha:]]', 're2'],
  ];
  for (const [source, engine] of engines) t.equal(compile(source).engineName, engine, source);
});

test('native patterns stay linear on texts made against them', async (t) => {
  const long = 'a'.repeat(300_000);
  fc.assert(
    fc.property(patterns, (source) => {
      const compiled = compile(source);
      if (compiled.engineName !== 'native') return true;
      // A quadratic search of this text takes minutes, so that the test run ends by its timeout.
      compiled.test(`${long}\n`);
      compiled.test('ab'.repeat(100_000));
      return true;
    }),
    { numRuns: sweep({ short: 13, long: 200 }) },
  );
  t.pass('all of them ended');
});
