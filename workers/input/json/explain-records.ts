// Why the records of a JSON file are looked for where they are, for people who ask.
import { certain, type FileExplanation } from '../explanation.ts';
import type { RecordsPath } from './find-records.ts';

/** @param declared where the Template says that the records are */
export function explainRecords(path: RecordsPath, areLists: boolean, declared: string | null): FileExplanation {
  const headerRow = areLists
    ? 'of a list of lists the first one is the header'
    : 'the keys of the records name the columns';
  return { records: certain(placeOf(path, declared)), headerRow: certain(headerRow) };
}

function placeOf(path: RecordsPath, declared: string | null): string {
  if (declared !== null) return 'the Template says where the records are';
  if (path === null) return 'records stand one after the other';
  if (path.length === 0) return 'the file is one list';
  return 'it is the only list of objects in the object that the file is';
}
