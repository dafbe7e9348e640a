// How the parts of a package name each other (ECMA-376 part 2): a part's relationships by their id, targets as entry names.
import type { Coroutine } from '../../thread/coroutine.ts';
import type { ZipArchive } from '../zip/zip-archive.ts';
import { RELATIONSHIPS_MAX } from './limits.ts';
import { malformedWorkbook } from './malformed-workbook.ts';
import { visitElements } from './part-elements.ts';

export interface Relationship {
  readonly id: string;
  /** Last word of its type, which is the same in transitional and strict workbooks: `worksheet`, `styles`. */
  readonly kind: string;
  /** Entry name in the archive. */
  readonly target: string;
}

/** Of a part, '' for the whole package; none when it has none. Targets outside the file are left out. Throws Failed. */
export function* readRelationships(archive: ZipArchive, part: string): Coroutine<Relationship[]> {
  const slash = part.lastIndexOf('/') + 1;
  const source = archive.open(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`);
  const found: Relationship[] = [];
  if (source === null) return found;
  yield* visitElements('the list of its parts', source, archive.giveWay, (name, attributes) => {
    const target = attributes.get('Target');
    if (name !== 'Relationship' || target === undefined || attributes.get('TargetMode') === 'External') return;
    if (found.length >= RELATIONSHIPS_MAX) throw malformedWorkbook('a part has too many links');
    const kind = (attributes.get('Type') ?? '').split('/').at(-1)!;
    found.push({ id: attributes.get('Id') ?? '', kind, target: resolve(part.slice(0, slash), target) });
  });
  return found;
}

function resolve(folder: string, target: string): string {
  const path = target.replaceAll('\\', '/');
  const steps: string[] = [];
  for (const step of (path.startsWith('/') ? path : folder + path).split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}
