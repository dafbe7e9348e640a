// Which format reads a file: the surest, then the one of the file name's ending, then the first in the table.
import type { TemplateInput } from '../template/template.ts';
import type { FileStart } from './file-start.ts';
import type { Detection, InputFormat, Sureness } from './format.ts';
import { refusalOf } from './refusal.ts';

const RANKS: Readonly<Record<Sureness, number>> = { signature: 4, content: 2, possible: 0 };

/** An ending settles what is equally sure, and nothing else. */
const ENDING_RANK = 1;

/** Throws Failed: UNSUPPORTED_FILE_TYPE where the file is none's, else what is wrong with it. */
export function chooseFormat(formats: readonly InputFormat[], start: FileStart, input: TemplateInput): InputFormat {
  let chosen: InputFormat | null = null;
  let detected: Detection | null = null;
  let rank = -1;
  for (const format of formats) {
    const detection = format.detect(start, input);
    if (detection === null) continue;
    const itsRank = RANKS[detection.sureness] + (format.endings.includes(start.ending) ? ENDING_RANK : 0);
    if (itsRank <= rank) continue;
    rank = itsRank;
    chosen = format;
    detected = detection;
  }
  if (chosen === null || detected === null) {
    throw refusalOf(start, input) ?? new Error('no format takes a file that nothing speaks against');
  }
  if (detected.problem !== null) throw detected.problem;
  return chosen;
}

/** The format that has read the beginning of a file. */
export function formatNamed(formats: readonly InputFormat[], name: string): InputFormat {
  const format = formats.find((one) => one.name === name);
  if (format === undefined) throw new Error('a file whose format is not in the table');
  return format;
}
