// The table of the checks on single values, by the name that a rule uses. Those that look at more than one value
// (required, expr, unique, unique_together) are planned in plan-rules.ts.
import { identifierChecks } from './identifier-checks.ts';
import { rangeChecks } from './range-checks.ts';
import type { Check } from './rule.ts';
import { setChecks } from './set-checks.ts';

export const checks: ReadonlyMap<string, Check> = new Map(
  Object.entries({ ...setChecks, ...rangeChecks, ...identifierChecks }),
);
