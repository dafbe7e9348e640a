// The data of RESULTS.md: one JSON file per section, with the machine on which it was measured. A part can be measured
// again separately, and an interrupted run keeps its completed sections.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Machine } from '../machine.ts';
import type { SummaryLine } from './engine-section.ts';
import type { Section } from './section.ts';

export interface Measurement {
  readonly machine: Machine;
  readonly section: Section;
  /** Set for a workload of the engine, otherwise null. */
  readonly summary: SummaryLine | null;
}

/**
 * Replaces the stored measurement of the same section, and removes measurements of other commits, so that all results
 * describe one commit.
 * @param folder the project's bench folder
 */
export function saveMeasurement(folder: string, measurement: Measurement): void {
  const figures = join(folder, 'figures');
  mkdirSync(figures, { recursive: true });
  for (const file of readdirSync(figures)) {
    const stored = JSON.parse(readFileSync(join(figures, file), 'utf8')) as Measurement;
    if (stored.machine.commit !== measurement.machine.commit) rmSync(join(figures, file));
  }
  writeFileSync(join(figures, `${measurement.section.name}.json`), `${JSON.stringify(measurement, null, 2)}\n`);
}

/**
 * Returns measurements in the order of `names`, without those not measured yet. Throws for a file with another name.
 */
export function readMeasurements(folder: string, names: readonly string[]): readonly Measurement[] {
  const figures = join(folder, 'figures');
  const there = new Set((existsSync(figures) ? readdirSync(figures) : []).map((file) => basename(file, '.json')));
  const stranger = [...there].find((name) => !names.includes(name));
  if (stranger !== undefined) throw new Error(`figures/${stranger}.json is of no section: ${names.join(', ')}`);
  return names
    .filter((name) => there.has(name))
    .map((name) => JSON.parse(readFileSync(join(figures, `${name}.json`), 'utf8')) as Measurement);
}
