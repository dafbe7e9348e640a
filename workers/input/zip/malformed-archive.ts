// How the failures of a ZIP archive are told: which rule it breaks, and nothing of what it holds.
import { Failed } from '../../protocol/failure.ts';

/** @param reason continues "The ZIP archive is damaged: " */
export function malformedArchive(reason: string): Failed {
  return new Failed('MALFORMED_FILE', `The ZIP archive is damaged: ${reason}.`);
}

export function encryptedEntry(): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', 'The ZIP archive is encrypted; send it without a password.');
}
