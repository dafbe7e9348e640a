// The table of rules, in the order in which their lines appear in a Template.
import type { DraftRule } from '../draft-line.ts';
import { booleanLines, fillLines, signLines, uniqueLines, valueListLines } from './check-rules.ts';
import {
  columnLines,
  declaredLines,
  dialectLines,
  encodingLines,
  lackingLines,
  missingLines,
  otherColumnsLines,
  recordTypeLines,
} from './input-rules.ts';
import { dateLines, numberLines } from './number-rules.ts';
import {
  emptyRowLines,
  footerLines,
  repeatedRowLines,
  spaceLines,
  subtotalLines,
  totalsLines,
  trimLines,
} from './row-rules.ts';

export const DRAFT_RULES: readonly DraftRule[] = [
  declaredLines,
  encodingLines,
  dialectLines,
  missingLines,
  columnLines,
  lackingLines,
  otherColumnsLines,
  recordTypeLines,
  trimLines,
  footerLines,
  subtotalLines,
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
