// Turns a failed test point of tap into a readable failure: the name, the place in the source, what was expected and what was
// found.
import type { Failure } from './messages.ts';

/** The part of tap's results that is used here. */
export interface PointOfTap {
  readonly fullname: string;
  readonly diag: Readonly<Record<string, unknown>> | null;
}

/** A larger diff does not fit a screen. */
const DETAILS_CHARACTERS_MAX = 4_000;

export function failureOf({ fullname, diag }: PointOfTap): Failure {
  return { name: fullname.replace(/^TAP > /, ''), place: placeOf(diag), details: detailsOf(diag ?? {}) };
}

function placeOf(diag: PointOfTap['diag']): string | null {
  const at = (diag?.['at'] ?? null) as { fileName?: string; lineNumber?: number; columnNumber?: number } | null;
  if (at?.fileName === undefined) return null;
  return [at.fileName, at.lineNumber, at.columnNumber].filter((part) => part !== undefined).join(':');
}

/** tap's diff says what was expected (`-`) and what was found (`+`). */
function detailsOf(diag: Readonly<Record<string, unknown>>): string {
  const { diff, stack, at: _at, source, compare: _compare, ...others } = diag;
  const parts = typeof diff === 'string' ? [diff.trimEnd()] : [];
  for (const [name, value] of Object.entries(others)) parts.push(`${name}: ${textOf(value)}`);
  if (typeof diff !== 'string' && typeof source === 'string') parts.push(markedLine(source));
  if (typeof stack === 'string' && stack !== '') parts.push(`stack:\n${stack.trimEnd()}`);
  const text = parts.join('\n');
  return text.length <= DETAILS_CHARACTERS_MAX ? text : `${text.slice(0, DETAILS_CHARACTERS_MAX)}\n(shortened)`;
}

/** From the source lines around a check, the line above the mark. */
function markedLine(source: string): string {
  const lines = source.split('\n');
  const mark = lines.findIndex((line) => /^-*\^$/.test(line));
  return mark < 1 ? source.trimEnd() : `source: ${lines[mark - 1]!.trim()}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
