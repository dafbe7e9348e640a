// Decides for each batch what its raw fields can be written from: ranges of bytes, single fields, or clean views.
import type { RawTable } from '../batch/batch.ts';

const QUOTE = 0x22;

/**
 * 'runs': an unquoted field leaves as it came unless its first byte says otherwise. 'fields': each is looked at in full.
 * 'views': the kernels cannot tell a field's content.
 */
export function rawUse(raw: RawTable | null, rules: RawRules): RawUse {
  if (raw === null || !raw.plain || (raw.quote !== QUOTE && raw.quote !== 0)) return 'views';
  // Null values are compared before quotes are undoubled.
  if (raw.quote === QUOTE && rules.nullValues.some((text) => text.includes(QUOTE))) return 'views';
  const same = rules.delimiter?.length === 1 && rules.delimiter[0] === raw.delimiter;
  return same && raw.quote === QUOTE ? 'runs' : 'fields';
}

export type RawUse = 'runs' | 'fields' | 'views';

export interface RawRules {
  readonly nullValues: readonly Uint8Array[];
  /** Delimiter of the output, null when it has none. */
  readonly delimiter: Uint8Array | null;
}
