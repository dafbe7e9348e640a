// Flags of actions of `template` whose code is loaded only when the action is called.

import { FORMAT_FLAGS } from './annotations.ts';
import { type Flag, JSON_FLAGS, QUIET_FLAG } from './command.ts';

export const DIFF_FLAGS = {
  tables: { kind: 'value', placeholder: 'DIR', purpose: 'reference tables of the samples, NAME.csv (none)' },
  secrets: { kind: 'value', placeholder: 'DIR', purpose: 'keys for hash, one file for each (none)' },
  quiet: QUIET_FLAG,
  ...JSON_FLAGS,
} as const satisfies Readonly<Record<string, Flag>>;

export const DRAFT_FLAGS = {
  like: {
    kind: 'value',
    placeholder: 'TARGET',
    purpose:
      'a Template, a CSV or a JSON Schema ("-" is standard input) with the target columns. Columns of the sample that certainly match a target column get its name; likely matches are suggested in comments (none)',
  },
  template: {
    kind: 'value',
    placeholder: 'FILE',
    purpose:
      'reads the sample as the input section of this Template says, except for its columns; the draft keeps these settings (none: everything is detected)',
  },
  quiet: QUIET_FLAG,
} as const;

export const TEST_FLAGS = {
  quiet: { ...QUIET_FLAG, purpose: 'no progress, and no lines about tests that passed (off)' },
  ...JSON_FLAGS,
  ...FORMAT_FLAGS,
} as const;
