// Owns our functions that tell how like two texts are.
import { COMPARED_LENGTH_MAX, fingerprintOf, jaroWinkler } from '../../values/likeness.ts';
import { DOUBLE, STRING } from '../check/type.ts';
import { TEXT_TOO_LONG } from '../compile/evaluation-error.ts';
import { type Context, type DocumentedFunction, define, documented, overload } from './definition.ts';

/** Comparisons of characters that are one step of an evaluation. */
const COMPARED_PER_STEP = 64;

function similarity(context: Context) {
  return (left: string, right: string): number => {
    const [a, b] = [pointsOf(left), pointsOf(right)];
    context.charge(Math.floor((a.length * b.length) / COMPARED_PER_STEP));
    return jaroWinkler(a, b);
  };
}

function pointsOf(text: string): readonly string[] {
  // A character has two units at most.
  if (text.length > COMPARED_LENGTH_MAX * 2) throw TEXT_TOO_LONG;
  const points = [...text];
  if (points.length > COMPARED_LENGTH_MAX) throw TEXT_TOO_LONG;
  return points;
}

export const EXTRA_LIKENESS_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'fingerprint(text)',
    "A key that spellings of one name share, as OpenRefine's method of that name makes it: lower case, without accents and punctuation, words sorted, none twice.",
    'fingerprint("Müller,  Anna") == fingerprint("anna MULLER")',
    'true',
    define('fingerprint', 'both', [overload([STRING], STRING, fingerprintOf)]),
  ),
  documented(
    'similarity(a, b)',
    'How like two texts are, 0 to 1, by Jaro and Winkler (1990): 1 is the same, above 0.9 often a slip of the pen. A half transposition is cut off, and a common beginning counts only above 0.7. Case counts; at most 1,000 characters each (TOO_LONG).',
    'similarity("MARTHA", "MARHTA") > 0.96',
    'true',
    define('similarity', 'both', [{ parameters: [STRING, STRING], result: DOUBLE, prepare: similarity }]),
  ),
];
