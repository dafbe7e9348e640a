// The figures behind RESULTS.md: one JSON file a section, with what it was measured on. A part can be measured again
// alone, and a run that is cut short keeps what it has.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Machine } from '../machine.ts';
import type { SummaryLine } from './engine-section.ts';
import type { Section } from './section.ts';

export interface Measurement {
  readonly machine: Machine;
  readonly section: Section;
  /** Of a workload of the engine; else null. */
  readonly summary: SummaryLine | null;
}

/**
 * Replaces what is there of the same section.
 * @param folder the project's bench folder
 */
export function saveMeasurement(folder: string, measurement: Measurement): void {
  const figures = join(folder, 'figures');
  mkdirSync(figures, { recursive: true });
  writeFileSync(join(figures, `${measurement.section.name}.json`), `${JSON.stringify(measurement, null, 2)}\n`);
}

/** In the order of `names`; what has not been measured yet is left out. Throws for a file of another name. */
export function readMeasurements(folder: string, names: readonly string[]): readonly Measurement[] {
  const figures = join(folder, 'figures');
  const there = new Set((existsSync(figures) ? readdirSync(figures) : []).map((file) => basename(file, '.json')));
  const stranger = [...there].find((name) => !names.includes(name));
  if (stranger !== undefined) throw new Error(`figures/${stranger}.json is of no section: ${names.join(', ')}`);
  return names
    .filter((name) => there.has(name))
    .map((name) => JSON.parse(readFileSync(join(figures, `${name}.json`), 'utf8')) as Measurement);
}
