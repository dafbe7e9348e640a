// Flags of `template diff`, apart from what it does, which starts an engine.
import type { Flag } from './flags.ts';
import { JSON_FLAGS } from './json-flag.ts';

export const DIFF_FLAGS = {
  ...JSON_FLAGS,
  tables: { kind: 'value', placeholder: 'DIR', purpose: 'reference tables of the samples, NAME.csv (none)' },
  secrets: { kind: 'value', placeholder: 'DIR', purpose: 'keys for hash, each a file of its name (none)' },
} as const satisfies Readonly<Record<string, Flag>>;
