// `--json` of the commands that tell things.
import type { Flag } from './flags.ts';

export const JSON_FLAGS = {
  json: { kind: 'switch', purpose: 'JSON instead of text (off)' },
} as const satisfies Readonly<Record<string, Flag>>;
