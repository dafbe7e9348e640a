// How the failures of a ZIP archive are told: which rule it breaks, and nothing of what it holds.
import { Failed } from '../../protocol/failure.ts';

/**
 * @param reason continues "The ZIP archive is damaged: "
 * @param position byte of the file, from 0, at which what is wrong stands
 */
export function malformedArchive(reason: string, position: number): Failed {
  return new Failed('MALFORMED_FILE', `The ZIP archive is damaged: ${reason}, at byte ${position}.`);
}

/** @param position byte of the file up to which nothing was wrong */
export function notInflatable(position: number): Failed {
  const message = `The ZIP archive is damaged: the data of an entry cannot be inflated, at byte ${position} or behind it.`;
  return new Failed('MALFORMED_FILE', message);
}

export function encryptedEntry(): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', 'The ZIP archive is encrypted; send it without a password.');
}
