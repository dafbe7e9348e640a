// What numbers mean in cells of each style: an entry of the table of cell formats names a number format.
import type { Coroutine } from '../../thread/coroutine.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import { STYLES_MAX } from './limits.ts';
import { malformedWorkbook } from './malformed-workbook.ts';
import { builtInMeaning, meaningOfFormat } from './number-format.ts';
import { visitElements } from './part-elements.ts';
import type { GiveWay } from './shared-strings.ts';

/** By the number of a cell's style. Throws Failed. */
export function* readStyles(source: PieceSource | null, giveWay: GiveWay): Coroutine<Uint8Array> {
  if (source === null) return new Uint8Array(0);
  const own = new Map<number, number>();
  const formats: number[] = [];
  yield* visitElements('its styles', source, giveWay, (name, attributes, parent) => {
    if (name === 'numFmt' && parent === 'numFmts') {
      own.set(Number(attributes.get('numFmtId')), meaningOfFormat(attributes.get('formatCode') ?? ''));
      if (own.size > STYLES_MAX) throw malformedWorkbook(`it has more than ${STYLES_MAX} number formats`);
    } else if (name === 'xf' && parent === 'cellXfs') {
      formats.push(Number(attributes.get('numFmtId') ?? 0));
      if (formats.length > STYLES_MAX) throw malformedWorkbook(`it has more than ${STYLES_MAX} cell formats`);
    }
  });
  return Uint8Array.from(formats, (id) => own.get(id) ?? builtInMeaning(id));
}
