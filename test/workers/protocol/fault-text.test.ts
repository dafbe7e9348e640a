// Descriptions of faults never contain text that the message of a foreign error quotes.
import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { faultText, safeFault } from '../../../workers/protocol/fault-text.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

/** Ways in which V8, Node and libraries put their input into an error message. */
const QUOTING: readonly ((cell: string) => unknown)[] = [
  (cell) => JSON.parse(`${cell}{`),
  (cell) => BigInt(`x${cell}`),
  (cell) => new RegExp(`${cell}(`),
  (cell) => new URL(`//${cell}`),
  (cell) => decodeURIComponent(`${cell}%`),
  (cell) => new TextDecoder(`no ${cell}`),
  (cell) => Buffer.alloc(cell as never),
  (cell) => readFileSync(`\0${cell}`),
  (cell) => ''.padEnd(1, '').repeat(-cell.length - 1),
  (cell) => (undefined as never)[`secret ${cell}`],
  (cell) => {
    throw cell;
  },
  (cell) => {
    throw { message: cell, stack: cell };
  },
  (cell) => {
    throw new (class CsvError extends Error {})(`Invalid record: ${cell}`);
  },
  (cell) => {
    throw Object.assign(new Error(`got ${cell}`), { code: 'ERR_INVALID_ARG_VALUE' });
  },
  (cell) => {
    throw Object.assign(new RangeError(cell), { code: cell });
  },
];

/** Cells, including lines that look like lines of a stack trace. */
const cells = fc
  .tuple(fc.constantFrom('', '\n    at ', 'Error: '), fc.string({ unit: 'grapheme', maxLength: 20 }))
  .map(([before, text]) => `${before}geheim${text}7f3a\n    at geheim7f3a`);

test('no fault contains a cell', async (t) => {
  let thrown = 0;
  fc.assert(
    fc.property(cells, fc.constantFrom(...QUOTING), (cell, work) => {
      try {
        work(cell);
      } catch (error) {
        thrown++;
        const { message, stack } = faultText(error);
        const again = safeFault(error);
        return ![message, stack, again.message, again.stack].join('\n').includes('geheim');
      }
      return false;
    }),
    { numRuns: sweep({ short: 63, long: 1000 }) },
  );
  t.equal(thrown, sweep({ short: 63, long: 1000 }), 'each of them throws');
});

test('the remaining text has the place and the kind of the fault', async (t) => {
  const own = faultText(new Error('a checked column is not there'));
  t.equal(own.message, 'a checked column is not there');
  t.match(own.stack, /^Error: a checked column is not there\n {4}at .*fault-text\.test/);
  const foreign = (() => {
    try {
      return JSON.parse('1,"admin":true') as never;
    } catch (error) {
      return faultText(error);
    }
  })();
  t.equal(foreign.message, 'SyntaxError');
  t.match(foreign.stack, /^SyntaxError\n {4}at JSON\.parse/);
  const system = (() => {
    try {
      return readFileSync('/nowhere/at/all') as never;
    } catch (error) {
      return faultText(error);
    }
  })();
  t.match(system.message, /^ENOENT: no such file or directory, open '\/nowhere\/at\/all'$/);
  t.equal(faultText(null).message, 'the thrown value is not an Error');
});
