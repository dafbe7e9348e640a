// The format JSON: a list of objects or of lists, objects one after the other (NDJSON), or an object that holds such a list.
// What reads them is loaded when the first one comes.
import { awaited } from '../../thread/coroutine.ts';
import { sampleText } from '../detect/detect-form.ts';
import type { StreamedFormat } from '../format.ts';
import { JSON_FORMAT } from './json-name.ts';

const ENDINGS = ['json', 'ndjson', 'jsonl', 'geojson'];

/**
 * A list of objects or lists, or an object. The first header of a CSV may be in brackets or braces: behind them stands a name
 * then, not what JSON has there.
 */
const BEGINNING = /^\s*(?:\[\s*(?:[{[\]]|$)|\{\s*(?:"|\}|$))/;

/** In a file whose name says that it is JSON: broken JSON is refused as such. */
const ANY_BEGINNING = /^\s*[[{]/;

export const jsonFormat: StreamedFormat = {
  name: JSON_FORMAT,
  endings: ENDINGS,
  needsWholeFile: false,
  splittable: null,

  detect(start) {
    if (isOther(start.bytes)) return null;
    const text = sampleText(start.text(null));
    const beginning = ENDINGS.includes(start.ending) ? ANY_BEGINNING : BEGINNING;
    return beginning.test(text) ? { sureness: 'content', problem: null } : null;
  },

  *open(source, start, settings) {
    const { openJson } = yield* awaited(import('./open-json.ts'));
    return yield* openJson(source, start, settings);
  },
};

/** True for most files that are none: their first byte is neither white space nor a bracket, nor that of a mark. */
function isOther(bytes: Uint8Array): boolean {
  const first = bytes[0]!;
  return first > 0x20 && first < 0x80 && first !== 0x5b && first !== 0x7b;
}
