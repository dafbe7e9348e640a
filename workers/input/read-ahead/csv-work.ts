// Finds the rows of a CSV on the read-ahead thread, by running the scan kernel (kernel/assembly/scan.ts) on the memory
// of a slot.
import { isUtf8 } from 'node:buffer';
import {
  AT,
  FLAG_LITERAL_QUOTE,
  FLAG_NUL,
  FLAGS,
  LINES,
  MODE,
  MODE_START,
  OUT,
  ROW_ENDS,
  STATE_BYTES,
} from '../../kernel/layout/scan.ts';
import { countLineBreaks, lastRowEnd } from '../csv/lines.ts';
import type { FilledSlot, FoundRows } from './decoded-file.ts';

export interface CsvWork {
  readonly format: 'csv';
  readonly delimiter: number;
  readonly quote: number;
  /** Addresses in the Run's memory: scan state and structurals; and the maximum number of structurals. */
  readonly state: number;
  readonly entries: number;
  readonly entriesMax: number;
}

export function findCsvRows(work: CsvWork, slot: FilledSlot): FoundRows | null {
  const { state, entries, entriesMax, delimiter, quote } = work;
  const { u8, u32, base, filled, isAtEnd, kernels } = slot;
  const fields = u32.subarray(state >>> 2, (state + STATE_BYTES) >>> 2);
  fields.fill(0);
  fields[AT >>> 2] = base;
  fields[MODE >>> 2] = MODE_START;
  fields[OUT >>> 2] = entries;
  kernels.scan(state, isAtEnd ? filled : filled - 1, entries + entriesMax * 4, delimiter, quote);
  const after = lastRowEnd(u8, u32, entries, fields[OUT >>> 2]!);
  if (after === entries) return null;
  const end = u32[(after >>> 2) - 1]! + 1;
  const text = u8.subarray(base, end);
  if (((fields[FLAGS >>> 2]! & FLAG_NUL) !== 0 && text.includes(0)) || !isUtf8(text)) return null;
  return {
    end,
    entries: (after - entries) >>> 2,
    rowEnds: fields[ROW_ENDS >>> 2]!,
    lines: fields[LINES >>> 2]! - countLineBreaks(u8, end, fields[AT >>> 2]!),
    literal: (fields[FLAGS >>> 2]! & FLAG_LITERAL_QUOTE) !== 0,
  };
}
