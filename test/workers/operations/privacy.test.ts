// Masks, digests and redactions: hidden data does not appear in the result, for any text.
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { extract } from '../../../workers/operations/extract.ts';
import { hash } from '../../../workers/operations/hash.ts';
import { mask } from '../../../workers/operations/mask.ts';
import { redact } from '../../../workers/operations/redact.ts';
import { findPersonalData } from '../../../workers/values/personal-data.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { runOperation } from './harness.ts';

test('a mask keeps the length, shows only the ends, and four characters are always hidden', async () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
      fc.nat(6),
      fc.nat(6),
      (text, keepFirst, keepLast) => {
        const operation = { op: 'mask', columns: 'c', keep_first: keepFirst, keep_last: keepLast, char: '•' };
        const made = runOperation(mask, operation, { columns: ['c'], rows: [[text]] }).rows[0]![0]!;
        const [before, after] = [Array.from(text), Array.from(made)];
        if (before.length !== after.length) return false;
        const whole = before.length < keepFirst + keepLast + 4;
        return after.every((character, at) => {
          const shown = !whole && (at < keepFirst || at >= before.length - keepLast);
          return character === (shown ? before[at] : '•');
        });
      },
    ),
    { numRuns: sweep({ short: 10, long: 100 }) },
  );
});

test('digests are those of the secret without its line end; keys are named, never written', async (t) => {
  const input = { columns: ['c'], rows: [['é'], ['x']] };
  const made = runOperation(hash, { op: 'hash', columns: 'c', key: 'demo', encoding: 'base64' }, input);
  t.same(
    made.rows.flat(),
    ['é', 'x'].map((text) => createHmac('sha256', 'pepper').update(text).digest('base64')),
  );
  t.throws(() => runOperation(hash, { op: 'hash', columns: 'c', key: 'none' }, input), { message: /no secret "none"/ });
});

test('digests of any text equal those of the runtime', async (t) => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'é', '😀'), maxLength: 300 }),
    fc.integer({ min: 50, max: 130 }).map((length) => 'x'.repeat(length)),
  );
  const given = fc.record(
    {
      key: fc.constantFrom('demo', 'long'),
      encoding: fc.constantFrom('hex' as const, 'base64' as const, 'base64url' as const),
      length: fc.integer({ min: 8, max: 64 }),
      into: fc.constant('made'),
    },
    { requiredKeys: [] },
  );
  const arenas = fc.constantFrom(512, 4096, 1_048_576);
  fc.assert(
    fc.property(
      fc.array(fc.option(text, { nil: null }), { maxLength: 20 }),
      given,
      arenas,
      (cells, parameters, arenaBytes) => {
        const { key, encoding = 'hex', length, into } = parameters;
        const operation = {
          op: 'hash',
          columns: 'c',
          ...parameters,
          ...(key === undefined && { method: 'sha256_unkeyed' }),
        };
        const rows = cells.map((cell) => [cell]);
        const made = runOperation(hash, operation, { columns: ['c'], rows }, { arenaBytes, sparse: true });
        const hasher = () =>
          key === undefined
            ? createHash('sha256')
            : createHmac('sha256', readFileSync(`test/fixtures/secrets/${key}`, 'utf8').trimEnd());
        const digests = cells.map((cell) =>
          cell === null ? null : hasher().update(cell).digest(encoding).slice(0, length),
        );
        const expected = digests.map((digest, row) => (into === undefined ? [digest] : [cells[row]!, digest]));
        if (JSON.stringify(made.rows) !== JSON.stringify(expected))
          throw new Error(JSON.stringify({ operation, cells }));
      },
    ),
    { numRuns: sweep({ short: 25, long: 2000 }) },
  );
  t.pass('all are the same');
});

test('hashes without a key, and keys that are no names, are refused before they run', async (t) => {
  const problems: string[] = [];
  const column = { id: 0, name: 'c', type: 'text' as const };
  const scope = { resolve: () => [column], problem: (_: string, code: string) => void problems.push(code) };
  hash.effect({ columns: 'c' }, scope as never);
  hash.effect({ columns: 'c', method: 'sha256_unkeyed', key: '../x' }, scope as never);
  t.same(problems, ['MISSING_PARAMETER', 'UNUSED_PARAMETER', 'BAD_VALUE']);
});

