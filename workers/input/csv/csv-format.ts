// The format CSV with all its kin: any delimiter and quote, any encoding, with or without a header.
import { Failed } from '../../protocol/failure.ts';
import { sampleText } from '../detect/detect-form.ts';
import type { StreamedFormat } from '../format.ts';
import { beginsAsTable, refusalOf } from '../refusal.ts';
import { CSV } from './csv-input.ts';
import { openCsv } from './open-csv.ts';
import { splitCsv } from './split-csv.ts';

export const csvFormat: StreamedFormat = {
  name: CSV,
  endings: ['csv', 'tsv', 'tab', 'txt'],
  needsWholeFile: false,
  splittable: splitCsv,

  /** Any text may be one that is no known other type. */
  detect(start, input) {
    if (refusalOf(start, input) !== null) return null;
    const sureness = input.format === 'lines' ? 'signature' : 'possible';
    const text = start.text(input.csv.encoding);
    if (beginsAsTable(text) || !start.isWhole || sampleText(text).trim() !== '') return { sureness, problem: null };
    return { sureness, problem: new Failed('MALFORMED_FILE', 'The file has only blank lines.') };
  },

  open: openCsv,
};
