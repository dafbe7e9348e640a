// The only source of randomness in tests: all random cases come from here, so that one seed determines all of them. The seed is
// fixed, so that the result of a change does not depend on luck; TEMPLATE_RUN_SEED sets another seed, or `random`.
import fc from 'fast-check';
import { Chance } from './fuzz/chance.ts';

/** Any value works. */
const SEED_FIXED = 1;
const SEED_LIMIT = 2 ** 31;
const VARIABLE = 'TEMPLATE_RUN_SEED';

export const seed = chosenSeed();

// Applies to every fc.assert and fc.sample. A property that fails prints its seed.
fc.configureGlobal({ seed });

export { fc };

/** Returns whole numbers from 0 to `below` - 1. */
export type Noise = (below: number) => number;

/** Repeatable for the same seed; another `stream` gives other numbers. */
export function noise(stream: number): Noise {
  const chance = new Chance(seed, stream);
  return (below) => chance.below(below);
}

export function noiseBytes(length: number): Buffer {
  return new Chance(seed).bytes(length);
}

function chosenSeed(): number {
  const text = process.env[VARIABLE] ?? String(SEED_FIXED);
  if (text === 'random') {
    const chosen = Math.floor(Math.random() * SEED_LIMIT);
    // For child processes; and as a TAP comment at the start of the file's output.
    process.env[VARIABLE] = String(chosen);
    console.log(`# ${VARIABLE}=${chosen}`);
    return chosen;
  }
  if (/^\d{1,10}$/.test(text) && Number(text) < SEED_LIMIT) return Number(text);
  throw new Error(`${VARIABLE} is neither a whole number below ${SEED_LIMIT} nor "random": ${text}`);
}
