// From file to file: numbers are written by their value, whatever their spelling in the file. A column in which all cells already
// have the output's spelling is copied, so most cells here have that spelling, and some nearly.

import { test } from 'tap';
import { decimalText } from '../../../workers/values/decimal.ts';
import { parseNumberText } from '../../../workers/values/number-text.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { applyTemplate } from '../apply-template.ts';

const digits = fc.stringMatching(/^[1-9][0-9]{0,16}$/);
const plain = fc
  .tuple(fc.constantFrom('', '', '-'), fc.oneof(fc.constant('0'), digits), fc.stringMatching(/^[0-9]{0,5}$/))
  .map(([sign, whole, places]) => (places === '' ? sign + whole : `${sign}${whole}#${places}`))
  .filter((text) => /[1-9]/.test(text));
/** Texts that are numbers, but are written differently. */
const odd = fc.constantFrom('0#00', '-0', '-0#00', '007', '00#5', '#5', '-#5', '5#', "1'000");
const others = fc.constantFrom('', '0', '0#5', '+5', ' 5', '12#5x');
const mostly = (arbitrary: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.array(fc.oneof({ weight: 7, arbitrary: plain }, { weight: 1, arbitrary }), { minLength: 1, maxLength: 12 });
const numbers = fc.oneof(mostly(plain), mostly(odd), mostly(fc.oneof(odd, others)));

const settings = fc.record({
  decimal: fc.constantFrom('.', ','),
  outputDecimal: fc.constantFrom('.', ','),
  delimiter: fc.constantFrom(',', ';'),
  type: fc.constantFrom('decimal' as const, 'integer' as const),
  scale: fc.constantFrom(undefined, undefined, 2),
  quoting: fc.constantFrom('minimal', 'minimal', 'all', 'text'),
  guard: fc.constantFrom('auto', 'strict', 'off', 'fail'),
  quoted: fc.boolean(),
  batchRows: fc.constantFrom(1, 2, 4096),
});

test('numbers are written by their value', async (t) => {
  await fc.assert(
    fc.asyncProperty(numbers, settings, async (cells, { decimal, type, scale, delimiter, ...rest }) => {
      const texts = cells.map((cell) => cell.replace('#', decimal));
      const mayQuote = (text: string): string =>
        rest.quoted || (text.includes(delimiter) && text !== '') ? `"${text}"` : text;
      const input = `a${delimiter}n${delimiter}b\n${texts.map((text) => `x${delimiter}${mayQuote(text)}${delimiter}y\n`).join('')}`;
      const reading = {
        columns: 'n',
        decimal,
        grouping: "'",
        type,
        rounding: 'half_up',
        ...(scale === undefined ? {} : { scale }),
      };
      const template = {
        input: { csv: { delimiter } },
        operations: [{ op: 'parse_number', ...reading, on_error: 'blank' }],
        output: {
          format: 'csv',
          csv: { delimiter, quoting: rest.quoting, decimal: rest.outputDecimal },
          formula_guard: rest.guard,
        },
      };
      const { text } = await applyTemplate(template, input, rest.batchRows);
      const most = type === 'integer' ? 0 : scale;
      const isText = rest.quoting !== 'minimal';
      const quote = (cell: string, forced: boolean): string =>
        forced || cell.includes(delimiter) ? `"${cell}"` : cell;
      const expected = texts.map((cell) => {
        const made = expectedText(cell, decimal, most);
        const written = made === null ? '' : made.replace('.', rest.outputDecimal);
        return ['x', written, 'y']
          .map((value, at) => quote(value, at === 1 ? rest.quoting === 'all' : isText))
          .join(delimiter);
      });
      const header = ['a', 'n', 'b'].map((name) => quote(name, isText)).join(delimiter);
      const wanted = `${[header, ...expected].join('\n')}\n`;
      if (text !== wanted) throw new Error(`wanted ${JSON.stringify(wanted)} but got ${JSON.stringify(text)}`);
    }),
    { numRuns: sweep({ short: 50, long: 800 }) },
  );
  t.pass();
  t.end();
});

function expectedText(cell: string, decimal: string, most: number | undefined): string | null {
  const parsed = cell === '' ? null : parseNumberText(cell, { decimal, grouping: "'" });
  if (parsed === null) return null;
  if (most === undefined) return decimalText(parsed);
  const value = roundHalfUp(BigInt(parsed.digits), parsed.scale, most);
  const limit = 2n ** 63n;
  if (most === 0 && (value >= limit || value < -limit)) return null;
  return decimalText({ digits: value, scale: most });
}

function roundHalfUp(value: bigint, scale: number, most: number): bigint {
  if (scale <= most) return value * 10n ** BigInt(most - scale);
  const unit = 10n ** BigInt(scale - most);
  const size = value < 0n ? -value : value;
  const rounded = (2n * size + unit) / (2n * unit);
  return value < 0n ? -rounded : rounded;
}
