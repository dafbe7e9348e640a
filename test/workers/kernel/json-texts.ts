// JSON texts for direct tests of kernels: with white space between tokens, escapes and lone surrogates, and invalid texts.
import { CELL_BYTES_MAX, DEPTH_MAX, STACK, STATE_BYTES } from '../../../workers/kernel/layout/json.ts';
import { fc } from '../../random.ts';
import type { KernelRig } from './kernel-rig.ts';

const space = fc.constantFrom('', '', '', ' ', '\n\t ', ' '.repeat(17));

/** The content of a string in JSON. */
export const innerText = fc
  .array(
    fc.constantFrom(
      ...['a', 'b', ' ', 'é', '漢', '😀', '[', '}', 'x'.repeat(15), 'x'.repeat(16)],
      ...['\\n', '\\"', '\\\\', '\\/', '\\b\\f\\r\\t', '\\u00e9', '\\u6F22', '\\ud83d\\ude00', '\\u0000'],
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(''));

/** Texts that may contain an unpaired surrogate. */
export const looseText = fc.oneof(
  { weight: 6, arbitrary: innerText },
  {
    weight: 1,
    arbitrary: fc
      .tuple(innerText, fc.constantFrom('\\ud800', '\\udc00', '\\ud800\\u0041'))
      .map((parts) => parts.join('')),
  },
);

const scalar = fc.oneof(
  looseText.map((inside) => `"${inside}"`),
  fc.constantFrom('null', 'true', 'false', '0', '-1.50', '12e+3', '""'),
);
const key = fc.constantFrom('"a"', '"b"', '"a"', '"\\u0061"', '"é"', '""');

/** Values nested at most three levels deep. */
export const { json } = fc.letrec<{ json: string; list: string; object: string }>((tie) => ({
  json: fc.oneof({ maxDepth: 3 }, scalar, tie('list'), tie('object')),
  list: fc
    .array(fc.tuple(space, tie('json'), space), { maxLength: 4 })
    .map((items) => `[${items.map((parts) => parts.join('')).join(',')}${items.length === 0 ? ' ' : ''}]`),
  object: fc
    .array(fc.tuple(space, key, space, fc.constant(':'), space, tie('json'), space), { maxLength: 4 })
    .map((members) => `{${members.map((parts) => parts.join('')).join(',')}}`),
}));

/** JSON with white space around it, and in about every third case text that is not valid JSON. */
export const jsonCell = fc
  .tuple(space, json, space, fc.constantFrom(0, 0, 0, 0, 1, 2), fc.nat(), fc.constantFrom(',', '"', ']', 'x', '\\'))
  .map(([before, value, after, edit, pick, mark]) => {
    const at = pick % (value.length + 1);
    const edited = edit === 0 ? value : edit === 1 ? value.slice(0, at) : value.slice(0, at) + mark + value.slice(at);
    // A cut between two surrogates leaves an unpaired one, which UTF-8 cannot contain.
    return Buffer.from(before + edited + after).toString();
  });

/** Places the state of the JSON kernels for texts in cells. */
export function placeJsonState(rig: KernelRig): number {
  const stack = rig.region(DEPTH_MAX, 8);
  const words = Array<number>(STATE_BYTES / 4).fill(0);
  words[STACK / 4] = stack;
  words[CELL_BYTES_MAX / 4] = 0xffff_ffff;
  return rig.wordList(words, 8);
}
