// Other files than CSV: each workload by us and by those who read such files too, answers checked first, in turn.
import type { EngineSettings } from './engine.ts';
import { benchEngine } from './engine.ts';
import { FORMAT_WORKLOADS } from './workloads/formats.ts';
import type { System } from './workloads/job.ts';

/** Who reads other files than CSV here. */
const SYSTEMS: readonly System[] = ['template-run', 'polars', 'duckdb'];

export function benchFormats(settings: Omit<EngineSettings, 'workloads' | 'systems'>): void {
  benchEngine({ ...settings, workloads: FORMAT_WORKLOADS, systems: SYSTEMS });
}
