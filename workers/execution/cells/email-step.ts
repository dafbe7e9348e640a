// The step that puts a text in the place of e-mail addresses: cells of ASCII by a kernel.
import type { Heap } from '../../memory/heap.ts';
import { CELL_BYTES_MAX } from './cell-limit.ts';
import { placeText } from './placed-text.ts';
import type { TextStep } from './text-chain.ts';
import { moved, room } from './text-steps.ts';

/** `edit` is the same for one text. */
export function emailStep(heap: Heap, replacement: string, edit: (text: string) => string): TextStep {
  const { at, bytes } = placeText(heap, replacement);
  return {
    run(cells) {
      const { kernel, views, rows, count, todo } = cells;
      const { redactEmails } = kernel.exports;
      return moved(cells, redactEmails(views, rows, count, at, bytes, CELL_BYTES_MAX, ...room(cells), todo));
    },
    edit,
  };
}
