// The one source of chance in tests: who needs random cases takes them from here, so that one seed makes all of them. It is
// fixed, so that a change is judged by what it does and not by luck; TEMPLATE_RUN_SEED chooses another, or `random`.
import fc from 'fast-check';
import { Chance } from './fuzz/chance.ts';

/** Any will do. */
const SEED_FIXED = 1;
const SEED_LIMIT = 2 ** 31;
const VARIABLE = 'TEMPLATE_RUN_SEED';

export const seed = chosenSeed();

// Of every fc.assert and fc.sample. A property that fails says its seed.
fc.configureGlobal({ seed });

export { fc };

/** Whole numbers from 0 to `below` - 1. */
export type Noise = (below: number) => number;

/** Repeatable for the seed; another `stream` gives other numbers. */
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
    // For the processes that this one starts; and as a comment of TAP at the head of the file's output.
    process.env[VARIABLE] = String(chosen);
    console.log(`# ${VARIABLE}=${chosen}`);
    return chosen;
  }
  if (/^\d{1,10}$/.test(text) && Number(text) < SEED_LIMIT) return Number(text);
  throw new Error(`${VARIABLE} is neither a whole number below ${SEED_LIMIT} nor "random": ${text}`);
}