test('personal data is found among other text, and only that', async (t) => {
  const cases: [text: string, expected: string][] = [
    ['mail a.b@ex.org.', 'mail [email].'],
    ['jürgen@müller.de,x', '[email],x'],
    ['at@home', 'at@home'],
    ['IBAN DE89370400440532013000 paid', 'IBAN [iban] paid'],
    ['de89 3704 0044 0532 0130 00', '[iban]'],
    ['DE89370400440532013001', 'DE89370400440532013001'],
    ['no 4111 1111 1111 1111 12/27', 'no [card] 12/27'],
    ['4111111111111112', '4111111111111112'],
    ['call 0171/1234567 now', 'call [phone] now'],
    ['+1 (212) 555-0100', '[phone]'],
    ['01.02.2026 and 2026-01-31', '01.02.2026 and 2026-01-31'],
    ['order 1234567', 'order 1234567'],
  ];
  const operation = { op: 'redact', columns: 'c', patterns: ['phone', 'card', 'iban', 'email'] };
  const made = runOperation(redact, operation, { columns: ['c'], rows: cases.map(([text]) => [text]) });
  t.same(
    made.rows.flat(),
    cases.map(([, expected]) => expected),
  );
});

test('addresses beside characters of all kinds are found by the kernel as by the plain search', async (t) => {
  const piece = fc.constantFrom(...'ab1@@..-_+% éß漢😀', 'x@y.de', 'n'.repeat(63), '.com', '@', '\u00e4@b.c');
  const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(''));
  const arenas = fc.constantFrom(300, 4096, 1_048_576);
  fc.assert(
    fc.property(fc.array(fc.option(text, { nil: null }), { maxLength: 20 }), arenas, (cells, arenaBytes) => {
      const operation = { op: 'redact', columns: 'c', patterns: ['email'], replace: '[é]' };
      const rows = cells.map((cell) => [cell]);
      const made = runOperation(redact, operation, { columns: ['c'], rows }, { arenaBytes });
      const expected = cells.map((cell) => {
        if (cell === null) return [null];
        let [bare, from] = ['', 0];
        for (const range of findPersonalData('email', cell)) {
          if (range === null) continue;
          const [start, end] = range;
          bare += `${cell.slice(from, start)}[é]`;
          from = end;
        }
        return [bare + cell.slice(from)];
      });
      if (JSON.stringify(made.rows) !== JSON.stringify(expected))
        throw new Error(JSON.stringify({ cells, made: made.rows, expected }));
    }),
    { numRuns: sweep({ short: 75, long: 5000 }) },
  );
  t.pass('all are the same');
});

test('the search is linear in texts made to hurt it', async (t) => {
  for (const piece of ['a', 'a@', '1', '1 ', '0', '+0', 'DE89', 'a.']) {
    const text = piece.repeat(200_000 / piece.length);
    for (const kind of ['email', 'iban', 'card', 'phone'] as const) {
      const found = [...findPersonalData(kind, text)].filter((range) => range !== null);
      t.strictSame(found, [], `${kind} ${piece}`);
    }
  }
});

test('extract reports a text without a match once, and refuses groups that are not there', async (t) => {
  const input = { columns: ['c'], rows: [['a1'], ['b'], [null]] };
  const given = { op: 'extract', column: 'c', pattern: '([a-z])([0-9])', on_no_match: 'error' };
  const made = runOperation(extract, { ...given, into: { 1: 'x', 2: 'y' } }, input);
  t.same(made.errors, { NO_MATCH: { count: 1, rows: [2] } });
  t.match(runOperation(extract, { ...given, into: { 3: 'x' } }, input).problems, [/UNKNOWN_GROUP/]);
  t.match(runOperation(extract, { ...given, pattern: '(?=x)', into: { 0: 'x' } }, input).problems, [/BAD_PATTERN/]);
});
