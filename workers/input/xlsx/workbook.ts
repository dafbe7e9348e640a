// A workbook as its parts tell it: sheets in their order, the calendar, and where strings and styles stand.
import { Failed } from '../../protocol/failure.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import type { ZipArchive } from '../zip/zip-archive.ts';
import { SHEETS_MAX } from './limits.ts';
import { malformedWorkbook } from './malformed-workbook.ts';
import { visitElements } from './part-elements.ts';
import { readRelationships } from './relationships.ts';

export interface WorkbookSheet {
  readonly name: string;
  readonly visibility: 'visible' | 'hidden' | 'veryHidden';
  /** Entry of its cells; null for a sheet without any (a chart, a dialog). */
  readonly part: string | null;
}

export interface Workbook {
  readonly sheets: readonly WorkbookSheet[];
  readonly is1904: boolean;
  readonly sharedStringsPart: string | null;
  readonly stylesPart: string | null;
}

/** Where programs put it that name it nowhere. */
const USUAL_PART = 'xl/workbook.xml';

/** Throws Failed: UNSUPPORTED_FILE_TYPE for archives that are no workbooks, and for binary ones. */
export function* readWorkbook(archive: ZipArchive): Coroutine<Workbook> {
  const packageLinks = yield* readRelationships(archive, '');
  const part = packageLinks.find(({ kind }) => kind === 'officeDocument')?.target ?? USUAL_PART;
  if (/\.bin$/i.test(part)) {
    throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is a binary workbook (.xlsb); send .xlsx or CSV.');
  }
  const source = archive.open(part);
  if (source === null) {
    if (packageLinks.length > 0) throw malformedWorkbook('its list of sheets is missing');
    throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is a ZIP archive that is no XLSX workbook.');
  }
  let root = '';
  let is1904 = false;
  const listed: { name: string; state: string; id: string }[] = [];
  yield* visitElements('the list of its sheets', source, archive.giveWay, (name, attributes, parent) => {
    if (parent === '') root = name;
    if (name === 'workbookPr') is1904 = /^(?:1|true|on)$/.test(attributes.get('date1904') ?? '');
    if (name !== 'sheet' || parent !== 'sheets') return;
    if (listed.length >= SHEETS_MAX) throw malformedWorkbook(`it has more than ${SHEETS_MAX} sheets`);
    const state = attributes.get('state') ?? 'visible';
    listed.push({ name: attributes.get('name') ?? '', state, id: attributes.get('id') ?? '' });
  });
  if (root !== 'workbook') {
    throw new Failed('UNSUPPORTED_FILE_TYPE', 'The file is an office document that is no workbook; send .xlsx or CSV.');
  }
  const links = yield* readRelationships(archive, part);
  const partOf = (kind: string): string | null => links.find((link) => link.kind === kind)?.target ?? null;
  return {
    sheets: listed.map(({ name, state, id }) => {
      const link = links.find((candidate) => candidate.id === id);
      const visibility = state === 'hidden' || state === 'veryHidden' ? state : 'visible';
      return { name, visibility, part: link?.kind === 'worksheet' ? link.target : null };
    }),
    is1904,
    sharedStringsPart: partOf('sharedStrings'),
    stylesPart: partOf('styles'),
  };
}
