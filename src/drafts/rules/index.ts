// The table of rules, in the order in which their lines stand in a Template.
import type { DraftRule } from '../draft-line.ts';
import { booleanLines, fillLines, signLines, uniqueLines, valueListLines } from './check-rules.ts';
import { dateLines } from './date-rules.ts';
import {
  columnLines,
  dialectLines,
  encodingLines,
  lackingLines,
  missingLines,
  otherColumnsLines,
} from './input-rules.ts';
import { numberLines } from './number-rules.ts';
import { emptyRowLines, footerLines, repeatedRowLines, totalsLines } from './row-rules.ts';
import { spaceLines, trimLines } from './text-rules.ts';

export const DRAFT_RULES: readonly DraftRule[] = [
  encodingLines,
  dialectLines,
  missingLines,
  columnLines,
  lackingLines,
  otherColumnsLines,
  trimLines,
  footerLines,
  emptyRowLines,
  spaceLines,
  fillLines,
  dateLines,
  numberLines,
  signLines,
  totalsLines,
  booleanLines,
  valueListLines,
  uniqueLines,
  repeatedRowLines,
];
