// The format XLSX with its kin (.xlsm, .xltx, strict workbooks): ZIP archives with a workbook in them. An archive that is the
// envelope of one other file is opened for it. What reads them is loaded when the first one comes.
import { awaited } from '../../thread/coroutine.ts';
import type { WholeFileFormat } from '../format.ts';
import { isZip } from '../zip/is-zip.ts';

const XLSX = 'xlsx';

export const xlsxFormat: WholeFileFormat = {
  name: XLSX,
  endings: ['xlsx', 'xlsm', 'xltx', 'xltm', 'zip'],
  needsWholeFile: true,
  splittable: null,

  detect({ bytes }) {
    return isZip(bytes) ? { sureness: 'signature', problem: null } : null;
  },

  *within(source, settings) {
    const { packedIn } = yield* awaited(import('./open-xlsx.ts'));
    return packedIn(source, settings);
  },

  *open(source, _start, settings) {
    const { openXlsx } = yield* awaited(import('./open-xlsx.ts'));
    return yield* openXlsx(XLSX, source, settings);
  },
};
