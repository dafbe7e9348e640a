// Shows the lines in which two texts differ, for people.

/** Maximum number of lines per side that are compared individually; longer differences are shown as one block. */
const COMPARED_LINES_MAX = 1_000;

/** Maximum number of lines shown. */
const SHOWN_LINES_MAX = 40;

/**
 * Lines only in the expected text begin with "-", lines only in the actual text with "+", and context lines with a
 * space.
 */
export function lineDiff(expected: string, actual: string): string[] {
  const before = splitLines(expected);
  const after = splitLines(actual);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  const long = removed.length > COMPARED_LINES_MAX || added.length > COMPARED_LINES_MAX;
  const changed = long ? block(removed, added) : aligned(removed, added);
  const lead = start > 0 ? [` ${before[start - 1]}`] : [];
  const tail = end > 0 ? [` ${before[before.length - end]}`] : [];
  const shown = [`@ line ${start + 1}`, ...lead, ...changed, ...tail];
  if (shown.length <= SHOWN_LINES_MAX) return shown;
  return [...shown.slice(0, SHOWN_LINES_MAX), `... and ${shown.length - SHOWN_LINES_MAX} more lines`];
}

function splitLines(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function block(removed: readonly string[], added: readonly string[]): string[] {
  return [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
}

/** Aligns the lines by their longest common subsequence. */
function aligned(removed: readonly string[], added: readonly string[]): string[] {
  const width = added.length + 1;
  const common = new Uint16Array((removed.length + 1) * width);
  for (let i = removed.length - 1; i >= 0; i--) {
    for (let j = added.length - 1; j >= 0; j--) {
      const equal = removed[i] === added[j];
      const skip = Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
      common[i * width + j] = equal ? common[(i + 1) * width + j + 1]! + 1 : skip;
    }
  }
  const lines: string[] = [];
  let i = 0;
  let j = 0;
  while (i < removed.length || j < added.length) {
    if (i < removed.length && j < added.length && removed[i] === added[j]) {
      lines.push(` ${removed[i++]}`);
      j++;
    } else if (
      j >= added.length ||
      (i < removed.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    ) {
      lines.push(`-${removed[i++]}`);
    } else lines.push(`+${added[j++]}`);
  }
  return lines;
}
